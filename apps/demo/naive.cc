#include "apps/demo/naive.h"

#include <fmt/format.h>

#include <span>
#include <stdexcept>

#include "apps/demo/payment.h"

namespace onceward::demo {
namespace {

constexpr std::chrono::milliseconds patience{100};

// The calls come first: nothing in the database is kept from others while one waits for the gateway.
void apply(const Run& run, Store& store, NaiveClient& client, std::span<const Delivery> deliveries) {
  for (const Delivery& delivery : deliveries) {
    if (!delivery.refusal) charge_naively(delivery.envelope, client);
  }
  const auto unit = store.begin(Enrolled{});
  for (const Delivery& delivery : deliveries) {
    if (delivery.refusal) throw std::runtime_error("a message that cannot be read");
    apply_naively(run, delivery.envelope, unit->whole());
  }
  if (unit->commit() != Commit::committed) throw std::runtime_error("not committed");
}

// One by one, after a message has spoiled the transaction of all. What fails is dropped, with a line in a log.
Settle apply_alone(const Run& run, Store& store, NaiveClient& client, const Delivery& delivery) {
  try {
    apply(run, store, client, {&delivery, 1});
    return Settle::accept;
  } catch (const std::exception& failure) {
    fmt::print(stderr, "dropped {}: {}\n", delivery.envelope.message_id().text(), failure.what());
    return Settle::park;
  }
}

}  // namespace

void consume_naively(const Run& run, Store& store, Source& source, SharedTally& tallies, std::stop_token stop) {
  ConsumerTally& tally = *tallies;
  NaiveClient client(gateway(run).url, tallies.calls());
  std::vector<Delivery> deliveries;
  std::vector<Settlement> settlements;
  while (!stop.stop_requested()) {
    deliveries.clear();
    settlements.clear();
    source.receive(deliveries, batch, patience);
    if (deliveries.empty()) continue;
    tally.received += deliveries.size();
    for (const Delivery& delivery : deliveries) {
      tally.redelivered += delivery.redelivered ? 1 : 0;
      settlements.push_back({delivery.tag, Settle::accept});
    }
    try {
      apply(run, store, client, deliveries);
    } catch (const std::exception&) {
      for (std::size_t i = 0; i < deliveries.size(); ++i) {
        settlements[i].how = apply_alone(run, store, client, deliveries[i]);
      }
    }
    tally.processed += deliveries.size();
    source.settle(settlements);
  }
}

}  // namespace onceward::demo
