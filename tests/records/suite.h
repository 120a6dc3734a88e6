// What people read and do in the store, on every store. What is in the tables is put there and looked at from outside.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "src/common/hex.h"
#include "tests/fixtures/store_under_test.h"

namespace onceward::records {

using namespace fixtures;  // NOLINT: the fixtures are the suite's vocabulary

class OnEveryStore : public testing::TestWithParam<Backend> {
 protected:
  struct Parked {
    std::string reason = "bad_field";
    std::string id = "m1";
    std::string key{};  // a UUID; empty: it was refused before it had one
    std::string state = "parked";
    std::int32_t consumer = 0;  // 0: the one of the suite
    std::string producer = "shop";
    std::string tenant = "main";
    std::int64_t at_seconds = 1'700'000'000;
  };

  struct Staged {
    std::string id = "m1";
    std::string state = "pending";  // else as outbox_waiting has it
    std::string type = "order.placed";
    std::string key = "order-1";
    std::int64_t at_seconds = 1'700'000'000;
  };

  struct Asked {
    std::string key = "capture/1";
    std::string state = "planned";
    std::string endpoint = "gateway";
    std::string requested_by{};
    std::string external_ref{};
    std::string business_key{};
    std::string tenant{};
    std::int64_t at_seconds = 1'700'000'000;
    std::int64_t not_before_seconds = 0;      // 0: none
    std::int64_t first_attempt_seconds = 0;   // 0: none
    std::int64_t approved_until_seconds = 0;  // 0: never approved
  };

  bool postgres() const { return !GetParam().name.starts_with("sqlite"); }
  std::string table(const std::string& name) const { return under_->table(name); }
  Reader& reader() { return under_->reader(); }

  // Literals of the store's own types.
  std::string literal(const Key& key) const {
    return postgres() ? fmt::format("'{}'", to_string(key)) : fmt::format("x'{}'", to_hex(key.bytes));
  }
  std::string key_literal(std::string uuid) const {
    if (postgres()) return "'" + uuid + "'";
    std::erase(uuid, '-');
    return "x'" + uuid + "'";
  }
  std::string time_literal(std::int64_t seconds) const {
    return postgres() ? fmt::format("to_timestamp({})", seconds) : fmt::format("{}", seconds * 1'000'000);
  }
  std::string bytes_literal(const std::string& hex) const {
    return postgres() ? fmt::format("'\\x{}'", hex) : fmt::format("x'{}'", hex);
  }

  std::string numbers_up_to(std::int64_t count) const {
    const std::string_view series = postgres() ? "SELECT n FROM generate_series(1, {}) AS n"
                                               : "WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE "
                                                 "n < {}) SELECT n FROM s";
    return fmt::format(fmt::runtime(series), count);
  }

  // A row of the quarantine, and its number.
  std::int64_t park(const Parked& row) {
    const std::string fingerprint = fmt::format("00000000-0000-4000-8000-{:012x}", ++fingerprints_);
    reader().run(fmt::format(
        "INSERT INTO {} (parked_at, consumer, fingerprint, reason, detail, tenant, producer, id, envelope, payload, key, "
        "attempts, state) VALUES ({}, {}, {}, '{}', 'it was refused', '{}', '{}', '{}', '{{}}', {}, {}, 3, '{}')",
        table("quarantine"), time_literal(row.at_seconds), row.consumer == 0 ? enrolled_.number : row.consumer,
        key_literal(fingerprint), row.reason, row.tenant, row.producer, row.id, bytes_literal("736563726574"),
        row.key.empty() ? "NULL" : key_literal(row.key), row.state));
    return reader().number("SELECT max(number) FROM " + table("quarantine"));
  }
  void park_many(std::int64_t count) {
    reader().run(fmt::format(
        "INSERT INTO {} (parked_at, consumer, fingerprint, reason, detail, tenant, producer, id, envelope, payload) "
        "SELECT {}, {}, {}, 'bad_field', '', '', 'shop', 'm' || n, '{{}}', {} FROM ({}) AS numbers",
        table("quarantine"), time_literal(1'700'000'000), enrolled_.number,
        postgres() ? "gen_random_uuid()" : "randomblob(16)", bytes_literal("00"), numbers_up_to(count)));
  }
  std::string parked_state(std::int64_t number) {
    return reader().value(fmt::format("SELECT state FROM {} WHERE number = {}", table("quarantine"), number));
  }

  // A row of the outbox, or of those that could not leave, and its number.
  std::int64_t stage(const Staged& row) {
    reader().run(fmt::format(
        "INSERT INTO {} (staged_at, consumer, cause, aggregate_version, id, type, key, tenant, aggregate_type, "
        "aggregate_id, correlation_id, causation_id, trace_parent, headers, payload) VALUES ({}, {}, {}, 7, '{}', '{}', "
        "'{}', 'main', 'order', 'o1', 'c1', 'm0', '00-1-2-01', '{{\"a\":\"b\"}}', {})",
        table("outbox"), time_literal(row.at_seconds), enrolled_.number,
        key_literal("80000000-0000-4000-8000-0000000000ff"), row.id, row.type, row.key, bytes_literal("736563726574")));
    const std::int64_t number = reader().number("SELECT max(position) FROM " + table("outbox"));
    if (row.state == "pending") return number;
    set_back(number, row.state);
    reader().run(fmt::format("DELETE FROM {} WHERE position = {}", table("outbox"), number));
    return number;
  }
  void set_back(std::int64_t number, const std::string& state) {
    const std::string_view copied =
        "position, staged_at, consumer, cause, aggregate_version, event_version, id, type, key, tenant, aggregate_type, "
        "aggregate_id, correlation_id, causation_id, trace_parent, content_type, headers, payload";
    reader().run(fmt::format(
        "INSERT INTO {} ({}, tick, slot, ordered, state, attempts, due_at, reason, detail, entered_at) SELECT {}, 2, 0, 1, '{}', 3, "
        "{}, 'returned', 'no queue is bound', {} FROM {} WHERE position = {}",
        table("outbox_waiting"), copied, copied, state, time_literal(1'900'000'000), time_literal(1'800'000'000),
        table("outbox"), number));
  }
  void stage_many(std::int64_t count, const std::string& state, std::int64_t above = 0) {
    reader().run(fmt::format(
        "INSERT INTO {} (position, staged_at, consumer, id, type, key, tenant, aggregate_type, aggregate_id, "
        "correlation_id, causation_id, trace_parent, content_type, headers, payload, tick, slot, state, attempts, due_at, "
        "reason, detail, entered_at) SELECT n + {}, {}, 0, 'm' || n, 'order.placed', '', '', '', '', '', '', '', '', '', {}, "
        "2, 0, '{}', 3, {}, 'returned', '', {} FROM ({}) AS numbers",
        table("outbox_waiting"), above, time_literal(1'700'000'000), bytes_literal("00"), state,
        time_literal(1'900'000'000), time_literal(1'800'000'000), numbers_up_to(count)));
  }
  std::string staged_state(std::int64_t number) {
    return reader().value(fmt::format("SELECT state FROM {} WHERE position = {}", table("outbox_waiting"), number));
  }
  std::int64_t staged_in(const std::string& state) {
    return reader().number(fmt::format("SELECT count(*) FROM {} WHERE state = '{}'", table("outbox_waiting"), state));
  }

  // A row of the ledger, and its number.
  std::int64_t ask(const Asked& row) {
    const bool open = row.state == "planned" || row.state == "attempting" || row.state == "waiting" ||
                      row.state == "approved" || row.state == "unknown";
    const auto time = [&](std::int64_t seconds) { return seconds == 0 ? std::string("NULL") : time_literal(seconds); };
    reader().run(fmt::format(
        "INSERT INTO {} (key, created_at, not_before, consumer, cause, request_hash, endpoint, idempotency_key, type, "
        "business_key, tenant, correlation_id, trace_parent, body, state, due_at, attempts, look_ups, last_attempt, "
        "first_attempt_at, external_ref, code, detail, requested_by, approved_until) VALUES ({}, {}, {}, {}, {}, {}, '{}', "
        "'{}', 'capture', '{}', '{}', 'c1', '00-1-2-01', {}, '{}', {}, 3, 2, 1, {}, '{}', 'code', 'what was said', '{}', "
        "{})",
        table("ledger"), key_literal(fmt::format("90000000-0000-4000-8000-{:012x}", ++calls_)),
        time_literal(row.at_seconds), time(row.not_before_seconds), enrolled_.number,
        key_literal("80000000-0000-4000-8000-0000000000ff"), bytes_literal("00"), row.endpoint, row.key,
        row.business_key, row.tenant, bytes_literal("736563726574"), row.state,
        open ? time_literal(row.at_seconds) : "NULL", time(row.first_attempt_seconds), row.external_ref,
        row.requested_by, time(row.approved_until_seconds)));
    return reader().number("SELECT max(number) FROM " + table("ledger"));
  }
  // An attempt at it that a dispatcher has made.
  void attempt_at(std::int64_t number, const std::string& outcome) {
    reader().run(fmt::format(
        "INSERT INTO {} (key, number, kind, who, began_at, ended_at, outcome, status, response_hash, external_ref, detail) "
        "SELECT key, 1, 'call', 'host/1', {}, {}, '{}', 500, {}, '', 'it said so' FROM {} WHERE number = {}",
        table("ledger_attempt"), time_literal(1'700'000'100), time_literal(1'700'000'101), outcome, bytes_literal("ab"),
        table("ledger"), number));
  }
  void ask_many(std::int64_t count, const std::string& state, const std::string& endpoint = "gateway") {
    const std::string key = postgres() ? "gen_random_uuid()" : "randomblob(16)";
    reader().run(fmt::format(
        "INSERT INTO {} (key, created_at, consumer, request_hash, endpoint, idempotency_key, type, business_key, tenant, "
        "correlation_id, trace_parent, body, state, due_at) SELECT {}, {}, 0, {}, '{}', 'k' || n, '', '', '', '', '', {}, "
        "'{}', {} FROM ({}) AS numbers",
        table("ledger"), key, time_literal(1'700'000'000), bytes_literal("00"), endpoint, bytes_literal("00"), state,
        state == "failed" ? "NULL" : time_literal(1'700'000'000), numbers_up_to(count)));
  }
  std::string call_state(std::int64_t number) {
    return reader().value(fmt::format("SELECT state FROM {} WHERE number = {}", table("ledger"), number));
  }
  std::int64_t calls_in(const std::string& state) {
    return reader().number(fmt::format("SELECT count(*) FROM {} WHERE state = '{}'", table("ledger"), state));
  }

  // The outcome of a claimed message, beside its inbox row.
  void put_outcome(const std::string& uuid, State state, bool waits = false) {
    reader().run(fmt::format(
        "INSERT INTO {} (key, received_at, consumer, payload_hash, tenant, producer, id) VALUES ({}, {}, {}, {}, '', "
        "'shop', '{}')",
        table("inbox"), key_literal(uuid), time_literal(1'700'000'000), enrolled_.number, bytes_literal("00"), uuid));
    reader().run(fmt::format(
        "INSERT INTO {} (key, consumer, state, code, result, next_attempt_at, recorded_at) VALUES ({}, {}, {}, 'code', "
        "{}, {}, {})",
        table("inbox_outcome"), key_literal(uuid), enrolled_.number, static_cast<int>(state), bytes_literal(""),
        waits ? time_literal(1'700'000'100) : "NULL", time_literal(1'700'000'000)));
  }

  // The database is shared by tests: the table comes back.
  void without_audit(const std::function<void()>& work) {
    const std::string prefix = postgres() ? "" : "onceward_";
    reader().run(fmt::format("ALTER TABLE {} RENAME TO {}audit_away", table("audit"), prefix));
    work();
    reader().run(fmt::format("ALTER TABLE {} RENAME TO {}audit", table("audit_away"), prefix));
  }

  std::vector<Answer> apply(const Inbound& inbound, const fixtures::Handler& handler = insert_effect) {
    return fixtures::apply(*store_, enrolled_, inbound, handler);
  }

  std::unique_ptr<StoreUnderTest> under_ = GetParam().make();
  std::unique_ptr<Store> store_ = under_->open();
  Declaration declaration_ = consumer_with_operation();
  Enrolled enrolled_ = store_->enroll(declaration_);

 private:
  std::int64_t fingerprints_ = 0;
  std::int64_t calls_ = 0;
};

inline std::string backend_name(const testing::TestParamInfo<Backend>& info) { return info.param.name; }

}  // namespace onceward::records

#define ONCEWARD_ON_EVERY_STORE(suite) \
  INSTANTIATE_TEST_SUITE_P(Store, suite, testing::ValuesIn(fixtures::backends()), backend_name)
