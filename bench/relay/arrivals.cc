#include "bench/relay/arrivals.h"

#include <fmt/format.h>

#include <chrono>
#include <functional>

namespace onceward::bench {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds patience{20};           // with what is missing
constexpr std::chrono::milliseconds for_repeats{100};  // when all are there
constexpr std::size_t together = 1000;

std::uint64_t sum_of(const BareMessage& message) {
  const std::hash<std::string_view> hash;
  std::uint64_t sum = hash(message.body) + message.seconds;
  for (const std::string_view text :
       {message.id, message.type, message.producer, message.correlation_id, message.content_type, message.key}) {
    sum = sum * 31 + hash(text);
  }
  for (const BareHeader& header : message.headers) sum += hash(header.name) * (2 * hash(header.value) + 1);
  return sum;
}

}  // namespace

Arrivals::Arrivals(const Workload& work)
    : work_(work), numbers_(work), times_(work.messages.size()), last_version_(account_count + 1) {}

void Arrivals::drain(BareBroker& broker, std::uint64_t distinct) {
  const auto consumer = broker.consume();
  std::uint64_t received = 0;
  auto last = Clock::now();
  for (;;) {
    const std::uint64_t before = received;
    consumer->receive(
        [&](const BareMessage& message) {
          take(message);
          ++received;
        },
        together);
    if (received > before) {
      consumer->acknowledge(received);
      last = Clock::now();
    } else if (Clock::now() - last > (found_.distinct >= distinct ? Clock::duration(for_repeats) : patience)) {
      return;
    }
  }
}

void Arrivals::take(const BareMessage& message) {
  const auto number = numbers_.find(message.id);
  if (!number) {
    ++found_.foreign;
    return;
  }
  if (times_[*number] > 0) {
    ++found_.repeats;
    return;
  }
  ++times_[*number];
  ++found_.distinct;
  const Message& staged = work_.messages[*number];
  if (message.body != staged.outgoing) ++found_.damaged;
  std::int64_t& version = last_version_[static_cast<std::size_t>(staged.account)];
  if (staged.version < version) ++found_.out_of_order;
  version = std::max(version, staged.version);
  found_.sum += sum_of(message);
}

std::vector<Bar> arrival_bars(const std::string& name, const Arrived& arrived, std::uint64_t staged, bool ordered) {
  const bool whole = arrived.distinct == staged && arrived.foreign == 0 && arrived.damaged == 0;
  std::vector<Bar> bars{{fmt::format("{}: {} of {} messages arrived, {} foreign, {} damaged; {} repeats", name,
                                     arrived.distinct, staged, arrived.foreign, arrived.damaged, arrived.repeats),
                         whole, true}};
  if (ordered) {
    bars.push_back({fmt::format("{}: {} messages behind a later one of their key (0)", name, arrived.out_of_order),
                    arrived.out_of_order == 0, true});
  }
  return bars;
}

}  // namespace onceward::bench
