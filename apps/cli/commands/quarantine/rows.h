// Rows of the quarantine as they are named on the command line, and as they are printed.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "src/records/quarantine.h"

namespace onceward::cli {

inline const std::vector<std::string> quarantine_columns{"number", "parked_at", "consumer", "reason",  "state",
                                                         "tenant", "producer",  "id",       "attempts"};
nlohmann::ordered_json json_of(const records::QuarantineRow& row);
std::vector<nlohmann::ordered_json> json_of(const std::vector<records::QuarantineRow>& rows);

// --consumer, --reason and the others, without numbers and state.
void add_filter_options(CLI::App& command, records::QuarantineFilter& filter);

}  // namespace onceward::cli
