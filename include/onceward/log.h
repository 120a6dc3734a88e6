// Where a worker tells what happens: ids and codes, never payloads. Called from any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace onceward {

enum class LogLevel : std::uint8_t { error, warn, info, debug };

struct LogField {
  std::string_view name;
  std::variant<std::string_view, std::int64_t> value;
};

class Log {
 public:
  virtual ~Log() = default;
  virtual bool wants(LogLevel level) const noexcept = 0;
  virtual void write(LogLevel level, std::string_view message, std::span<const LogField> fields) noexcept = 0;
};

// Says nothing.
Log& silent_log();

}  // namespace onceward
