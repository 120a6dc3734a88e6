#include "bench/work/postgres_database.h"

#include <fmt/format.h>
#include <libpq-fe.h>

#include <chrono>
#include <stdexcept>
#include <thread>

#include "bench/work/postgres_connection.h"
#include "onceward/adapter/postgres.h"

namespace onceward::bench {
namespace {

constexpr const char* database_name = "onceward_bench";

// autovacuum is off so that a run never shares the cores with it; nothing here leaves dead rows but the balances
// and the ledger.
constexpr const char* tables_sql = R"sql(
CREATE TABLE payment (
  number   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  account  bigint NOT NULL,
  amount   bigint NOT NULL,
  currency text NOT NULL,
  message  text NOT NULL
);
CREATE TABLE balance (account bigint PRIMARY KEY, amount bigint NOT NULL, version bigint NOT NULL);
ALTER TABLE payment SET (autovacuum_enabled = off);
ALTER TABLE balance SET (autovacuum_enabled = off);
ALTER TABLE onceward.inbox SET (autovacuum_enabled = off);
ALTER TABLE onceward.outbox_part_0 SET (autovacuum_enabled = off);
ALTER TABLE onceward.outbox_part_1 SET (autovacuum_enabled = off);
ALTER TABLE onceward.outbox_part_2 SET (autovacuum_enabled = off);
ALTER TABLE onceward.outbox_part_3 SET (autovacuum_enabled = off);
ALTER TABLE onceward.inbox_outcome SET (autovacuum_enabled = off);
ALTER TABLE onceward.inbox_body SET (autovacuum_enabled = off);
ALTER TABLE onceward.attempt SET (autovacuum_enabled = off);
ALTER TABLE onceward.quarantine SET (autovacuum_enabled = off);
ALTER TABLE onceward.ledger SET (autovacuum_enabled = off);
ALTER TABLE onceward.ledger_attempt SET (autovacuum_enabled = off);
CREATE EXTENSION pgstattuple;
CREATE TABLE first_move AS TABLE onceward.relay_move;
CREATE TABLE first_tick AS TABLE onceward.relay_tick;
CREATE TABLE first_slot AS TABLE onceward.relay_slot;
CREATE TABLE first_idle AS TABLE onceward.relay_idle;
)sql";

// As the migration left them: where the relay begins depends on positions, which begin anew.
constexpr const char* reset_relay_sql = R"sql(
TRUNCATE onceward.outbox_waiting, onceward.relay_member, onceward.relay_move, onceward.relay_tick, onceward.relay_slot,
  onceward.relay_idle RESTART IDENTITY;
INSERT INTO onceward.relay_move (slots, tick, position) SELECT slots, tick, position FROM first_move;
INSERT INTO onceward.relay_tick SELECT * FROM first_tick;
INSERT INTO onceward.relay_slot SELECT * FROM first_slot;
INSERT INTO onceward.relay_idle SELECT * FROM first_idle;
)sql";

constexpr const char* contents_sql = R"sql(
SELECT 'inbox', count(*), sum(hashtextextended(concat_ws('|', key, consumer, payload_hash, tenant, producer, id), 0))
  FROM onceward.inbox
UNION ALL SELECT 'payment', count(*), sum(hashtextextended(concat_ws('|', account, amount, currency, message), 0))
  FROM payment
UNION ALL SELECT 'balance', count(*), sum(hashtextextended(concat_ws('|', account, amount, version), 0)) FROM balance
UNION ALL SELECT 'outbox', count(DISTINCT id), sum(hashtextextended(concat_ws('|', consumer, cause, aggregate_version,
    event_version, length(id), type, key, tenant, aggregate_type, aggregate_id, correlation_id, causation_id,
    trace_parent, content_type, headers, payload), 0)) FROM onceward.outbox
UNION ALL SELECT 'outbox without cause', count(DISTINCT id), sum(hashtextextended(concat_ws('|', consumer,
    aggregate_version, event_version, length(id), type, key, tenant, aggregate_type, aggregate_id, correlation_id,
    causation_id, trace_parent, content_type, headers, payload), 0)) FROM onceward.outbox
)sql";

// A key's first bit tells random ids (1) from time-carrying ones (0), which go on with their seconds. The holes: the
// key's beginning in hex, where its random rest begins, and the numbers of the first and last row.
constexpr const char* fill_sql = R"sql(
INSERT INTO onceward.inbox (key, received_at, consumer, payload_hash, tenant, producer, id)
SELECT ({} || substr(random, {}))::uuid, now(), 1, sha256(int8send(number)), '', 'gateway', random
  FROM (SELECT number, gen_random_uuid()::text AS random FROM generate_series({}::bigint, {}::bigint) AS number) made
)sql";

// The same connection parameters with another database.
std::string with_database(const std::string& url, const char* database) {
  char* error = nullptr;
  PQconninfoOption* const options = PQconninfoParse(url.c_str(), &error);
  if (options == nullptr) throw std::runtime_error(fmt::format("{}: {}", url, error));
  std::string made = fmt::format("dbname={}", database);
  for (const PQconninfoOption* option = options; option->keyword != nullptr; ++option) {
    if (option->val == nullptr || std::string_view(option->keyword) == "dbname") continue;
    made += fmt::format(" {}='{}'", option->keyword, option->val);
  }
  PQconninfoFree(options);
  return made;
}

class OwnDatabase final : public PostgresDatabase {
 public:
  explicit OwnDatabase(const std::string& server_url)
      : server_(server_url), url_(with_database(server_url, database_name)) {
    drop();
    server_.run(fmt::format("CREATE DATABASE {}", database_name));
    open_postgres({.url = url_})->migrate();
    connection_ = std::make_unique<PostgresConnection>(url_);
    connection_->run(tables_sql);
  }
  ~OwnDatabase() override {
    connection_.reset();
    try {
      drop();
    } catch (const std::exception& error) {
      fmt::print(stderr, "{} stays: {}\n", database_name, error.what());
    }
  }

  std::string name() const override { return "postgres"; }
  const std::string& url() const override { return url_; }

  std::vector<std::string> settings() override {
    std::string line = fmt::format("PostgreSQL {}", connection_->value("SHOW server_version"));
    for (const char* setting : {"fsync", "synchronous_commit", "full_page_writes", "wal_level", "wal_sync_method",
                                "wal_compression", "shared_buffers", "max_wal_size", "checkpoint_timeout"}) {
      line += fmt::format(", {} {}", setting, connection_->value(fmt::format("SHOW {}", setting)));
    }
    return {line,
            "claim: key uuid, received_at, consumer int4, payload_hash 32 bytes, tenant, producer, id 36 characters;"
            " payment: 4 columns; balance: version-guarded upsert, folded; outbox: 17 columns, payload 200 bytes"};
  }

  std::unique_ptr<Store> open() override { return open_postgres({.url = url_}); }

  void reset() override {
    connection_->run(
        "TRUNCATE payment, balance, onceward.consumer, onceward.inbox, onceward.inbox_outcome, onceward.inbox_body,"
        " onceward.attempt, onceward.quarantine, onceward.outbox, onceward.position, onceward.ledger,"
        " onceward.ledger_attempt RESTART IDENTITY");
    connection_->run(reset_relay_sql);
    checkpoint();
  }

  void checkpoint() override { connection_->run("CHECKPOINT"); }

  std::uint64_t wal_bytes() override {
    return connection_->number("SELECT (pg_current_wal_insert_lsn() - '0/0')::bigint");
  }

  Meter meter() override {
    await_others();
    connection_->run("SELECT pg_stat_clear_snapshot()");
    return {wal_bytes(), connection_->number("SELECT wal_sync FROM pg_stat_wal")};
  }

  ContentsOf contents() override {
    ContentsOf found;
    for (const auto& row : connection_->run(contents_sql)) found[row[0]] = {std::stoull(row[1]), row[2]};
    return found;
  }

  void fill(Ids ids, std::uint64_t from, std::uint64_t to) override {
    const std::string time = fmt::format("lpad(to_hex({} + number / 1000), 8, '0')", key_seconds(0));
    const std::string random = "to_hex(8 + number % 8)";
    connection_->run(ids == Ids::time ? fmt::format(fill_sql, time, 9, from, to - 1)
                                      : fmt::format(fill_sql, random, 2, from, to - 1));
  }

  std::uint64_t inbox_bytes() override {
    return connection_->number("SELECT pg_total_relation_size('onceward.inbox')");
  }

  std::uint64_t dead_rows() override {
    std::uint64_t sum = 0;
    for (const auto& [table, dead] : dead_rows_by_table()) sum += dead;
    return sum;
  }
  DeadRows dead_rows_by_table() override {
    DeadRows found;
    for (const auto& row :
         connection_->run("SELECT relname, (pgstattuple(oid)).dead_tuple_count FROM pg_class WHERE relkind = 'r' AND"
                          " relnamespace IN ('onceward'::regnamespace, 'public'::regnamespace)")) {
      if (row[1] != "0") found[row[0]] = std::stoull(row[1]);
    }
    return found;
  }

  void vacuum() override { connection_->run("VACUUM"); }

 private:
  void drop() { server_.run(fmt::format("DROP DATABASE IF EXISTS {} WITH (FORCE)", database_name)); }

  // A backend adds its counts to the server's when it ends.
  void await_others() {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (connection_->number("SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'"
                               " AND datname = current_database() AND pid <> pg_backend_pid()") > 0) {
      if (std::chrono::steady_clock::now() > deadline) throw std::runtime_error("a connection was not closed");
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }

  PostgresConnection server_;
  std::string url_;
  std::unique_ptr<PostgresConnection> connection_;
};

}  // namespace

std::unique_ptr<PostgresDatabase> postgres_database(const std::string& server_url) {
  return std::make_unique<OwnDatabase>(server_url);
}

}  // namespace onceward::bench
