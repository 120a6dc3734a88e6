// Rows of the outbox as they are named on the command line, and as they are printed.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "src/records/outbox.h"

namespace onceward::cli {

inline const std::vector<std::string> outbox_columns{"number", "staged_at", "state",  "type",  "key",
                                                     "id",     "attempts",  "due_at", "reason"};
nlohmann::ordered_json json_of(const records::OutboxRow& row);
std::vector<nlohmann::ordered_json> json_of(const std::vector<records::OutboxRow>& rows);

// --type, --key and the others, without numbers. `states` are those that can be asked for.
void add_filter_options(CLI::App& command, records::OutboxFilter& filter,
                        const std::vector<records::OutboxState>& states);

// How many match, where they are not too many to count: "17", "more than 100000".
std::string counted(Store& store, const records::OutboxFilter& filter);

}  // namespace onceward::cli
