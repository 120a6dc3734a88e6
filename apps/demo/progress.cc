#include "apps/demo/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <string>

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
  const std::string line = fmt::format("delivered {}   effects {}   in the queue {}   crashes {}", standing.delivered,
                                       standing.effects, standing.queued, standing.crashes);
  terminal_ ? fmt::print(stderr, "{}{}", clear_line, line) : fmt::print(stderr, "{}\n", line);
  std::fflush(stderr);
}

}  // namespace onceward::demo
