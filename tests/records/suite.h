// What people read and do in the store, on every store. What is in the tables is put there and looked at from outside.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

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
    const char* const numbers = postgres() ? "SELECT n FROM generate_series(1, {}) AS n"
                                           : "WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < "
                                             "{}) SELECT n FROM s";
    reader().run(fmt::format(
        "INSERT INTO {} (parked_at, consumer, fingerprint, reason, detail, tenant, producer, id, envelope, payload) "
        "SELECT {}, {}, {}, 'bad_field', '', '', 'shop', 'm' || n, '{{}}', {} FROM ({}) AS numbers",
        table("quarantine"), time_literal(1'700'000'000), enrolled_.number,
        postgres() ? "gen_random_uuid()" : "randomblob(16)", bytes_literal("00"),
        fmt::format(fmt::runtime(numbers), count)));
  }
  std::string parked_state(std::int64_t number) {
    return reader().value(fmt::format("SELECT state FROM {} WHERE number = {}", table("quarantine"), number));
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

  std::vector<Answer> apply(const Inbound& inbound, const Handler& handler = insert_effect) {
    return fixtures::apply(*store_, enrolled_, inbound, handler);
  }

  std::unique_ptr<StoreUnderTest> under_ = GetParam().make();
  std::unique_ptr<Store> store_ = under_->open();
  Declaration declaration_ = consumer_with_operation();
  Enrolled enrolled_ = store_->enroll(declaration_);

 private:
  std::int64_t fingerprints_ = 0;
};

inline std::string backend_name(const testing::TestParamInfo<Backend>& info) { return info.param.name; }

}  // namespace onceward::records

#define ONCEWARD_ON_EVERY_STORE(suite) \
  INSTANTIATE_TEST_SUITE_P(Store, suite, testing::ValuesIn(fixtures::backends()), backend_name)
