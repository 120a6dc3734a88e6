// `./run bench worker`: work W through a whole worker, from a queue in memory into the stores, against the same work by
// hand, into the same tables.
//
// Timings that miss their bar are printed and forgiven, since machines are shared; contents, round trips, statements,
// syncs and memory are not: one of those missed is exit code 1.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <stdexcept>

#include "bench/work/report.h"
#include "bench/worker/bars.h"
#include "bench/worker/cases.h"
#include "bench/worker/cost.h"
#include "bench/worker/memory.h"

namespace onceward::bench {
namespace {

struct Options {
  std::string messages = "100k";
  std::size_t batch = 1000;
  std::size_t rounds = 5;
  std::string store = "all";
  std::string ids = "random";
  std::vector<std::string> only;
  std::string output = "table";
  std::string directory;
  bool memory = false;
  bool callgrind = false;
  std::string once;
  bool json() const { return output == "json"; }
  Ids kind_of_ids() const { return ids == "time" ? Ids::time : Ids::random; }
};

struct Results {
  std::vector<Line> lines;
  std::vector<Bar> bars;
};

Line line_of(const Database& database, const WorkerCase& one, const Samples& samples) {
  const auto& mine = samples.at(one.shape.name);
  Line line{.store = database.name(),
            .name = one.shape.name,
            .per_second = middle(mine, &Sample::per_second),
            .ratio_to_floor = {},
            .wal_bytes = middle(mine, &Sample::wal_bytes),
            .statements = middle(mine, &Sample::statements),
            .fsyncs = middle(mine, &Sample::fsyncs),
            .round_trips = {}};
  if (database.name() == "postgres") line.round_trips = middle(mine, &Sample::round_trips);
  const auto floor = samples.find(one.floor);
  if (floor != samples.end()) line.ratio_to_floor = ratio(mine, floor->second, &Sample::per_second);
  return line;
}

void measure(Database& database, std::vector<WorkerCase> cases, const WorkerWorks& works, const Options& options,
             Progress& progress, Results& results) {
  if (!options.only.empty()) {
    std::erase_if(cases, [&](const WorkerCase& one) {
      return std::ranges::find(options.only, one.shape.name) == options.only.end();
    });
  }
  if (!options.json()) {
    for (const std::string& setting : database.settings()) fmt::print("{}\n", setting);
  }
  std::vector<Case> shapes;
  for (const WorkerCase& one : cases) shapes.push_back(one.shape);
  const Samples samples = run_rounds(database, shapes, {options.rounds, options.batch}, progress);
  const Expected expected = expected_contents(database, cases, works, options.batch);
  for (const WorkerCase& one : cases) results.lines.push_back(line_of(database, one, samples));
  std::ranges::move(worker_bars(database, cases, samples, expected, options.batch), std::back_inserter(results.bars));
}

std::unique_ptr<PostgresDatabase> postgres() {
  const char* const server = std::getenv("ONCEWARD_TEST_POSTGRES");
  if (server == nullptr) throw std::runtime_error("ONCEWARD_TEST_POSTGRES is not set; ./run bench worker sets it");
  return postgres_database(server);
}

void print_notes(const Options& options, std::size_t messages) {
  fmt::print(
      "{} messages of 500 bytes, one in ten a repeat, ids {}; batches of {}; medians of {} interleaved rounds\n"
      "A queue in memory is filled before the clock starts, which stops when the last delivery is acknowledged.\n"
      "sql stages nothing, since an SQL handler cannot: its floor, floor_sql, is the floor without the outbox.\n"
      "poison_*: one message in a hundred never succeeds; first retry after a second, five attempts. Retries that come\n"
      "due before every good message is committed are in the time; what comes due later is not.\n",
      messages, options.ids, options.batch, options.rounds);
}

// 2 M messages unless another number was asked for.
int run_memory(const Options& options, bool asked) {
  Progress progress;
  MemoryRun run{.batch = options.batch, .directory = options.directory};
  if (asked) run.messages = parse_count(options.messages);
  const auto marks = measure_memory(run, progress);
  progress.say("");
  fmt::print("{} messages made as they are taken, one in ten a repeat; batch handler into SQLite\n", run.messages);
  for (const MemoryMark& mark : marks) fmt::print("{}\n", to_string(mark));
  return print_bars(memory_bars(marks), false) ? 0 : 1;
}

CostRun cost_of(const Options& options, const std::string& shape, const std::string& store) {
  return {.shape = shape, .store = store, .ids = options.ids, .batch = options.batch};
}

int run_callgrind(const Options& options, bool asked) {
  const std::vector<std::string> shapes =
      options.only.empty() ? std::vector<std::string>{"batch", "sql"} : options.only;
  for (const char* const store : {"postgres", "sqlite"}) {
    if (options.store != "all" && options.store != store) continue;
    for (const std::string& shape : shapes) {
      CostRun run = cost_of(options, shape, store);
      if (asked) run.messages = parse_count(options.messages);
      print_cost(run);
    }
  }
  return 0;
}

int run_once(const Options& options) {
  CostRun run = cost_of(options, options.once, options.store);
  run.messages = parse_count(options.messages);
  return run_for_cost(run, options.directory);
}

int run(const Options& options) {
  const std::size_t messages = parse_count(options.messages);
  const WorkerWorks works = worker_works(options.kind_of_ids(), messages);
  if (!options.json()) print_notes(options, messages);
  Progress progress;
  Results results;
  if (options.store != "sqlite") {
    const auto database = postgres();
    measure(*database, worker_cases(*database, works), works, options, progress, results);
  }
  if (options.store != "postgres") {
    const auto database = sqlite_database(options.directory);
    measure(*database, worker_cases(*database, works), works, options, progress, results);
  }
  progress.say("");
  options.json() ? print_json(results.lines) : print_table(results.lines);
  return print_bars(results.bars, options.json()) ? 0 : 1;
}

}  // namespace
}  // namespace onceward::bench

int main(int argc, char** argv) {
  onceward::bench::Options options;
  CLI::App app("A whole worker against the same work written by hand, into the same tables.");
  app.add_option("-o,--output", options.output, "table or json")->check(CLI::IsMember({"table", "json"}));
  app.add_option("--messages", options.messages, "Deliveries a run, like 100k")->capture_default_str();
  app.add_option("--batch", options.batch, "Deliveries a transaction")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  app.add_option("--rounds", options.rounds, "How often each shape runs")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--store", options.store, "postgres, sqlite or all")
      ->check(CLI::IsMember({"postgres", "sqlite", "all"}))
      ->capture_default_str();
  app.add_option("--ids", options.ids, "random, or time: ids that carry one")
      ->check(CLI::IsMember({"random", "time"}))
      ->capture_default_str();
  app.add_option("--only", options.only, "Only these shapes, e.g. --only floor batch");
  app.add_option("--directory", options.directory, "Where the SQLite file is made; the disk that is measured");
  app.add_flag("--memory", options.memory, "Instead: the memory of a worker over 2 M messages into SQLite");
  app.add_flag("--callgrind", options.callgrind, "Instead: instructions and allocations a message, of batch and sql");
  app.add_option("--once", options.once, "What --callgrind runs: one shape, once, on the store")->group("");
  app.footer(
      "PostgreSQL is the server in ONCEWARD_TEST_POSTGRES, which ./run bench worker starts.\n"
      "Example: ./run bench worker --store postgres --only floor batch --rounds 3\n"
      "         ./run bench worker --callgrind --store sqlite --only sql");
  CLI11_PARSE(app, argc, argv);
  try {
    const bool asked = app.count("--messages") > 0;
    if (options.memory) return onceward::bench::run_memory(options, asked);
    if (options.callgrind) return onceward::bench::run_callgrind(options, asked);
    if (!options.once.empty()) return onceward::bench::run_once(options);
    return onceward::bench::run(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench worker: {}\n", error.what());
    return 1;
  }
}
