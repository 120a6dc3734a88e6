// Another process at the source argv[1]. "hold N": receives N, says so and waits to be killed. "leave N": receives N and
// ends. "late N": receives N, says so, settles them when it was stopped and goes on, and says what came of it. "drain N":
// receives N at a time, settles them and prints their ids until nothing comes.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "onceward/adapter/embedded.h"
#include "onceward/adapter/kafka.h"
#include "onceward/adapter/rabbitmq.h"

namespace {

using namespace onceward;
using namespace std::chrono_literals;

std::unique_ptr<Source> open(std::string_view url) {
  if (url.starts_with("rabbitmq")) return open_rabbitmq(read_rabbitmq_source_url(url));
  if (url.starts_with("kafka:")) return open_kafka(read_kafka_source_url(url));
  return open_embedded(read_embedded_url(url));
}

std::vector<Delivery> receive(Source& source, std::size_t count) {
  std::vector<Delivery> deliveries;
  while (deliveries.size() < count) {
    const std::size_t before = deliveries.size();
    source.receive(deliveries, count - before, 60s);
    if (deliveries.size() == before) std::exit(3);
  }
  return deliveries;
}

void drain(Source& source, std::size_t batch) {
  std::vector<Delivery> deliveries;
  std::vector<Settlement> settlements;
  for (;;) {
    deliveries.clear();
    settlements.clear();
    source.receive(deliveries, batch, 200ms);
    if (deliveries.empty()) return;
    for (const Delivery& delivery : deliveries) {
      const std::string_view id = delivery.envelope.message_id().text();
      std::printf("%.*s\n", static_cast<int>(id.size()), id.data());
      settlements.push_back({delivery.tag, Settle::accept});
    }
    source.settle(settlements);
  }
}

// Stopped is what lasts longer than anything else could.
void settle_late(Source& source, const std::vector<Delivery>& deliveries) {
  std::vector<Settlement> settlements;
  for (const Delivery& delivery : deliveries) settlements.push_back({delivery.tag, Settle::accept});
  for (auto before = std::chrono::steady_clock::now(), now = before; now - before < 3s;
       before = now, now = std::chrono::steady_clock::now()) {
    usleep(10'000);
  }
  try {
    source.settle(settlements);
  } catch (const Fault& fault) {
    std::printf("%s\n", fault.what());
  }
  // What became of it may take a look at what the broker has to say.
  for (int look = 0; look < 200 && source.counters().settled + source.counters().settle_failed < deliveries.size();
       ++look) {
    std::vector<Delivery> none;
    try {
      source.receive(none, 0, 0ms);
    } catch (const Fault&) {
    }
    usleep(50'000);
  }
  const SourceCounters counters = source.counters();
  std::printf("settled %llu failed %llu\n", static_cast<unsigned long long>(counters.settled),
              static_cast<unsigned long long>(counters.settle_failed));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  try {
    const auto source = open(argv[1]);
    const std::string_view what = argv[2];
    const auto count = static_cast<std::size_t>(std::atoi(argv[3]));
    if (what == "drain") {
      drain(*source, count);
      return 0;
    }
    const std::vector<Delivery> held = receive(*source, count);
    std::printf("holding %zu\n", held.size());
    std::fflush(stdout);
    if (what == "late") settle_late(*source, held);
    while (what == "hold") pause();
    return 0;
  } catch (const std::exception& thrown) {
    std::fprintf(stderr, "%s\n", thrown.what());
    return 1;
  }
}
