// What only a person at a terminal sees: questions, and how far long work is. All of it on stderr.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace onceward::cli {

// Whether somebody can be asked: input and messages are a terminal.
bool can_ask();
// True for "y" or "yes"; anything else, and no answer, is no.
bool confirmed(const std::string& question);

// A bar that is rewritten in place; nothing unless stderr is a terminal.
class ProgressBar {
 public:
  // `total` 0: not known, and only the count is shown.
  ProgressBar(std::string what, std::int64_t total);
  ~ProgressBar();  // clears the line
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // `done` of the total; `count` is what people count, if that is something else.
  void show(std::int64_t done, std::int64_t count);
  void show(std::int64_t done) { show(done, done); }

 private:
  using Clock = std::chrono::steady_clock;
  const std::string what_;
  const std::int64_t total_;
  const bool terminal_;
  Clock::time_point next_{};
};

// "[#####-----]  50 %"
std::string bar_text(std::int64_t done, std::int64_t total);

}  // namespace onceward::cli
