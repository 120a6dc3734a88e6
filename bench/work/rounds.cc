#include "bench/work/rounds.h"

#include <fmt/format.h>

namespace onceward::bench {
namespace {

Sample run_case(Database& database, const Case& one, std::size_t batch) {
  const auto deliveries = std::span(one.work->deliveries).first(one.work->deliveries.size() / one.share);
  database.reset();
  if (one.repeats_only) {
    one.open(*one.work)->run(deliveries, batch);
    database.vacuum();  // of what the firsts left in the balances
    database.checkpoint();
  }
  if (one.before) one.before(deliveries, batch);
  const Meter before = database.meter();
  auto shape = one.open(*one.work);
  const double seconds = shape->run(deliveries, batch);
  const Effort effort = shape->effort();
  shape.reset();
  const Meter after = database.meter();
  const auto count = static_cast<double>(deliveries.size());
  return {.per_second = count / seconds,
          .wal_bytes = static_cast<double>(after.wal_bytes - before.wal_bytes) / count,
          .statements = static_cast<double>(effort.statements) / count,
          .fsyncs = static_cast<double>(after.fsyncs - before.fsyncs) / count,
          .round_trips = static_cast<double>(effort.round_trips) / count,
          .transactions = static_cast<double>(effort.transactions) / count,
          .dead_rows = database.dead_rows(),
          .contents = database.contents()};
}

}  // namespace

Samples run_rounds(Database& database, const std::vector<Case>& cases, const RoundOptions& options,
                   Progress& progress) {
  Samples samples;
  for (std::size_t round = 0; round < options.rounds; ++round) {
    for (std::size_t turn = 0; turn < cases.size(); ++turn) {
      const Case& one = cases[(turn + round) % cases.size()];
      progress.say(fmt::format("{}: round {} of {}, {}", database.name(), round + 1, options.rounds, one.name));
      samples[one.name].push_back(run_case(database, one, options.batch));
    }
  }
  return samples;
}

double middle(const std::vector<Sample>& samples, double Sample::* member) {
  std::vector<double> values;
  for (const Sample& sample : samples) values.push_back(sample.*member);
  return median(std::move(values));
}

double ratio(const std::vector<Sample>& samples, const std::vector<Sample>& to, double Sample::* member) {
  std::vector<double> values;
  for (std::size_t round = 0; round < samples.size(); ++round) {
    values.push_back((samples[round].*member) / (to[round].*member));
  }
  return median(std::move(values));
}

}  // namespace onceward::bench
