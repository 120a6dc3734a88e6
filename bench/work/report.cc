#include "bench/work/report.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace onceward::bench {
namespace {

std::string cell(const std::optional<double>& value, int decimals) {
  return value ? fmt::format("{:.{}f}", *value, decimals) : "-";
}

nlohmann::ordered_json value_or_null(const std::optional<double>& value) {
  if (!value) return nullptr;
  return *value;
}

}  // namespace

double median(std::vector<double> values) {
  if (values.empty()) throw std::invalid_argument("the median of nothing");
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

std::string short_number(double number) {
  if (number >= 1e6) return fmt::format("{:.3g} M", number / 1e6);
  if (number >= 1e3) return fmt::format("{:.3g} k", number / 1e3);
  return fmt::format("{:.3g}", number);
}

std::size_t parse_count(const std::string& text) {
  std::size_t used = 0;
  const double number = std::stod(text, &used);
  const std::string unit = text.substr(used);
  double factor = 1;
  if (unit == "k") factor = 1e3;
  if (unit == "M") factor = 1e6;
  if ((unit != "" && factor == 1) || number <= 0)
    throw std::invalid_argument(text + ": a count is like 250000, 100k or 10M");
  return static_cast<std::size_t>(number * factor);
}

void print_table(const std::vector<Line>& lines) {
  fmt::print("{:<9} {:<16} {:>12} {:>9} {:>10} {:>11} {:>9} {:>12}\n", "store", "name", "messages/s", "to floor",
             "WAL bytes", "statements", "fsyncs", "round trips");
  for (const Line& line : lines) {
    fmt::print("{:<9} {:<16} {:>12.0f} {:>9} {:>10} {:>11} {:>9} {:>12}\n", line.store, line.name, line.per_second,
               cell(line.ratio_to_floor, 2), cell(line.wal_bytes, 0), cell(line.statements, 4), cell(line.fsyncs, 4),
               cell(line.round_trips, 4));
  }
  std::fflush(stdout);
}

void print_json(const std::vector<Line>& lines) {
  auto list = nlohmann::ordered_json::array();
  for (const Line& line : lines) {
    auto& one = list.emplace_back(nlohmann::ordered_json{{"store", line.store}, {"name", line.name}});
    if (!line.broker.empty()) one["broker"] = line.broker;
    one.update({{"per_second", line.per_second},
                {"ratio_to_floor", value_or_null(line.ratio_to_floor)},
                {"wal_bytes", value_or_null(line.wal_bytes)},
                {"statements", value_or_null(line.statements)},
                {"fsyncs", value_or_null(line.fsyncs)},
                {"round_trips", value_or_null(line.round_trips)}});
  }
  fmt::print("{}\n", list.dump(2));
}

bool print_bars(const std::vector<Bar>& bars, bool json) {
  bool held = true;
  for (const Bar& bar : bars) {
    if (bar.exact && !bar.held) held = false;
    const char* verdict = bar.held ? "ok" : bar.exact ? "FAILED" : "MISS";
    fmt::print(json ? stderr : stdout, "{:<7} {}\n", verdict, bar.text);
  }
  return held;
}

Progress::Progress() : terminal_(isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() { say(""); }

void Progress::say(std::string_view what) {
  if (!terminal_) return;
  fmt::print(stderr, "\r\033[K{}", what);
  std::fflush(stderr);
}

}  // namespace onceward::bench
