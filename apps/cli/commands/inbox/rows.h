// Rows of the inbox as they are printed.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/records/inbox.h"

namespace onceward::cli {

inline const std::vector<std::string> inbox_columns{"received_at", "consumer", "state", "code",           "tenant",
                                                    "producer",    "id",       "key",   "next_attempt_at"};
nlohmann::ordered_json json_of(const records::InboxRow& row);
// In any case.
std::optional<State> state_named(std::string_view word);

nlohmann::ordered_json json_of(const std::optional<Timestamp>& time);
nlohmann::ordered_json json_of(const std::optional<Key>& key);

}  // namespace onceward::cli
