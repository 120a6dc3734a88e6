#include "apps/cli/terminal.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iostream>

namespace onceward::cli {

bool can_ask() { return isatty(STDIN_FILENO) != 0 && isatty(STDERR_FILENO) != 0; }

bool confirmed(const std::string& question) {
  fmt::print(stderr, "{} [y/N] ", question);
  std::fflush(stderr);
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "yes" || answer == "Y";
}

std::string bar_text(std::int64_t done, std::int64_t total) {
  constexpr std::int64_t width = 30;
  const std::int64_t shown = std::clamp<std::int64_t>(done, 0, total);
  const auto full = static_cast<std::size_t>(shown * width / total);
  return fmt::format("[{:-<{}}] {:>3} %", std::string(full, '#'), width, shown * 100 / total);
}

ProgressBar::ProgressBar(std::string what, std::int64_t total)
    : what_(std::move(what)), total_(total), terminal_(isatty(STDERR_FILENO) != 0) {}

ProgressBar::~ProgressBar() {
  if (terminal_) fmt::print(stderr, "\r\x1b[K");
}

void ProgressBar::show(std::int64_t done, std::int64_t count) {
  if (!terminal_ || Clock::now() < next_) return;
  next_ = Clock::now() + std::chrono::milliseconds(100);
  fmt::print(stderr, "\r{} {}  {} \x1b[K", total_ > 0 ? bar_text(done, total_) : std::string(), count, what_);
  std::fflush(stderr);
}

}  // namespace onceward::cli
