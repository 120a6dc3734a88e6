// Calls as they are named on the command line, and as they are printed.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "src/records/ledger.h"

namespace onceward::cli {

inline const std::vector<std::string> ledger_columns{"number",   "created_at", "state", "endpoint",    "key",
                                                     "attempts", "due_at",     "code",  "external_ref"};
nlohmann::ordered_json json_of(const records::LedgerRow& row);
std::vector<nlohmann::ordered_json> json_of(const std::vector<records::LedgerRow>& rows);
// With its attempts, its cause and what people did.
nlohmann::ordered_json json_of(const records::LedgerCall& call);

// --endpoint, --key and the others, without numbers. `states` are those that can be asked for.
void add_filter_options(CLI::App& command, records::LedgerFilter& filter,
                        const std::vector<records::CallState>& states);

}  // namespace onceward::cli
