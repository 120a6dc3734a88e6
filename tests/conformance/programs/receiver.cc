// Another process at the source argv[1]. "hold N": receives N, says so and waits to be killed. "leave N": receives N and
// ends. "drain N": receives N at a time, settles them and prints their ids until nothing comes.
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
    std::printf("holding %zu\n", receive(*source, count).size());
    std::fflush(stdout);
    while (what == "hold") pause();
    return 0;
  } catch (const std::exception& thrown) {
    std::fprintf(stderr, "%s\n", thrown.what());
    return 1;
  }
}
