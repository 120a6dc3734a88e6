// Runs the shapes in rounds: each in every round, each time on emptied tables, in an order that turns with the round, so
// that a figure compares what ran side by side.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bench/work/database.h"
#include "bench/work/report.h"
#include "bench/work/shape.h"

namespace onceward::bench {

// One way to do the work on one store.
struct Case {
  std::string name;
  const Workload* work;
  std::function<std::unique_ptr<Shape>(const Workload&)> open;
  std::size_t share = 1;      // does the first 1/share of the work: the slow ones are not given all of it
  bool repeats_only = false;  // everything was delivered and committed before
  // What is to be there before the meter runs, besides emptied tables.
  std::function<void(std::span<const Index> deliveries, std::size_t batch)> before{};
};

struct Sample {
  double per_second = 0;
  double wal_bytes = 0, statements = 0, fsyncs = 0, round_trips = 0, transactions = 0;  // a message
  std::uint64_t dead_rows = 0;
  ContentsOf contents;
};
using Samples = std::map<std::string, std::vector<Sample>>;  // by the case's name, one a round

struct RoundOptions {
  std::size_t rounds = 5;
  std::size_t batch = 1000;
};
Samples run_rounds(Database& database, const std::vector<Case>& cases, const RoundOptions& options, Progress& progress);

double middle(const std::vector<Sample>& samples, double Sample::* member);
// The median of the rounds' own ratios.
double ratio(const std::vector<Sample>& samples, const std::vector<Sample>& to, double Sample::* member);

}  // namespace onceward::bench
