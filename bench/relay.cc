// `./run bench relay`: an outbox that was filled before the clock starts, relayed to a broker, beside the raw publish of the
// same messages and a bare relay by hand. What arrives is drained and compared with what was staged.
//
// Timings that miss their bar are printed and forgiven, since machines are shared; what arrives, dead rows and memory are
// not: one of those missed is exit code 1.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

#include "bench/broker/options.h"
#include "bench/floor/relay.h"
#include "bench/relay/backlog.h"
#include "bench/relay/beside.h"
#include "bench/relay/latency.h"
#include "bench/relay/memory.h"
#include "bench/relay/shapes.h"
#include "bench/work/report.h"
#include "bench/work/resident.h"
#include "bench/work/rounds.h"

namespace onceward::bench {
namespace {

constexpr std::size_t ordered_processes = 2;
constexpr const char *of_latency = "500", *of_memory = "2M";  // messages, where no other number is asked for

struct Options : BrokerOptions {
  std::string format = "auto";
  std::vector<std::string> only;
  bool latency = false, memory = false, held_snapshot = false, open_writer = false;
  // Of a process that is executed by this program.
  int as_relay = -1;
  RelayJob job;
};

struct Results {
  Samples samples;
  std::map<std::string, std::vector<Arrived>> arrived;  // by the case's name, one a round
  std::vector<DeadRows> dead;
};

class Bench {
 public:
  Bench(const Options& options, RelayBench bench) : options_(options), bench_(bench) {}

  int run() {
    std::vector<Case> cases = chosen();
    if (!options_.only.empty()) {
      std::erase_if(cases, [&](const Case& one) { return std::ranges::count(options_.only, one.name) == 0; });
    }
    if (!options_.json()) print_notes();
    Progress progress;
    results_.samples = run_rounds(bench_.database, cases, {options_.rounds, options_.batch}, progress);
    progress.say("");
    const std::vector<Line> lines = lines_of(cases);
    options_.json() ? print_json(lines) : print_table(lines);
    return print_bars(bars_of(cases), options_.json()) ? 0 : 1;
  }

 private:
  std::vector<Case> chosen() {
    const auto onceward = onceward_case("onceward", {});
    if (options_.held_snapshot) {
      return {onceward,
              onceward_case("held-snapshot", {.beside = [this] { return held_snapshot(bench_, results_.dead); }})};
    }
    if (options_.open_writer) {
      return {onceward,
              onceward_case("open-writer", {.beside = [this] { return open_writer(bench_, bench_.work.deliveries); }})};
    }
    return {case_of("raw", 0, [this] { return checked(bench_, raw_publish(bench_), results_.arrived["raw"]); }),
            case_of("floor", 0,
                    [this] {
                      return checked(bench_, bare_relay(bench_.broker, bench_.database.url(), bench_.attributes),
                                     results_.arrived["floor"]);
                    }),
            onceward, onceward_case("ordered", {.ordered = true, .processes = ordered_processes})};
  }

  Case onceward_case(const std::string& name, const RelayShape& shape) {
    const std::size_t kept = name == "open-writer" ? 1 : 0;
    return case_of(name, kept, [this, name, shape] { return onceward_relay(bench_, shape, results_.arrived[name]); });
  }

  // Its rows are there and its queue is empty when it runs; the last `kept` are left out.
  Case case_of(const std::string& name, std::size_t kept, std::function<std::unique_ptr<Shape>()> open) {
    return {.name = name,
            .work = &bench_.work,
            .open = [open = std::move(open)](const Workload&) { return open(); },
            .before =
                [this, kept](std::span<const Index> messages, std::size_t batch) {
                  bench_.broker.make();
                  stage_backlog(bench_.database.url(), bench_.work, messages.first(messages.size() - kept), batch);
                  bench_.database.checkpoint();
                }};
  }

  void print_notes() const {
    fmt::print("{} rows with a payload of 200 bytes, {} keys; pages of {}; medians of {} interleaved rounds\n",
               options_.messages, account_count, options_.batch, options_.rounds);
    for (const std::string& setting : bench_.broker.settings()) fmt::print("{}\n", setting);
    fmt::print("{}\n", bench_.database.settings().front());
    fmt::print(
        "raw publishes the same messages without a database; floor is a relay by hand, reading and publishing at once;\n"
        "ordered has order = \"key\" and {} processes, the others one. The clock starts before they connect.\n",
        ordered_processes);
  }

  std::vector<Line> lines_of(const std::vector<Case>& cases) const {
    std::vector<Line> lines;
    for (const Case& one : cases) {
      const auto& mine = results_.samples.at(one.name);
      Line& line = lines.emplace_back();
      line.store = "postgres";
      line.name = one.name;
      line.broker = options_.broker;
      line.per_second = middle(mine, &Sample::per_second);
      if (has("floor")) line.ratio_to_floor = ratio_of(one.name, "floor");
      line.wal_bytes = middle(mine, &Sample::wal_bytes);
      line.statements = middle(mine, &Sample::statements);
      line.fsyncs = middle(mine, &Sample::fsyncs);
      line.round_trips = middle(mine, &Sample::round_trips);
    }
    return lines;
  }

  std::vector<Bar> bars_of(const std::vector<Case>& cases) const {
    std::vector<Bar> bars;
    const auto speed = [&](const char* name, const char* to, double bar, const char* text) {
      if (!has(name) || !has(to)) return;
      const double found = ratio_of(name, to);
      bars.push_back({fmt::format("{}: {:.2f} of {}", options_.broker, found, text), found >= bar, false});
    };
    speed("onceward", "floor", 0.7, "the bare relay (bar 0.7, aim 0.85)");
    speed("ordered", "onceward", 0.6, "the unordered relay, ordered by key in two processes (bar 0.6)");
    speed("held-snapshot", "onceward", 0.9, "the clean rate, beside a held snapshot (bar 0.9)");
    speed("open-writer", "onceward", 0.9, "the clean rate, beside a writer that stays open (bar 0.9)");
    for (const DeadRows& dead : results_.dead) {
      std::ranges::move(dead_row_bars(dead, bench_.work.deliveries.size(), options_.batch), std::back_inserter(bars));
    }
    for (const Case& one : cases) add_arrivals(one.name, bars);
    return bars;
  }

  // The late message of an open writer is staged by other means, and has other attributes for that.
  void add_arrivals(const std::string& name, std::vector<Bar>& bars) const {
    const auto& rounds = results_.arrived.at(name);
    const auto& [other, others] = *results_.arrived.begin();
    for (std::size_t round = 0; round < rounds.size(); ++round) {
      std::ranges::move(arrival_bars(fmt::format("{} {}, round {}", options_.broker, name, round + 1), rounds[round],
                                     bench_.work.deliveries.size(), name == "ordered"),
                        std::back_inserter(bars));
    }
    if (name == "open-writer" || name == other) return;
    const bool same = std::ranges::all_of(rounds, [&](const Arrived& one) { return one.sum == others.front().sum; });
    bars.push_back({fmt::format("{} {}: byte for byte the messages of {}", options_.broker, name, other), same, true});
  }

  bool has(const std::string& name) const { return results_.samples.contains(name); }
  double ratio_of(const std::string& name, const std::string& to) const {
    return ratio(results_.samples.at(name), results_.samples.at(to), &Sample::per_second);
  }

  const Options& options_;
  RelayBench bench_;
  Results results_;
};

int run_latency(const Options& options, const RelayBench& bench) {
  Progress progress;
  const RelayLatency measured = measure_relay_latency(bench, progress);
  progress.say("");
  print_latencies(measured.latencies, options.json());
  return print_bars(measured.bars, options.json()) ? 0 : 1;
}

int run_memory(const Options& options, const RelayBench& bench) {
  Progress progress;
  const RelayMemory measured = measure_relay_memory(bench, options.batch, progress);
  progress.say("");
  auto list = nlohmann::ordered_json::array();
  for (const auto& [percent, bytes] : measured.marks) {
    list.push_back({{"broker", options.broker}, {"percent", percent}, {"resident_bytes", bytes}});
    if (!options.json()) {
      fmt::print("{:>3} % of {}: {:.1f} MB resident\n", percent, options.messages,
                 static_cast<double>(bytes) / mebibyte);
    }
  }
  if (options.json()) fmt::print("{}\n", list.dump(2));
  return print_bars(measured.bars, options.json()) ? 0 : 1;
}

int run(const Options& options) {
  if (options.as_relay >= 0) return run_as_relay(options.job, options.as_relay);
  const Workload work =
      make_workload({.deliveries = parse_count(options.messages), .repeats_percent = 0, .payloads = false});
  const auto database = postgres_database(server("ONCEWARD_TEST_POSTGRES"));
  const auto broker = broker_named(options.broker, work);
  const RelayBench bench{*database, *broker, work,
                         options.format == "native" ? Attributes::native : Attributes::cloudevent};
  if (options.latency) return run_latency(options, bench);
  if (options.memory) return run_memory(options, bench);
  return Bench(options, bench).run();
}

void add_options(CLI::App& app, Options& options) {
  add_to(app, options);
  app.add_option("--format", options.format, "auto: the attributes of a CloudEvent in headers; or native: without")
      ->check(CLI::IsMember({"auto", "native"}))
      ->capture_default_str();
  app.add_option("--only", options.only, "Only these shapes, e.g. --only floor onceward");
  auto* const instead = app.add_option_group("Instead");
  instead->add_flag("--latency", options.latency, "From a commit to the broker's confirm, when idle, of 500 messages");
  instead->add_flag("--memory", options.memory, "The relay's memory over an outbox of 2 M rows");
  instead->add_flag("--held-snapshot", options.held_snapshot, "Beside somebody who holds a snapshot; dead rows");
  instead->add_flag("--open-writer", options.open_writer, "Beside a transaction that has staged and stays open");
  instead->require_option(0, 1);
  app.add_option("--as-relay", options.as_relay)->group("");
  app.add_option("--store-url", options.job.store)->group("");
  app.add_option("--target", options.job.target)->group("");
  app.add_flag("--ordered", options.job.ordered)->group("");
  app.add_flag("--native", options.job.native)->group("");
}

}  // namespace
}  // namespace onceward::bench

int main(int argc, char** argv) {
  onceward::bench::Options options;
  CLI::App app("From an outbox in PostgreSQL to a broker, beside the same written by hand.");
  onceward::bench::add_options(app, options);
  app.footer(
      "The servers are those that ./run bench relay starts.\n"
      "Example: ./run bench relay --broker kafka --rounds 1\n"
      "         ./run bench relay --broker rabbitmq --latency");
  CLI11_PARSE(app, argc, argv);
  options.job.page = static_cast<int>(options.batch);
  if (app.count("--messages") == 0 && options.latency) options.messages = onceward::bench::of_latency;
  if (app.count("--messages") == 0 && options.memory) options.messages = onceward::bench::of_memory;
  try {
    return onceward::bench::run(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench relay: {}\n", error.what());
    return 1;
  }
}
