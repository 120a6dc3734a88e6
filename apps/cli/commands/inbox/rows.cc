#include "apps/cli/commands/inbox/rows.h"

#include <algorithm>
#include <cctype>

#include "src/common/timestamp.h"

namespace onceward::cli {

std::optional<State> state_named(std::string_view word) {
  std::string upper(word);
  std::transform(upper.begin(), upper.end(), upper.begin(), [](unsigned char c) { return std::toupper(c); });
  for (int number = static_cast<int>(State::received); number <= static_cast<int>(State::waiting_gap); ++number) {
    if (name(static_cast<State>(number)) == upper) return static_cast<State>(number);
  }
  return std::nullopt;
}

nlohmann::ordered_json json_of(const std::optional<Timestamp>& time) {
  if (!time || !writable(*time)) return nullptr;
  return write_timestamp(*time);
}

nlohmann::ordered_json json_of(const std::optional<Key>& key) {
  if (!key) return nullptr;
  return to_string(*key);
}

nlohmann::ordered_json json_of(const records::InboxRow& row) {
  return {{"received_at", json_of(std::optional(row.received_at))},
          {"consumer", row.consumer},
          {"state", name(row.state)},
          {"code", row.code},
          {"tenant", row.tenant},
          {"producer", row.producer},
          {"id", row.id},
          {"key", to_string(row.key)},
          {"next_attempt_at", json_of(row.next_attempt_at)}};
}

}  // namespace onceward::cli
