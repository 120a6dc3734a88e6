#include "apps/demo/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace onceward::demo {
namespace {

constexpr std::chrono::milliseconds between_rewrites{100}, between_lines{3'000};
constexpr const char* clear_line = "\r\033[K";

}  // namespace

Progress::Progress(bool quiet)
    : terminal_(isatty(STDERR_FILENO) != 0),
      quiet_(quiet),
      next_(Clock::now() + (terminal_ ? between_rewrites : between_lines)) {}

Progress::~Progress() {
  if (terminal_ && !quiet_) fmt::print(stderr, "{}", clear_line);
}

void Progress::show(const Standing& standing) {
  if (quiet_ || Clock::now() < next_) return;
  next_ = Clock::now() + (terminal_ ? between_rewrites : between_lines);
  std::string line =
      fmt::format("delivered {}   effects {}   calls {}", standing.delivered, standing.effects, standing.calls);
  if (standing.queued) line += fmt::format("   in the queue {}", *standing.queued);
  line += fmt::format("   crashes {}", standing.crashes);
  if (!standing.trouble.empty()) line += "   " + standing.trouble;
  terminal_ ? fmt::print(stderr, "{}{}", clear_line, line) : fmt::print(stderr, "{}\n", line);
  std::fflush(stderr);
}

void Progress::say(const std::string& what) {
  if (quiet_) return;
  fmt::print(stderr, "{}{}\n", terminal_ ? clear_line : "", what);
  std::fflush(stderr);
}

}  // namespace onceward::demo
