// Options that several commands share, read as people write them.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "apps/cli/command.h"
#include "onceward/port/store.h"

namespace onceward::cli {

// RFC 3339, or how long before `now`: 90s, 2h, 7d.
std::optional<Timestamp> read_time(std::string_view text, Timestamp now);

// A mistake ends the command with exit code 2.
void add_time_option(CLI::App& command, const std::string& name, std::optional<Timestamp>& time,
                     const std::string& what);
void add_key_option(CLI::App& command, const std::string& name, std::optional<Key>& key, const std::string& what);
// Also an empty text is a text.
void add_text_option(CLI::App& command, const std::string& name, std::optional<std::string>& text,
                     const std::string& what);
void add_limit_option(CLI::App& command, int& limit);

// Whether the consumer is enrolled, or none is named; else says so, and the session ends with "not found".
bool consumer_is_known(Session& session, Store& store, const std::string& consumer);

}  // namespace onceward::cli
