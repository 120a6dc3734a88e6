#include "apps/checker/lines.h"

#include <fmt/format.h>

#include <cstdlib>

namespace checker {

std::string grouped(std::int64_t number) {
  const std::string digits = std::to_string(std::abs(number));
  std::string text = number < 0 ? "-" : "";
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ' ';
    text += digits[i];
  }
  return text;
}

std::string money(std::int64_t minor_units) {
  return fmt::format("{}{}.{:02}", minor_units < 0 ? "-" : "", grouped(std::abs(minor_units) / 100),
                     std::abs(minor_units) % 100);
}

void Tally::add(const std::string& example) {
  if (++count_ <= 3) examples_ += (examples_.empty() ? "" : ", ") + (example.empty() ? "one without an id" : example);
}

void Lines::line(std::string name, std::string expected, std::string found, bool ok, std::string examples) {
  lines_.push_back({std::move(name), std::move(expected), std::move(found), ok, std::move(examples)});
}

void Lines::count(std::string name, std::int64_t expected, std::int64_t found, std::string examples) {
  line(std::move(name), grouped(expected), grouped(found), expected == found, std::move(examples));
}

void Lines::none(std::string name, const Tally& wrong) { count(std::move(name), 0, wrong.count(), wrong.examples()); }

void Lines::all(std::string name, std::size_t expected, std::int64_t right, const Tally& wrong) {
  const std::string more = wrong.count() > 0 ? fmt::format(" + {} wrong", grouped(wrong.count())) : "";
  line(std::move(name), grouped(static_cast<std::int64_t>(expected)), grouped(right) + more,
       right == static_cast<std::int64_t>(expected) && wrong.count() == 0, wrong.examples());
}

void Lines::some(std::string name, std::int64_t found) { line(std::move(name), "> 0", grouped(found), found > 0); }

}  // namespace checker
