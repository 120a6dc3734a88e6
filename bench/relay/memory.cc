#include "bench/relay/memory.h"

#include <fmt/format.h>

#include <thread>

#include "bench/relay/backlog.h"
#include "bench/work/resident.h"

namespace onceward::bench {

RelayMemory measure_relay_memory(const RelayBench& bench, std::size_t page, Progress& progress) {
  const std::size_t count = bench.work.messages.size();
  progress.say(fmt::format("memory: staging {}", count));
  bench.database.reset();
  bench.broker.make();
  stage_backlog(bench.database.url(), bench.work, bench.work.deliveries, page);
  RelayMemory measured;
  Arrivals arrivals(bench.work);
  {
    RelayProcesses relay({.store = bench.database.url(),
                          .target = bench.broker.target_url(),
                          .native = bench.attributes == Attributes::native,
                          .page = static_cast<int>(page)},
                         1);
    const std::jthread draining([&] { arrivals.drain(bench.broker, count); });
    for (const int percent : {10, 50, 100}) {
      relay.await_published(count * static_cast<std::size_t>(percent) / 100);
      measured.marks.push_back({percent, relay.resident_bytes()});
      progress.say(fmt::format("memory: {} % of {}", percent, count));
    }
    relay.stop();
  }
  const auto& first = measured.marks.front();
  const auto& last = measured.marks.back();
  measured.bars = arrival_bars("memory", arrivals.found(), count, false);
  measured.bars.push_back(growth_bar({first.percent, last.percent, first.resident_bytes, last.resident_bytes}));
  return measured;
}

}  // namespace onceward::bench
