// `./run bench core`: work W through Onceward's stores against the same work by hand, into the same tables.
//
// Timings that miss their bar are printed and forgiven, since machines are shared; contents, round trips, syncs, bytes of
// WAL and dead rows are not: one of those missed is exit code 1.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <stdexcept>

#include "bench/floor/postgres.h"
#include "bench/floor/postgres_each.h"
#include "bench/floor/postgres_others.h"
#include "bench/floor/sqlite.h"
#include "bench/store/store_shape.h"
#include "bench/work/postgres_database.h"
#include "bench/work/report.h"
#include "bench/work/rounds.h"
#include "bench/work/sqlite_database.h"

namespace onceward::bench {
namespace {

// The first consumer that is enrolled in an empty store.
constexpr std::int32_t first_consumer = 1;

struct Options {
  std::string messages = "100k";
  std::size_t batch = 1000;
  std::size_t rounds = 5;
  std::string store = "all";
  std::vector<std::string> only;
  std::string output = "table";
  std::string directory;
  bool json() const { return output == "json"; }
};

struct Works {
  Workload random, time;
};

void add_store_cases(std::vector<Case>& cases, Database& database, const Workload& work, const std::string& suffix) {
  const auto open = [&database](From from) {
    return [&database, from](const Workload& given) { return store_shape(database.open(), given, from); };
  };
  cases.push_back({"onceward" + suffix, &work, open(From::envelopes)});
  cases.push_back({"duplicates" + suffix, &work, open(From::envelopes), 1, true});
  if (suffix.empty()) cases.push_back({"onceward-json", &work, open(From::json)});
}

std::vector<Case> postgres_cases(PostgresDatabase& database, const Works& works) {
  const FloorOptions floor{database.url(), first_consumer};
  const auto each = [floor](std::size_t connections) {
    return [floor, connections](const Workload& work) { return postgres_each(floor, work, connections); };
  };
  const auto open = [floor](auto make) { return [floor, make](const Workload& work) { return make(floor, work); }; };
  std::vector<Case> cases;
  for (const Workload* work : {&works.random, &works.time}) {
    const std::string suffix = work == &works.time ? "-time" : "";
    cases.push_back({"floor" + suffix, work, open(postgres_floor)});
    add_store_cases(cases, database, *work, suffix);
    cases.push_back({"each" + suffix, work, each(1), 40});
    cases.push_back({"each-16" + suffix, work, each(16), 10});
  }
  cases.push_back({"look-up-first", &works.random, open(postgres_look_up_first)});
  cases.push_back({"one-statement", &works.random, open(postgres_one_statement)});
  cases.push_back({"row-by-row", &works.random, open(postgres_row_by_row)});
  return cases;
}

std::vector<Case> sqlite_cases(SqliteDatabase& database, const Works& works) {
  const SqliteFloorOptions floor{database.path(), first_consumer};
  const auto each = [floor](std::size_t connections) {
    return [floor, connections](const Workload& work) { return sqlite_each(floor, work, connections); };
  };
  const auto open = [floor](auto make) { return [floor, make](const Workload& work) { return make(floor, work); }; };
  std::vector<Case> cases;
  for (const Workload* work : {&works.random, &works.time}) {
    const std::string suffix = work == &works.time ? "-time" : "";
    cases.push_back({"floor" + suffix, work, open(sqlite_floor)});
    add_store_cases(cases, database, *work, suffix);
    cases.push_back({"each" + suffix, work, each(1), 40});
    cases.push_back({"each-16" + suffix, work, each(16), 100});
  }
  cases.push_back({"look-up-first", &works.random, open(sqlite_look_up_first)});
  return cases;
}

// The floor of a case, by its ids.
std::string floor_of(const std::string& name) { return name.ends_with("-time") ? "floor-time" : "floor"; }

std::vector<Line> lines_of(const Database& database, const std::vector<Case>& cases, const Samples& samples) {
  const bool trips = database.name() == "postgres";
  std::vector<Line> lines;
  for (const Case& one : cases) {
    const auto& mine = samples.at(one.name);
    Line line{.store = database.name(),
              .name = one.name,
              .per_second = middle(mine, &Sample::per_second),
              .ratio_to_floor = {},
              .wal_bytes = middle(mine, &Sample::wal_bytes),
              .statements = middle(mine, &Sample::statements),
              .fsyncs = middle(mine, &Sample::fsyncs),
              .round_trips = {}};
    if (trips) line.round_trips = middle(mine, &Sample::round_trips);
    const auto floor = samples.find(floor_of(one.name));
    if (floor != samples.end()) line.ratio_to_floor = ratio(mine, floor->second, &Sample::per_second);
    lines.push_back(std::move(line));
  }
  return lines;
}

// The judge of one store and one kind of id.
class Bars {
 public:
  Bars(const Database& database, const Samples& samples, const Options& options, std::string suffix)
      : store_(database.name()),
        samples_(samples),
        batch_(static_cast<double>(options.batch)),
        suffix_(std::move(suffix)) {}

  std::vector<Bar> judge() {
    if (has("onceward") && has("floor")) against_floor();
    if (has("onceward") && has("each-16")) {
      const double times = middle(get("onceward"), &Sample::per_second) / middle(get("each-16"), &Sample::per_second);
      add(times >= 6, false, "{:.1f} times each-16 (6 or more)", times);
    }
    if (has("onceward") && store_ == "postgres") {
      const double trips = middle(get("onceward"), &Sample::round_trips) * batch_;
      add(trips <= 2.001, true, "{:.2f} round trips a batch (2)", trips);
    }
    if (has("duplicates")) duplicates();
    return std::move(bars_);
  }

 private:
  bool has(const std::string& name) const { return samples_.contains(name + suffix_); }
  const std::vector<Sample>& get(const std::string& name) const { return samples_.at(name + suffix_); }

  template <class... Args>
  void add(bool held, bool exact, fmt::format_string<Args...> text, Args&&... args) {
    bars_.push_back({fmt::format("{} onceward{}: ", store_, suffix_) + fmt::format(text, std::forward<Args>(args)...),
                     held, exact});
  }

  void against_floor() {
    const double speed = ratio(get("onceward"), get("floor"), &Sample::per_second);
    add(speed >= 0.8, false, "{:.2f} of the floor's speed (0.8 or more)", speed);
    const double wal = ratio(get("onceward"), get("floor"), &Sample::wal_bytes);
    add(wal <= 1.25, true, "{:.2f} of the floor's WAL (1.25 or less)", wal);
    // The server's own writer and full segments sync too, on both sides alike; the floor commits once a batch.
    const double mine = lowest(get("onceward"), &Sample::fsyncs) * batch_;
    const double floor = highest(get("floor"), &Sample::fsyncs) * batch_;
    add(mine <= floor + 0.1, true, "{:.2f} syncs a batch (one commit a batch: {:.2f} for the floor)", mine, floor);
    const bool same = std::ranges::equal(get("onceward"), get("floor"), {}, &Sample::contents, &Sample::contents);
    const auto& contents = get("onceward").front().contents;
    add(same, true, "the floor's rows: {} in inbox, {} in payment, {} in balance, {} in outbox",
        contents.at("inbox").rows, contents.at("payment").rows, contents.at("balance").rows,
        contents.at("outbox").rows);
  }

  void duplicates() {
    if (has("onceward")) {
      const double times = ratio(get("duplicates"), get("onceward"), &Sample::per_second);
      add(times > 1, false, "duplicates only: {:.1f} times as fast as firsts (more than 1)", times);
      const bool same =
          std::ranges::equal(get("duplicates"), get("onceward"), {}, &Sample::contents, &Sample::contents);
      add(same, true, "duplicates only: changed no row");
    }
    if (store_ != "postgres") return;
    std::uint64_t dead = 0;
    for (const Sample& sample : get("duplicates")) dead += sample.dead_rows;
    add(dead == 0, true, "duplicates only: {} dead rows in any table (0)", dead);
  }

  static double lowest(const std::vector<Sample>& samples, double Sample::* member) {
    return std::invoke(member, *std::ranges::min_element(samples, {}, member));
  }
  static double highest(const std::vector<Sample>& samples, double Sample::* member) {
    return std::invoke(member, *std::ranges::max_element(samples, {}, member));
  }

  std::string store_;
  const Samples& samples_;
  double batch_;
  std::string suffix_;
  std::vector<Bar> bars_;
};

// Every shape that was given all of the work leaves the rows of its floor.
std::vector<Bar> same_contents(const Database& database, const std::vector<Case>& cases, const Samples& samples) {
  std::vector<Bar> bars;
  for (const Case& one : cases) {
    const auto floor = samples.find(floor_of(one.name));
    if (one.share != 1 || floor == samples.end()) continue;
    const auto& mine = samples.at(one.name);
    if (!std::ranges::equal(mine, floor->second, {}, &Sample::contents, &Sample::contents)) {
      bars.push_back({fmt::format("{} {}: other rows than the floor", database.name(), one.name), false, true});
    }
  }
  return bars;
}

void measure(Database& database, std::vector<Case> cases, const Options& options, Progress& progress,
             std::vector<Line>& lines, std::vector<Bar>& bars) {
  if (!options.only.empty()) {
    std::erase_if(cases,
                  [&](const Case& one) { return std::ranges::find(options.only, one.name) == options.only.end(); });
  }
  if (!options.json()) {
    for (const std::string& setting : database.settings()) fmt::print("{}\n", setting);
  }
  const Samples samples = run_rounds(database, cases, {options.rounds, options.batch}, progress);
  std::ranges::move(lines_of(database, cases, samples), std::back_inserter(lines));
  for (const char* suffix : {"", "-time"}) {
    std::ranges::move(Bars(database, samples, options, suffix).judge(), std::back_inserter(bars));
  }
  std::ranges::move(same_contents(database, cases, samples), std::back_inserter(bars));
}

int run(const Options& options) {
  const std::size_t messages = parse_count(options.messages);
  const Works works{make_workload({.ids = Ids::random, .deliveries = messages}),
                    make_workload({.ids = Ids::time, .deliveries = messages})};
  if (!options.json()) {
    fmt::print(
        "{} messages of 500 bytes, one in ten a repeat; batches of {}; SHA-256 of id and payload;"
        " medians of {} interleaved rounds\n",
        messages, options.batch, options.rounds);
  }
  Progress progress;
  std::vector<Line> lines;
  std::vector<Bar> bars;
  if (options.store != "sqlite") {
    const char* const server = std::getenv("ONCEWARD_TEST_POSTGRES");
    if (server == nullptr) throw std::runtime_error("ONCEWARD_TEST_POSTGRES is not set; ./run bench core sets it");
    const auto database = postgres_database(server);
    measure(*database, postgres_cases(*database, works), options, progress, lines, bars);
  }
  if (options.store != "postgres") {
    const auto database = sqlite_database(options.directory);
    measure(*database, sqlite_cases(*database, works), options, progress, lines, bars);
  }
  progress.say("");
  options.json() ? print_json(lines) : print_table(lines);
  return print_bars(bars, options.json()) ? 0 : 1;
}

}  // namespace
}  // namespace onceward::bench

int main(int argc, char** argv) {
  onceward::bench::Options options;
  CLI::App app("Onceward's stores against the same work written by hand, into the same tables.");
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
  app.add_option("--only", options.only, "Only these shapes, e.g. --only floor onceward");
  app.add_option("--directory", options.directory, "Where the SQLite file is made; the disk that is measured");
  app.footer(
      "PostgreSQL is the server in ONCEWARD_TEST_POSTGRES, which ./run bench core starts.\n"
      "Example: ./run bench core --store postgres --only floor onceward --rounds 3");
  CLI11_PARSE(app, argc, argv);
  try {
    return onceward::bench::run(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench core: {}\n", error.what());
    return 1;
  }
}
