#include "bench/dispatch/outage.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <thread>

#include "bench/work/resident.h"

namespace onceward::bench {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds down_for{10};
constexpr std::chrono::seconds patience{30};  // without one more answer
constexpr std::size_t staged_together = 1'000;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

class OutageRun {
 public:
  OutageRun(const DispatchBench& bench, const DispatchJob& job, CalledServer& server, Progress& progress)
      : job_(job), calls_(bench.work.deliveries.size()), server_(server), progress_(progress), dispatcher_(job) {}

  Outage run() {
    await("an attempt", [&] { return dispatcher_.tally().not_sent > 0; });
    mark(0);
    outage_.away = spend_down("nobody listens");
    server_.behave(Manner::refusing);
    outage_.refusing = spend_down("it refuses");
    const auto start = Clock::now();
    server_.behave(Manner::well);
    for (const int percent : {10, 50, 100}) {
      const std::uint64_t until = calls_ * static_cast<std::uint64_t>(percent) / 100;
      await(fmt::format("{} %", percent), [&] { return dispatcher_.tally().succeeded >= until; });
      mark(percent);
    }
    outage_.drained_in = seconds_since(start);
    outage_.most_in_a_second = server_.book().most_in_a_second;
    dispatcher_.stop();
    return std::move(outage_);
  }

 private:
  Outage::Down spend_down(const char* why) {
    const auto start = Clock::now();
    const std::uint64_t before = dispatcher_.tally().started;
    progress_.say(fmt::format("outage: {} for {} s", why, down_for.count()));
    std::this_thread::sleep_until(start + down_for);
    dispatcher_.check_alive();
    return {seconds_since(start), dispatcher_.tally().started - before};
  }

  template <class Condition>
  void await(const std::string& what, Condition condition) {
    progress_.say("outage: until " + what);
    std::uint64_t known = 0;
    for (auto last = Clock::now(); !condition();) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      dispatcher_.check_alive();
      const std::uint64_t now = dispatcher_.tally().succeeded;
      if (now > known) last = Clock::now();
      if (Clock::now() - last > patience) throw std::runtime_error("nothing comes any more before " + what);
      known = now;
    }
  }

  void mark(int percent) { outage_.marks.push_back({percent, dispatcher_.resident_bytes()}); }

  const DispatchJob job_;
  const std::uint64_t calls_;
  CalledServer& server_;
  Progress& progress_;
  DispatchProcess dispatcher_;
  Outage outage_;
};

// Those that open the circuit and those under way beside them; then one a pause.
Bar down_bar(const Outage& outage, const DispatchJob& job) {
  const EndpointDeclaration declaration = declared(job);
  const double pauses = (outage.away.seconds + outage.refusing.seconds) /
                        std::chrono::duration<double>(declaration.circuit_pause).count();
  const std::uint64_t most = static_cast<std::uint64_t>(declaration.circuit_failures) + declaration.concurrency +
                             static_cast<std::uint64_t>(std::ceil(pauses)) + 1;
  const std::uint64_t attempts = outage.away.attempts + outage.refusing.attempts;
  return {fmt::format("{} attempts while it was down ({} or less: the circuit)", attempts, most), attempts <= most,
          true};
}

// The bucket holds a tenth of a second's worth; what was started and has not arrived comes on top.
Bar rate_bar(const Outage& outage, const DispatchJob& job) {
  const double most = job.rate * 1.1 + static_cast<double>(job.calls.concurrency);
  return {
      fmt::format("{} requests in the fullest second after it was well ({:.0f} or less: the rate of {:.0f}, a tenth,"
                  " and what is under way)",
                  outage.most_in_a_second, most, job.rate),
      static_cast<double>(outage.most_in_a_second) <= most, true};
}

void add_ledger_bars(Outage& outage, const ServerBook& book, const LedgerCount& ledger, std::uint64_t calls) {
  outage.bars.push_back(
      {fmt::format("{} of {} calls were made, {} twice (0)", book.done.load(), calls, book.repeated.load()),
       book.done == calls && book.repeated == 0, true});
  outage.bars.push_back(
      {fmt::format("{} rows of the ledger succeeded, by {} attempts", ledger.succeeded, ledger.succeeded_attempts),
       ledger.calls == calls && ledger.succeeded == calls && ledger.succeeded_attempts == calls, true});
}

}  // namespace

Outage measure_outage(const DispatchBench& bench, DispatchJob job, Progress& progress) {
  progress.say(fmt::format("outage: staging {}", bench.work.deliveries.size()));
  bench.database.reset();
  stage_calls(*bench.database.open(), bench.work, bench.work.deliveries, staged_together);
  CalledServer server(Manner::away);
  job.calls.url = server.url();
  Outage outage = OutageRun(bench, job, server, progress).run();
  const auto& first = outage.marks.front();
  const auto& last = outage.marks.back();
  outage.bars.push_back(down_bar(outage, job));
  outage.bars.push_back(rate_bar(outage, job));
  add_ledger_bars(outage, server.book(), count_ledger(*bench.database.open()), bench.work.deliveries.size());
  outage.bars.push_back(growth_bar({first.percent, last.percent, first.resident_bytes, last.resident_bytes}));
  return outage;
}

void print_outage(const Outage& outage, bool json) {
  const auto rate = [](const Outage::Down& down) { return static_cast<double>(down.attempts) / down.seconds; };
  if (!json) {
    fmt::print("nobody listens: {:.1f} attempts a second; it refuses: {:.1f}\n", rate(outage.away),
               rate(outage.refusing));
    fmt::print("well again: drained in {:.1f} s, {} requests in the fullest second\n", outage.drained_in,
               outage.most_in_a_second);
    for (const auto& [percent, bytes] : outage.marks) {
      fmt::print("{:>3} %: {:.1f} MB resident\n", percent, static_cast<double>(bytes) / mebibyte);
    }
    return;
  }
  nlohmann::ordered_json found{{"away_per_second", rate(outage.away)},
                               {"refusing_per_second", rate(outage.refusing)},
                               {"most_in_a_second", outage.most_in_a_second},
                               {"drained_in_seconds", outage.drained_in},
                               {"resident", nlohmann::ordered_json::array()}};
  for (const auto& [percent, bytes] : outage.marks) {
    found["resident"].push_back({{"percent", percent}, {"resident_bytes", bytes}});
  }
  fmt::print("{}\n", found.dump(2));
}

}  // namespace onceward::bench
