// `./run bench dispatch`: calls that were staged before the clock starts, made by the dispatcher over HTTP, beside a bare loop
// of libcurl that makes the same calls and writes nothing down. The server answers after a millisecond and counts what it sees.
//
// Timings that miss their bar are printed and forgiven, since machines are shared; what was called, how often, what the ledger
// says of it and memory are not: one of those missed is exit code 1.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>

#include "bench/broker/options.h"
#include "bench/dispatch/dispatching.h"
#include "bench/dispatch/outage.h"
#include "bench/dispatch/shapes.h"
#include "bench/work/postgres_database.h"
#include "bench/work/report.h"
#include "bench/work/rounds.h"
#include "bench/work/sqlite_database.h"

namespace onceward::bench {
namespace {

constexpr std::size_t staged_together = 1'000;
constexpr const char* of_outage = "100k";  // calls, where no other number is asked for

struct Options {
  std::string calls = "20k";
  std::size_t rounds = 3;
  std::string store = "all";
  std::vector<std::string> only;
  std::string output = "table";
  std::string directory;
  bool outage = false;
  // Also of a process that is executed by this program.
  DispatchJob job{.store = {}, .calls = {}, .rate = 2'000};
  int as_server = -1, as_dispatcher = -1;
  bool json() const { return output == "json"; }
};

std::string floor_of(const std::string& name) { return name.find('-') == std::string::npos ? "floor" : "floor-fresh"; }

// One store.
class Bench {
 public:
  Bench(const Options& options, const DispatchBench& bench) : options_(options), bench_(bench) {}

  void run(Progress& progress, std::vector<Line>& lines, std::vector<Bar>& bars) {
    std::vector<Case> cases{
        floor_case("floor", CalledKind::idempotent), onceward_case("onceward", CalledKind::idempotent),
        floor_case("floor-fresh", CalledKind::fresh), onceward_case("onceward-fresh", CalledKind::fresh),
        onceward_case("onceward-mute", CalledKind::mute)};
    if (!options_.only.empty()) {
      std::erase_if(cases, [&](const Case& one) { return std::ranges::count(options_.only, one.name) == 0; });
    }
    samples_ = run_rounds(bench_.database, cases, {options_.rounds, staged_together}, progress);
    for (const Case& one : cases) {
      lines.push_back(line_of(one.name));
      add_bars(one.name, bars);
    }
  }

 private:
  Case floor_case(const std::string& name, CalledKind kind) {
    return {.name = name, .work = &bench_.work, .open = [this, kind, &into = made_[name]](const Workload&) {
              return floor_shape(bench_, kind, into);
            }};
  }
  Case onceward_case(const std::string& name, CalledKind kind) {
    return {.name = name,
            .work = &bench_.work,
            .open = [this, kind, &into = made_[name]](const Workload&) { return onceward_shape(bench_, kind, into); },
            .before =
                [this](std::span<const Index> messages, std::size_t batch) {
                  stage_calls(*bench_.database.open(), bench_.work, messages, batch);
                  bench_.database.checkpoint();
                }};
  }

  bool has(const std::string& name) const { return samples_.contains(name); }
  double ratio_of(const std::string& name) const {
    return ratio(samples_.at(name), samples_.at(floor_of(name)), &Sample::per_second);
  }

  Line line_of(const std::string& name) const {
    const auto& mine = samples_.at(name);
    Line line;
    line.store = bench_.database.name();
    line.name = name;
    line.per_second = middle(mine, &Sample::per_second);
    if (has(floor_of(name))) line.ratio_to_floor = ratio_of(name);
    if (name.starts_with("floor")) return line;
    line.wal_bytes = middle(mine, &Sample::wal_bytes);
    line.statements = middle(mine, &Sample::statements);
    line.fsyncs = middle(mine, &Sample::fsyncs);
    if (bench_.database.name() == "postgres") line.round_trips = middle(mine, &Sample::round_trips);
    return line;
  }

  void add_bars(const std::string& name, std::vector<Bar>& bars) const {
    const std::uint64_t calls = bench_.work.deliveries.size();
    const std::string who = bench_.database.name() + " " + name;
    const bool ours = name.starts_with("onceward");
    if (ours && name != "onceward-mute" && has(floor_of(name))) {
      const double found = ratio_of(name);
      bars.push_back({fmt::format("{}: {:.2f} of the bare loop (0.5 or more)", who, found), found >= 0.5, false});
    }
    for (const CallsMade& made : made_.at(name)) {
      bars.push_back(
          {fmt::format("{}: {} requests of {} bytes, {} repeated, on {} connections", who, made.requests,
                       made.bytes / std::max<std::uint64_t>(1, made.requests), made.repeated, made.connections),
           made.requests == calls && made.repeated == 0 && made.bytes == bytes_of(floor_of(name), made), true});
      if (ours) bars.push_back(ledger_bar(who, made));
    }
  }

  Bar ledger_bar(const std::string& who, const CallsMade& made) const {
    const std::uint64_t calls = bench_.work.deliveries.size();
    const LedgerCount& ledger = made.ledger;
    return {fmt::format("{}: {} rows, {} succeeded, {} attempts; {:.1f} calls a transaction", who, ledger.calls,
                        ledger.succeeded, ledger.attempts,
                        static_cast<double>(calls) / static_cast<double>(made.transactions)),
            ledger.calls == calls && ledger.succeeded == calls && ledger.attempts == calls &&
                ledger.succeeded_attempts == calls,
            true};
  }

  // The floor sends the same, byte for byte as many.
  std::uint64_t bytes_of(const std::string& floor, const CallsMade& otherwise) const {
    const auto& rounds = made_.at(floor);
    return rounds.empty() ? otherwise.bytes : rounds.front().bytes;
  }

  const Options& options_;
  const DispatchBench bench_;
  std::map<std::string, std::vector<CallsMade>> made_;  // by the case's name, one a round
  Samples samples_;
};

void print_notes(const Options& options) {
  fmt::print(
      "{} calls with a body of 200 bytes, {} under way at once, answered after 1 ms; medians of {} interleaved rounds\n"
      "floor is a bare loop of libcurl. -fresh is an endpoint that is not idempotent: each call has a connection of its own;"
      " -mute one\nthat cannot be asked either, so nothing is marked before it can start. Figures are for one call.\n",
      options.calls, options.job.calls.concurrency, options.rounds);
}

int run_outage(const Options& options, const DispatchBench& bench, const DispatchJob& job) {
  Progress progress;
  const Outage outage = measure_outage(bench, job, progress);
  progress.say("");
  print_outage(outage, options.json());
  return print_bars(outage.bars, options.json()) ? 0 : 1;
}

int measure(const Options& options) {
  const Workload work =
      make_workload({.deliveries = parse_count(options.calls), .repeats_percent = 0, .payloads = false});
  const std::size_t concurrency = options.job.calls.concurrency;
  Progress progress;
  std::vector<Line> lines;
  std::vector<Bar> bars;
  if (!options.json() && !options.outage) print_notes(options);
  DispatchJob job = options.job;
  if (options.store != "sqlite") {
    const auto database = postgres_database(server("ONCEWARD_TEST_POSTGRES"));
    job.store = database->url();
    if (options.outage) return run_outage(options, {*database, work, concurrency}, job);
    if (!options.json()) fmt::print("{}\n", database->settings().front());
    Bench(options, {*database, work, concurrency}).run(progress, lines, bars);
  }
  if (options.store != "postgres") {
    const auto database = sqlite_database(options.directory);
    if (!options.json()) fmt::print("{}\n", database->settings().front());
    Bench(options, {*database, work, concurrency}).run(progress, lines, bars);
  }
  progress.say("");
  options.json() ? print_json(lines) : print_table(lines);
  return print_bars(bars, options.json()) ? 0 : 1;
}

int run(const Options& options) {
  if (options.as_server >= 0) return run_as_server(options.as_server);
  if (options.as_dispatcher >= 0) return run_as_dispatcher(options.job, options.as_dispatcher);
  return measure(options);
}

void add_options(CLI::App& app, Options& options) {
  app.add_option("--calls", options.calls, "Calls a run, like 20k")->capture_default_str();
  app.add_option("--rounds", options.rounds, "How often each shape runs")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--concurrency", options.job.calls.concurrency, "Calls under way at once")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--store", options.store, "postgres, sqlite or all")
      ->check(CLI::IsMember({"postgres", "sqlite", "all"}))
      ->capture_default_str();
  app.add_option("--directory", options.directory, "Where the SQLite file is made; the disk that is measured");
  app.add_option("--only", options.only, "Only these shapes, e.g. --only floor onceward");
  app.add_option("-o,--output", options.output, "table or json")->check(CLI::IsMember({"table", "json"}));
  app.add_flag("--outage", options.outage,
               "Instead, on PostgreSQL: a backlog of 100k while the server is away, refuses, and is well again");
  app.add_option("--rate", options.job.rate, "Of --outage: calls a second that the endpoint allows")
      ->check(CLI::Range(1.0, 1e6))
      ->capture_default_str();
  app.add_option("--as-server", options.as_server)->group("");
  app.add_option("--as-dispatcher", options.as_dispatcher)->group("");
  app.add_option("--store-url", options.job.store)->group("");
  app.add_option("--url", options.job.calls.url)->group("");
}

}  // namespace
}  // namespace onceward::bench

int main(int argc, char** argv) {
  onceward::bench::Options options;
  CLI::App app("Calls over HTTP, from the ledger, beside the same calls made by hand.");
  onceward::bench::add_options(app, options);
  app.footer(
      "PostgreSQL is the server in ONCEWARD_TEST_POSTGRES, which ./run bench dispatch starts.\n"
      "Example: ./run bench dispatch --store postgres --rounds 1\n"
      "         ./run bench dispatch --outage");
  CLI11_PARSE(app, argc, argv);
  if (app.count("--calls") == 0 && options.outage) options.calls = onceward::bench::of_outage;
  if (options.outage) options.store = "postgres";  // of SQLite the page cache would be what grows
  try {
    return onceward::bench::run(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench dispatch: {}\n", error.what());
    return 1;
  }
}
