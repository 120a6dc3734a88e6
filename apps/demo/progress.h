// How far a run is, on stderr: one line that is rewritten on a terminal, else a line now and then.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace onceward::demo {

struct Standing {
  std::uint64_t delivered = 0, effects = 0, calls = 0, crashes = 0;
  std::optional<std::uint64_t> queued{};  // nothing: it is not known
  std::string trouble{};                  // of the queue
};

class Progress {
 public:
  explicit Progress(bool quiet);
  ~Progress();  // clears the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(const Standing& standing);
  // At once, in a line of its own.
  void say(const std::string& what);

 private:
  using Clock = std::chrono::steady_clock;
  const bool terminal_;
  const bool quiet_;
  Clock::time_point next_;
};

}  // namespace onceward::demo
