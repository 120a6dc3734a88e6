#include "apps/daemon/line_log.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace onceward::daemon {
namespace {

constexpr std::string_view names[] = {"error", "warn", "info", "debug"};

std::string now_text() {
  const auto now = std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
  const auto second = std::chrono::floor<std::chrono::seconds>(now);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(std::chrono::system_clock::to_time_t(second)),
                     (now - second).count());
}

// Text that is no UTF-8 is replaced, never thrown at.
std::string json_line(std::string_view level, std::string_view message, std::span<const LogField> fields) {
  nlohmann::ordered_json line{{"time", now_text()}, {"level", level}, {"message", message}};
  for (const LogField& field : fields) {
    std::visit([&](const auto& value) { line[std::string(field.name)] = value; }, field.value);
  }
  return line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n';
}

std::string text_line(std::string_view level, std::string_view message, std::span<const LogField> fields) {
  std::string line = fmt::format("{} {:<5} {}", now_text(), level, message);
  for (const LogField& field : fields) {
    std::visit([&](const auto& value) { line += fmt::format("  {}={}", field.name, value); }, field.value);
  }
  return line + '\n';
}

}  // namespace

LineLog::Format format_of_stderr() { return ::isatty(STDERR_FILENO) ? LineLog::Format::text : LineLog::Format::json; }

void LineLog::write(LogLevel level, std::string_view message, std::span<const LogField> fields) noexcept {
  if (!wants(level)) return;
  try {
    const std::string_view name = names[static_cast<std::size_t>(level)];
    const std::string line =
        format_ == Format::json ? json_line(name, message, fields) : text_line(name, message, fields);
    const std::lock_guard lock(mutex_);
    std::fwrite(line.data(), 1, line.size(), stderr);
  } catch (const std::exception&) {  // no memory for a line: the work goes on without it
  }
}

}  // namespace onceward::daemon
