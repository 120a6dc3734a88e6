// `./run bench e2e`: work W from a broker that was filled before the clock starts into PostgreSQL, beside the raw drain of
// that broker, a bare consumer by hand and the consumer that most people write, all into the same tables.
//
// Timings that miss their bar are printed and forgiven, since machines are shared; contents are not.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "bench/broker/latency.h"
#include "bench/broker/options.h"
#include "bench/broker/shapes.h"
#include "bench/work/postgres_database.h"
#include "bench/work/report.h"
#include "bench/work/rounds.h"

namespace onceward::bench {
namespace {

constexpr std::int32_t first_consumer = 1;  // that is enrolled in an empty store
constexpr std::size_t hand_written_workers = 16;
constexpr std::size_t share_of_each = 10;

struct Options : BrokerOptions {
  std::vector<std::string> only;
  std::string ids = "random";
  bool latency = false;
  double rate = 0;
};

// What is measured of a broker with positions besides: the same work without repeats, which nobody would find.
struct Trusted {
  Workload work;
  std::unique_ptr<BareBroker> broker;
};

void add_trusting(std::vector<Case>& cases, PostgresDatabase& database, Trusted& trusted) {
  const FloorOptions options{database.url(), first_consumer, true};
  BareBroker& broker = *trusted.broker;
  cases.push_back({"floor-store", &trusted.work,
                   [&broker, options](const Workload& its) { return bare_by_position(broker, options, its); }});
  cases.push_back({"onceward-store", &trusted.work, [&broker, &database](const Workload& its) {
                     return onceward_consumer(broker, database, its, Offsets::store);
                   }});
}

std::vector<Case> cases_of(PostgresDatabase& database, BareBroker& broker, const Workload& work) {
  const FloorOptions options{database.url(), first_consumer, true};
  return {
      {"raw", &work, [&](const Workload&) { return raw_drain(broker); }},
      {"floor", &work, [&broker, options](const Workload& its) { return bare_consumer(broker, options, its); }},
      {"onceward", &work, [&](const Workload& its) { return onceward_consumer(broker, database, its); }},
      {"each", &work,
       [&broker, options](const Workload& its) { return each_consumer(broker, options, its, hand_written_workers); },
       share_of_each},
  };
}

bool has(const Samples& samples, std::initializer_list<const char*> names) {
  return std::ranges::all_of(names, [&](const char* name) { return samples.contains(name); });
}

// Those whose shapes have run.
std::vector<Bar> bars_of(const std::string& broker, const Samples& samples) {
  std::vector<Bar> bars;
  if (has(samples, {"onceward", "each"})) {
    const auto to_each = ratio(samples.at("onceward"), samples.at("each"), &Sample::per_second);
    bars.push_back(
        {fmt::format("{}: {:.1f} times the hand-written one (bar 6)", broker, to_each), to_each >= 6, false});
  }
  if (!has(samples, {"onceward", "floor"})) return bars;
  const auto to_floor = ratio(samples.at("onceward"), samples.at("floor"), &Sample::per_second);
  bars.push_back(
      {fmt::format("{}: {:.2f} of the bare consumer (bar 0.7, aim 0.85)", broker, to_floor), to_floor >= 0.7, false});
  for (std::size_t round = 0; round < samples.at("floor").size(); ++round) {
    const bool same = samples.at("onceward")[round].contents == samples.at("floor")[round].contents;
    bars.push_back({fmt::format("{}: round {}, the same rows as the bare consumer", broker, round + 1), same, true});
  }
  return bars;
}

// Only the cause of what is staged differs, which is a key for us and a number by hand.
bool same_but_cause(ContentsOf ours, ContentsOf floor) {
  ours.erase("outbox");
  floor.erase("outbox");
  return ours == floor;
}

void add_trusting_bars(std::vector<Bar>& bars, const Samples& samples) {
  if (!has(samples, {"onceward-store", "floor-store"})) return;
  const auto& ours = samples.at("onceward-store");
  const auto& floor = samples.at("floor-store");
  const double to_floor = ratio(ours, floor, &Sample::per_second);
  bars.push_back(
      {fmt::format("kafka: offsets in the store, {:.2f} of the bare consumer without an inbox (bar 0.8)", to_floor),
       to_floor >= 0.8, false});
  for (std::size_t round = 0; round < floor.size(); ++round) {
    bars.push_back(
        {fmt::format("kafka: offsets in the store, round {}, the same rows, none in the inbox", round + 1),
         same_but_cause(ours[round].contents, floor[round].contents) && ours[round].contents.at("inbox").rows == 0,
         true});
  }
}

std::vector<Line> lines_of(const std::string& broker, const std::vector<Case>& cases, const Samples& samples) {
  std::vector<Line> lines;
  for (const Case& one : cases) {
    const auto& mine = samples.at(one.name);
    const auto floor = samples.find(one.name.ends_with("-store") ? "floor-store" : "floor");
    lines.push_back({.store = "postgres",
                     .name = one.name,
                     .broker = broker,
                     .per_second = middle(mine, &Sample::per_second),
                     .ratio_to_floor = {},
                     .wal_bytes = middle(mine, &Sample::wal_bytes),
                     .statements = middle(mine, &Sample::statements),
                     .fsyncs = middle(mine, &Sample::fsyncs),
                     .round_trips = middle(mine, &Sample::round_trips)});
    if (floor != samples.end()) lines.back().ratio_to_floor = ratio(mine, floor->second, &Sample::per_second);
  }
  return lines;
}

void print_notes(const Options& options, PostgresDatabase& database, const BareBroker& broker) {
  fmt::print("{} messages of 500 bytes, one in ten a repeat, ids {}; batches of {}; medians of {} interleaved rounds\n",
             options.messages, options.ids, options.batch, options.rounds);
  for (const std::string& setting : broker.settings()) fmt::print("{}\n", setting);
  for (const std::string& setting : database.settings()) fmt::print("{}\n", setting);
  fmt::print(
      "raw receives and acknowledges only; floor is a consumer by hand, receiving and committing at once; each has a\n"
      "transaction a message on {} threads and does a {}th of the work. Names with -store have no repeats and no inbox:\n"
      "offsets are kept in the transaction. The clock starts before they connect.\n",
      hand_written_workers, share_of_each);
}

int run(const Options& options) {
  const Workload work = make_workload(
      {.ids = options.ids == "time" ? Ids::time : Ids::random, .deliveries = parse_count(options.messages)});
  const auto database = postgres_database(server("ONCEWARD_TEST_POSTGRES"));
  const auto broker = broker_named(options.broker, work);
  Progress progress;
  if (options.latency) {
    const auto latencies = measure_latency(*database, *broker, work, {options.rate}, progress);
    print_latencies(latencies, options.json());
    return print_bars(latency_bars(latencies), options.json()) ? 0 : 1;
  }
  if (!options.json()) print_notes(options, *database, *broker);
  std::vector<Case> cases = cases_of(*database, *broker, work);
  std::optional<Trusted> trusted;
  if (options.broker == "kafka") {
    trusted.emplace();
    trusted->work = make_workload({.deliveries = parse_count(options.messages), .repeats_percent = 0});
    trusted->broker = broker_named(options.broker, trusted->work);
    add_trusting(cases, *database, *trusted);
  }
  if (!options.only.empty()) {
    std::erase_if(cases,
                  [&](const Case& one) { return std::ranges::find(options.only, one.name) == options.only.end(); });
  }
  const Samples samples = run_rounds(*database, cases, {options.rounds, options.batch}, progress);
  progress.say("");
  const std::vector<Line> lines = lines_of(options.broker, cases, samples);
  options.json() ? print_json(lines) : print_table(lines);
  std::vector<Bar> bars = bars_of(options.broker, samples);
  if (trusted) add_trusting_bars(bars, samples);
  return print_bars(bars, options.json()) ? 0 : 1;
}

}  // namespace
}  // namespace onceward::bench

int main(int argc, char** argv) {
  onceward::bench::Options options;
  CLI::App app("From a broker into PostgreSQL, beside the same work written by hand.");
  add_to(app, options);
  app.add_option("--only", options.only, "Only these shapes, e.g. --only floor onceward; bars need all of theirs");
  app.add_option("--ids", options.ids, "random, or time: ids that carry one")
      ->check(CLI::IsMember({"random", "time"}))
      ->capture_default_str();
  app.add_flag("--latency", options.latency, "Instead: from publish to commit, open loop, beside a bare consumer");
  app.add_option("--rate", options.rate,
                 "Of --latency, messages a second; by default half of what the bare consumer can");
  app.footer("The servers are those that ./run bench e2e starts.\nExample: ./run bench e2e --broker kafka --rounds 1");
  CLI11_PARSE(app, argc, argv);
  try {
    return onceward::bench::run(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench e2e: {}\n", error.what());
    return 1;
  }
}
