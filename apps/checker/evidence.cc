#include "apps/checker/evidence.h"

#include <fmt/format.h>

#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "apps/checker/broker.h"
#include "apps/checker/database.h"

namespace checker {
namespace {

// A worker that was kept from running for so long that it could not trust its handler: it ends, and that is right.
constexpr int exit_time_bound = 7;

// In single quotes of SQL.
std::string quoted(const std::string& text) {
  std::string inside;
  for (const char c : text) inside += c == '\'' ? std::string("''") : std::string(1, c);
  return "'" + inside + "'";
}

void collect_effects(Database& database, const Run& run, Evidence& evidence) {
  for (Row& row : database.read(fmt::format("SELECT message_id, capture_request_id, invoice, currency, amount FROM {}",
                                            run.capture_table))) {
    evidence.captures.push_back({row[0], row[1], row[2], row[3], std::stoll(row[4])});
  }
  evidence.balance = database.number(fmt::format("SELECT coalesce(sum(amount), 0) FROM {}", run.balance_table));
}

void collect_records(Database& database, const Run& run, Evidence& evidence) {
  const std::int64_t consumer = database.number(
      fmt::format("SELECT number FROM {} WHERE name = {}", database.table("consumer"), quoted(run.consumer)));
  const auto rows = [&](const std::string& columns, const std::string& table) {
    return database.read(
        fmt::format("SELECT {} FROM {} WHERE consumer = {}", columns, database.table(table), consumer));
  };
  for (Row& row : rows("id", "inbox")) evidence.inbox.push_back(row[0]);
  for (Row& row : rows(fmt::format("(SELECT id FROM {} known WHERE known.key = {}.key), code, state",
                                   database.table("inbox"), database.table("inbox_outcome")),
                       "inbox_outcome")) {
    evidence.outcomes.push_back({row[0], row[1], std::stoi(row[2])});
  }
  for (Row& row : rows("causation_id, type, key, " + database.hex("payload"), "outbox")) {
    evidence.outbox.push_back({row[0], row[1], row[2], from_hex(row[3])});
  }
  for (Row& row : rows("endpoint, idempotency_key, " + database.hex("body") +
                           ", state, code, external_ref, CASE WHEN due_at IS NULL THEN 0 ELSE 1 END",
                       "ledger")) {
    evidence.ledger.push_back({row[0], row[1], from_hex(row[2]), row[3], row[4], row[5], row[6] == "1"});
  }
  for (Row& row :
       database.read(fmt::format("SELECT l.idempotency_key, a.kind, a.outcome FROM {} a JOIN {} l ON l.key = "
                                 "a.key WHERE l.consumer = {} ORDER BY a.key, a.number",
                                 database.table("ledger_attempt"), database.table("ledger"), consumer))) {
    evidence.attempts.push_back({row[0], row[1], row[2]});
  }
  for (Row& row : rows("id, reason, " + database.hex("payload") + ", state", "quarantine")) {
    if (row[3] == "parked") evidence.parked.push_back({row[0], row[1], from_hex(row[2])});
  }
}

void collect_crashes(const std::string& path, Evidence& evidence) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(fmt::format("{} cannot be read", path));
  for (std::string line; std::getline(file, line);) {
    const auto crash = nlohmann::json::parse(line);
    const int signal = crash.at("signal").get<int>(), exit_code = crash.at("exitCode").get<int>();
    const bool worker = crash.contains("worker");
    if (signal == SIGKILL) {
      ++(worker ? evidence.killed : crash.contains("gateway") ? evidence.gateways_killed : evidence.dispatchers_killed);
    } else if (signal == SIGABRT && worker) {
      ++evidence.aborted;
    } else if (signal != 0 || exit_code != exit_time_bound) {
      evidence.failed.push_back(signal != 0 ? fmt::format("signal {}", signal)
                                            : fmt::format("exit code {}", exit_code));
    }
  }
}

void collect_queue(const Run& run, Evidence& evidence) {
  const auto queue = open_database("sqlite:" + run.directory + "/queue.db");
  for (const Row& row : queue->read("SELECT body FROM message")) {
    const auto body = nlohmann::json::parse(row[0], nullptr, false);
    evidence.queued.push_back(body.is_object() ? body.value("messageId", "") : "");
  }
}

// Another process than the one that was killed serves afterwards.
void collect_restarts(const Run& run, Evidence& evidence) {
  std::ifstream file(run.directory + "/broker.ndjson");
  for (std::string line; std::getline(file, line);) {
    const auto restart = nlohmann::json::parse(line);
    evidence.restarts += restart.at("killed") != restart.at("started") ? 1 : 0;
  }
}

}  // namespace

Run read_run(const std::string& directory) {
  std::ifstream file(directory + "/run.json");
  if (!file) throw std::runtime_error(fmt::format("{} holds no run.json", directory));
  const auto json = nlohmann::json::parse(file);
  return {directory,
          json.at("naive").get<bool>(),
          json.at("store").get<std::string>(),
          json.at("consumer").get<std::string>(),
          json.at("captureTable").get<std::string>(),
          json.at("balanceTable").get<std::string>(),
          json.value("endpoint", ""),
          json.value("onlyEffects", false),
          json.value("broker", ""),
          json.value("brokerScript", ""),
          json.value("brokerDirectory", ""),
          json.value("queue", "")};
}

Evidence collect(const Run& run) {
  Evidence evidence;
  const auto database = open_database(run.store);
  collect_effects(*database, run, evidence);
  if (!run.naive && !run.only_effects) collect_records(*database, run, evidence);
  if (run.broker.empty()) {
    collect_queue(run, evidence);
  } else {
    evidence.left = left_in_broker(run);
    collect_restarts(run, evidence);
  }
  if (run.only_effects) return evidence;
  collect_crashes(run.directory + "/crashes.ndjson", evidence);
  evidence.gateway = read_gateway(run.directory + "/gateway.ndjson");
  return evidence;
}

}  // namespace checker
