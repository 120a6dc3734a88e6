#include "apps/cli/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>

#include "src/common/timestamp.h"
#include "src/declaration/duration.h"
#include "src/records/inbox.h"
#include "src/records/statement.h"

namespace onceward::cli {

std::optional<Timestamp> read_time(std::string_view text, Timestamp now) {
  if (const auto ago = declaration::read_duration(text)) {
    const Timestamp time = now - *ago;
    return time < Timestamp() ? Timestamp() : time;
  }
  return read_timestamp(text);
}

void add_time_option(CLI::App& command, const std::string& name, std::optional<Timestamp>& time,
                     const std::string& what) {
  command.add_option_function<std::string>(
      name,
      [name, &time](const std::string& text) {
        time = read_time(text, std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now()));
        if (!time) throw CLI::ValidationError(name, "write 2026-01-02T03:04:05Z, or how long ago: 90s, 2h, 7d");
      },
      what + ": 2026-01-02T03:04:05Z, or how long ago, e.g. 2h");
}

void add_key_option(CLI::App& command, const std::string& name, std::optional<Key>& key, const std::string& what) {
  command.add_option_function<std::string>(
      name,
      [name, &key](const std::string& text) {
        key = records::key_named(text);
        if (!key) throw CLI::ValidationError(name, "a key is a UUID, as the list shows it");
      },
      what);
}

void add_text_option(CLI::App& command, const std::string& name, std::optional<std::string>& text,
                     const std::string& what) {
  command.add_option_function<std::string>(name, [&text](const std::string& given) { text = given; }, what);
}

void add_limit_option(CLI::App& command, int& limit) {
  command.add_option("--limit", limit, "Rows of a page")
      ->check(CLI::Range(1, records::most_rows_of_a_page))
      ->capture_default_str();
}

bool consumer_is_known(Session& session, Store& store, const std::string& consumer) {
  if (consumer.empty()) return true;
  const auto names = records::consumer_names(store);
  if (std::ranges::find(names, consumer) != names.end()) return true;
  fmt::print(stderr, "onceward: no consumer is named {}; the store knows: {}\n", consumer,
             names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")));
  session.ending = Exit::not_found;
  return false;
}

}  // namespace onceward::cli
