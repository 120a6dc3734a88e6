// What a bench says: a table or JSON on stdout, the verdict on each bar, and a progress line on a terminal's stderr.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace onceward::bench {

double median(std::vector<double> values);
// 1234567 -> "1.23 M", 76543 -> "76.5 k".
std::string short_number(double number);
// "10M", "100k", "250000"; throws std::invalid_argument.
std::size_t parse_count(const std::string& text);

struct Line {
  std::string store;
  std::string name;
  std::string broker{};  // where messages come from one
  double per_second = 0;
  std::optional<double> ratio_to_floor;
  // Each for one message; nothing where the store has none.
  std::optional<double> wal_bytes, statements, fsyncs, round_trips;
};
void print_table(const std::vector<Line>& lines);
void print_json(const std::vector<Line>& lines);

// `exact` bars hold on every machine, however busy: missing one is a failure. The others are timings.
struct Bar {
  std::string text;
  bool held = false;
  bool exact = false;
};
// To stdout, or to stderr when stdout carries JSON. False if an exact bar was missed.
bool print_bars(const std::vector<Bar>& bars, bool json);

class Progress {
 public:
  Progress();
  ~Progress();
  void say(std::string_view what);

 private:
  bool terminal_;
};

}  // namespace onceward::bench
