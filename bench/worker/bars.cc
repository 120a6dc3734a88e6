#include "bench/worker/bars.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

namespace onceward::bench {
namespace {

// A worker also asks for messages that wait and are due: once as it begins, then each second, in two transactions at most.
constexpr double looks_at_start = 2, looks_a_second = 2;

const WorkerCase* find(std::span<const WorkerCase> cases, const std::string& name) {
  const auto found = std::ranges::find(cases, name, [](const WorkerCase& one) { return one.shape.name; });
  return found == cases.end() ? nullptr : &*found;
}

double lowest(const std::vector<Sample>& samples, double Sample::* member) {
  return std::invoke(member, *std::ranges::min_element(samples, {}, member));
}
double highest(const std::vector<Sample>& samples, double Sample::* member) {
  return std::invoke(member, *std::ranges::max_element(samples, {}, member));
}

class Judge {
 public:
  Judge(const Database& database, std::span<const WorkerCase> cases, const Samples& samples, const Expected& expected,
        std::size_t batch)
      : store_(database.name()),
        cases_(cases),
        samples_(samples),
        expected_(expected),
        batch_(static_cast<double>(batch)) {}

  std::vector<Bar> judge() {
    speed("sql", 0.75, 0.9);
    speed("batch", 0.75, 0.9);
    speed("message", 0.4, 0.5);
    poison("poison_before_sql", 0.9);
    poison("poison_throws", 0.6);
    poison("poison_sql", 0.5);
    duplicates();
    for (const char* name : {"sql", "batch", "message"}) {
      if (has(name)) efforts(name);
    }
    for (const WorkerCase& one : cases_) contents(one);
    return std::move(bars_);
  }

 private:
  bool has(const std::string& name) const { return samples_.contains(name); }
  const std::vector<Sample>& get(const std::string& name) const { return samples_.at(name); }

  template <class... Args>
  void add(const std::string& name, bool held, bool exact, fmt::format_string<Args...> text, Args&&... args) {
    bars_.push_back(
        {fmt::format("{} {}: ", store_, name) + fmt::format(text, std::forward<Args>(args)...), held, exact});
  }

  void speed(const std::string& name, double bar, double aim) {
    const WorkerCase* const one = find(cases_, name);
    if (one == nullptr || !has(one->floor)) return;
    const double of_floor = ratio(get(name), get(one->floor), &Sample::per_second);
    add(name, of_floor >= bar, false, "{:.2f} of the speed of {} ({} or more; aim {})", of_floor, one->floor, bar, aim);
  }

  void poison(const std::string& name, double bar) {
    const WorkerCase* const one = find(cases_, name);
    if (one == nullptr || !has(one->clean)) return;
    const double of_clean = ratio(get(name), get(one->clean), &Sample::per_second);
    add(name, of_clean >= bar, false, "{:.2f} of the speed of {} ({} or more)", of_clean, one->clean, bar);
  }

  void duplicates() {
    if (!has("duplicates")) return;
    if (has("batch")) {
      const double times = ratio(get("duplicates"), get("batch"), &Sample::per_second);
      add("duplicates", times > 1, false, "{:.1f} times as fast as firsts (more than 1)", times);
    }
    std::uint64_t dead = 0;
    for (const Sample& sample : get("duplicates")) dead += sample.dead_rows;
    add("duplicates", dead == 0, true, "{} dead rows in any table (0)", dead);
  }

  void efforts(const std::string& name) {
    bool batched = true;
    for (const Sample& sample : get(name)) {
      const double messages = get_messages(name);
      const double seconds = messages / sample.per_second;
      const double looks = sample.transactions * messages - std::ceil(messages / batch_);
      batched = batched && looks >= 0 && looks <= looks_at_start + looks_a_second * (seconds + 1);
    }
    add(name, batched, true, "one transaction a batch, and two a second that ask for what is due");
    if (store_ == "postgres") {
      const double trips = highest(get(name), &Sample::round_trips) / highest(get(name), &Sample::transactions);
      add(name, trips <= 2.001, true, "{:.2f} round trips a transaction (2)", trips);
    }
    const std::string& floor = find(cases_, name)->floor;
    if (!has(floor)) return;
    // The server's own writer and full segments sync too, on both sides alike; the floor commits once a batch.
    const double mine = lowest(get(name), &Sample::fsyncs) * batch_;
    const double of_floor = highest(get(floor), &Sample::fsyncs) * batch_;
    add(name, mine <= of_floor + 0.1, true, "{:.2f} syncs a batch (one commit a batch: {:.2f} for {})", mine, of_floor,
        floor);
    if (name == "message") return;  // it writes a balance for each message
    const double wal = ratio(get(name), get(floor), &Sample::wal_bytes);
    add(name, wal <= 1.25, true, "{:.2f} of the WAL of {} (1.25 or less)", wal, floor);
    const double statements = ratio(get(name), get(floor), &Sample::statements);
    add(name, statements <= 1.25, true, "{:.2f} of the statements of {} (1.25 or less)", statements, floor);
  }

  void contents(const WorkerCase& one) {
    const std::string& name = one.shape.name;
    const auto made = expected_.find(name);
    if (made != expected_.end()) {
      const bool same = std::ranges::all_of(get(name), [&](const Sample& sample) {
        return std::ranges::all_of(made->second, [&](const auto& table) {
          const Contents& mine = sample.contents.at(table.first);
          return table.second.sum.empty() ? mine.rows == table.second.rows : mine == table.second;
        });
      });
      say_contents(name, same,
                   one.clean.empty() ? "the floor's rows" : "the floor's rows for those that are no poison");
    } else if (name != one.floor && has(one.floor)) {
      say_contents(name, std::ranges::equal(get(name), get(one.floor), {}, &Sample::contents, &Sample::contents),
                   "the floor's rows");
    }
  }

  void say_contents(const std::string& name, bool same, std::string_view what) {
    const ContentsOf& found = get(name).front().contents;
    add(name, same, true, "{}: {} in inbox, {} in payment, {} in balance, {} in outbox", what, found.at("inbox").rows,
        found.at("payment").rows, found.at("balance").rows, found.at("outbox").rows);
  }

  double get_messages(const std::string& name) const {
    const Case& shape = find(cases_, name)->shape;
    return static_cast<double>(shape.work->deliveries.size() / shape.share);
  }

  const std::string store_;
  const std::span<const WorkerCase> cases_;
  const Samples& samples_;
  const Expected& expected_;
  const double batch_;
  std::vector<Bar> bars_;
};

}  // namespace

Expected expected_contents(Database& database, std::span<const WorkerCase> cases, const WorkerWorks& works,
                           std::size_t batch) {
  Expected expected;
  for (const WorkerCase& one : cases) {
    const bool poisoned = !one.clean.empty();
    const WorkerCase* const floor = find(cases, one.floor);
    if (floor == nullptr || (one.shape.share == 1 && !poisoned)) continue;
    const std::span<const Index> all(works.clean.deliveries);
    database.reset();
    floor->shape.open(works.clean)
        ->run(poisoned ? std::span<const Index>(works.good) : all.first(all.size() / one.shape.share), batch);
    ContentsOf contents = database.contents();
    // What is poison has its row in the inbox too, some of it with another payload.
    if (poisoned) contents["inbox"] = {std::set<Index>(all.begin(), all.end()).size(), ""};
    expected[one.shape.name] = std::move(contents);
  }
  return expected;
}

std::vector<Bar> worker_bars(const Database& database, std::span<const WorkerCase> cases, const Samples& samples,
                             const Expected& expected, std::size_t batch) {
  return Judge(database, cases, samples, expected, batch).judge();
}

}  // namespace onceward::bench
