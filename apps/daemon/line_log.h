// The daemon's log: one line an event on stderr, JSON for machines or text for a terminal. Ids and codes, no payloads.
#pragma once

#include <mutex>

#include "onceward/log.h"

namespace onceward::daemon {

class LineLog final : public Log {
 public:
  enum class Format { json, text };
  LineLog(Format format, LogLevel least) : format_(format), least_(least) {}

  bool wants(LogLevel level) const noexcept override { return level <= least_; }
  void write(LogLevel level, std::string_view message, std::span<const LogField> fields) noexcept override;

 private:
  const Format format_;
  const LogLevel least_;
  std::mutex mutex_;  // lines stay whole
};

// JSON unless stderr is a terminal.
LineLog::Format format_of_stderr();

}  // namespace onceward::daemon
