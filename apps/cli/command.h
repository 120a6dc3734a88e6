// What every command shares: where its words go, and how it ends. A command registers itself under its parent by one
// function, named after it; main.cc lists them all.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/daemon/exit_code.h"
#include "onceward/run.h"

namespace onceward::cli {

struct Session {
  std::string output = "table";  // or json, ndjson
  int ending = Exit::ok;
  const Handlers* handlers = nullptr;    // of the program's own; never null once commands run
  const Endpoints* endpoints = nullptr;  // likewise
};

// A command under `parent` with an example in its help. `-o` is added for commands that print data.
CLI::App* add_command(CLI::App& parent, const std::string& name, const std::string& summary,
                      const std::string& example);
void add_output_option(CLI::App& command, Session& session);

// Rows to stdout in the session's format; every row has the columns of `names`.
void print_rows(const Session& session, const std::vector<std::string>& names,
                const std::vector<nlohmann::ordered_json>& rows);
// The same as a table, without a terminal's control characters.
std::string table_of(const std::vector<std::string>& names, const std::vector<nlohmann::ordered_json>& rows);
// One thing to stdout, a line for each of its members.
void print_record(const Session& session, const nlohmann::ordered_json& record);

void add_version(CLI::App& parent, Session& session);
void add_demo(CLI::App& parent, Session& session);
void add_run(CLI::App& parent, Session& session);
void add_store_migrate(CLI::App& parent, Session& session);
void add_store_status(CLI::App& parent, Session& session);
void add_config_check(CLI::App& parent, Session& session);
void add_config_show(CLI::App& parent, Session& session);
void add_inbox_ls(CLI::App& parent, Session& session);
void add_inbox_show(CLI::App& parent, Session& session);
void add_outbox_ls(CLI::App& parent, Session& session);
void add_outbox_show(CLI::App& parent, Session& session);
void add_outbox_retry(CLI::App& parent, Session& session);
void add_outbox_discard(CLI::App& parent, Session& session);
void add_outbox_pause(CLI::App& parent, Session& session);
void add_outbox_resume(CLI::App& parent, Session& session);
void add_ledger_ls(CLI::App& parent, Session& session);
void add_ledger_show(CLI::App& parent, Session& session);
void add_ledger_approve(CLI::App& parent, Session& session);
void add_ledger_refuse(CLI::App& parent, Session& session);
void add_ledger_retry(CLI::App& parent, Session& session);
void add_ledger_cancel(CLI::App& parent, Session& session);
void add_ledger_reconcile(CLI::App& parent, Session& session);
void add_quarantine_ls(CLI::App& parent, Session& session);
void add_quarantine_show(CLI::App& parent, Session& session);
void add_quarantine_retry(CLI::App& parent, Session& session);
void add_quarantine_discard(CLI::App& parent, Session& session);
void add_send(CLI::App& parent, Session& session);
void add_tail(CLI::App& parent, Session& session);
void add_doctor_sources(CLI::App& parent, Session& session);

}  // namespace onceward::cli
