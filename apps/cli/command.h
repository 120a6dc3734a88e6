// What every command shares: where its words go, and how it ends. A command registers itself under its parent by one
// function, named after it; main.cc lists them all.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace onceward::cli {

enum Exit { ok = 0, error = 1, usage = 2, not_found = 3, conflict = 4, unavailable = 5, refused = 6 };

struct Session {
  std::string output = "table";  // or json, ndjson
  Exit ending = Exit::ok;
};

// A command under `parent` with an example in its help. `-o` is added for commands that print data.
CLI::App* add_command(CLI::App& parent, const std::string& name, const std::string& summary,
                      const std::string& example);
void add_output_option(CLI::App& command, Session& session);

// Rows to stdout in the session's format; every row has the columns of `names`.
void print_rows(const Session& session, const std::vector<std::string>& names,
                const std::vector<nlohmann::ordered_json>& rows);

void add_version(CLI::App& parent, Session& session);
void add_demo(CLI::App& parent, Session& session);
void add_store_migrate(CLI::App& parent, Session& session);
void add_store_status(CLI::App& parent, Session& session);
void add_config_check(CLI::App& parent, Session& session);

}  // namespace onceward::cli
