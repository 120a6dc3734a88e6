// The lines of a proof, and what they are made of.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace checker {

struct Line {
  std::string name;
  std::string expected;
  std::string found;
  bool ok = false;
  std::string examples;  // a few of what is wrong
};

// 20000 as 20 000, and minor units as 200.00.
std::string grouped(std::int64_t number);
std::string money(std::int64_t minor_units);

// Counts, and remembers the first few.
class Tally {
 public:
  void add(const std::string& example);
  std::int64_t count() const { return count_; }
  const std::string& examples() const { return examples_; }

 private:
  std::int64_t count_ = 0;
  std::string examples_;
};

class Lines {
 public:
  void line(std::string name, std::string expected, std::string found, bool ok, std::string examples = {});
  void count(std::string name, std::int64_t expected, std::int64_t found, std::string examples = {});
  void none(std::string name, const Tally& wrong);
  // All of `expected` are right, and nothing is wrong.
  void all(std::string name, std::size_t expected, std::int64_t right, const Tally& wrong);
  void some(std::string name, std::int64_t found);

  std::vector<Line> take() { return std::move(lines_); }

 private:
  std::vector<Line> lines_;
};

}  // namespace checker
