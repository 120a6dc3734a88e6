// A handler's SQL over the messages of a batch, the same text on every store.
#include "src/effect/sql_effect.h"

#include <numeric>

#include "tests/conformance/suite.h"

namespace onceward {
namespace {

using namespace std::chrono_literals;
using Indexes = std::vector<std::uint32_t>;

constexpr Timestamp received{1'700'000'000'000'000us};

class SqlEffects : public OnEveryStore {
 protected:
  SqlEffects() {
    declaration_.fields = {{"account", "/account", FieldType::int64},
                           {"amount", "/amount", FieldType::decimal, 2},
                           {"note", "/note", FieldType::text, 0, true}};
    under_->reader().run(
        "CREATE TABLE payment (id text PRIMARY KEY, account bigint NOT NULL, amount numeric(20, 2) NOT NULL CHECK (amount "
        "> 0), note text)");
    under_->reader().run("CREATE TABLE account (id bigint PRIMARY KEY, balance numeric(20, 2) NOT NULL)");
  }

  static Message paid(const std::string& id, int account, const std::string& amount) {
    return {.id = id, .payload = "{\"account\":" + std::to_string(account) + ",\"amount\":" + amount + "}"};
  }
  // Runs the statements over these messages of the batch, all of them if none are named, in one committed unit.
  void run(const std::vector<std::string>& statements, const Inbound& inbound, Indexes indexes = {}) {
    if (indexes.empty()) {
      indexes.resize(inbound.size());
      std::iota(indexes.begin(), indexes.end(), 0u);
    }
    SqlEffect effect(statements, declaration_);
    effect.begin(inbound.claimants(), received);
    for (const std::uint32_t index : indexes) ASSERT_EQ(effect.take(index), std::nullopt);
    auto unit = begin();
    unit->claim(inbound.claimants());
    effect.run(unit->whole(), indexes);
    ASSERT_EQ(unit->commit(), Commit::committed);
  }
  bool typed() const { return GetParam().capabilities.typed_columns; }
  // Decimals are numbers on one store, and minor units on the other.
  std::string amount(std::int64_t cents) const { return typed() ? fixed(cents) : std::to_string(cents); }
  static std::string fixed(std::int64_t cents) {
    return std::to_string(cents / 100) + "." + std::to_string(cents / 10 % 10) + std::to_string(cents % 10);
  }
  TextRows payments() { return under_->reader().read("SELECT id, account, amount, note FROM payment ORDER BY id"); }

  const std::string insert_ = "INSERT INTO payment SELECT message_id, account, amount, note FROM messages";
};
ONCEWARD_ON_EVERY_STORE(SqlEffects);

TEST_P(SqlEffects, InsertReadsIdsAndDeclaredFields) {
  run({insert_}, {declaration_, {paid("a", 1, "12.34"), paid("b", 2, "\"0.5\"")}});
  EXPECT_EQ(payments(), (TextRows{{"a", "1", amount(1234), std::nullopt}, {"b", "2", amount(50), std::nullopt}}));
}

TEST_P(SqlEffects, StatementsRunInOrderEachWithItsOwnColumns) {
  under_->reader().run("INSERT INTO account VALUES (1, 0), (2, 0)");
  run({insert_,
       "UPDATE account SET balance = balance + m.sum FROM (SELECT account, sum(amount) AS sum FROM messages GROUP BY "
       "account) m WHERE m.account = account.id",
       "DELETE FROM payment WHERE id IN (SELECT message_id FROM messages WHERE account = 2)"},
      {declaration_, {paid("a", 1, "1"), paid("b", 2, "2"), paid("c", 1, "3")}});
  EXPECT_EQ(under_->reader().read("SELECT id, balance FROM account ORDER BY id"),
            (TextRows{{"1", amount(400)}, {"2", amount(200)}}));
  EXPECT_EQ(payments().size(), 2u);
}

TEST_P(SqlEffects, UpdateJoinsTheMessagesByName) {
  under_->reader().run("INSERT INTO account VALUES (1, 0), (2, 0)");
  run({"UPDATE account SET balance = messages.amount FROM messages WHERE messages.account = account.id"},
      {declaration_, {paid("a", 2, "7.5")}});
  EXPECT_EQ(under_->reader().value("SELECT balance FROM account WHERE id = 2"), amount(750));
}

TEST_P(SqlEffects, ConflictsAreResolvedByTheStatement) {
  under_->reader().run("INSERT INTO account VALUES (1, 0)");
  run({"INSERT INTO account SELECT account, amount FROM messages WHERE true "
       "ON CONFLICT (id) DO UPDATE SET balance = account.balance + excluded.balance"},
      {declaration_, {paid("a", 1, "5"), paid("b", 2, "6")}});
  EXPECT_EQ(under_->reader().read("SELECT id, balance FROM account ORDER BY id"),
            (TextRows{{"1", amount(500)}, {"2", amount(600)}}));
}

TEST_P(SqlEffects, StatementMayHaveTablesOfItsOwn) {
  run({"WITH large AS (SELECT message_id, account, amount FROM messages WHERE account > 1) "
       "INSERT INTO payment (id, account, amount) SELECT * FROM large"},
      {declaration_, {paid("a", 1, "5"), paid("b", 2, "6")}});
  EXPECT_EQ(payments(), (TextRows{{"b", "2", amount(600), std::nullopt}}));
}

TEST_P(SqlEffects, StarReadsEveryColumnInItsOrder) {
  run({"INSERT INTO effect (message, note) SELECT message_id, note FROM (SELECT * FROM messages) everything"},
      {declaration_, {{.id = "a", .payload = R"({"account":1,"amount":1,"note":"n"})"}}});
  EXPECT_EQ(under_->reader().read("SELECT message, note FROM effect"), (TextRows{{"a", "n"}}));
}

TEST_P(SqlEffects, EveryColumnHasItsType) {
  under_->reader().run(
      typed()
          ? "CREATE TABLE whole (id text, type text, version bigint, tenant text, producer text, correlation text, "
            "occurred timestamptz, received timestamptz, mode text, headers jsonb, payload bytea, hash bytea, key uuid, "
            "ordinal bigint)"
          : "CREATE TABLE whole (id, type, version, tenant, producer, correlation, occurred, received, mode, headers, "
            "payload, hash, key, ordinal)");
  const Inbound inbound(declaration_, {paid("a", 1, "1")});
  run({"INSERT INTO whole SELECT message_id, type, event_version, tenant, producer, correlation_id, occurred_at, "
       "received_at, mode, headers, payload, payload_hash, message_key, ordinal FROM messages"},
      inbound);
  EXPECT_EQ(
      under_->reader().read(
          typed()
              ? "SELECT id, type, version, tenant, producer, correlation, occurred, received = "
                "'2023-11-14 22:13:20+00', mode, headers ->> 'tenant', convert_from(payload, 'UTF8'), length(hash), key, "
                "ordinal FROM whole"
              : "SELECT id, type, version, tenant, producer, correlation, occurred, CASE WHEN received = "
                "1700000000000000 THEN 't' END, mode, json_extract(headers, '$.tenant'), CAST(payload AS text), "
                "length(hash), key, ordinal FROM whole"),
      (TextRows{{"a", std::nullopt, std::nullopt, "main", "shop", "journey", std::nullopt, "t", "live", "main",
                 R"({"account":1,"amount":1})", "32", to_string(inbound.claimants()[0].key), "0"}}));
}

TEST_P(SqlEffects, OnlyTheNamedPartOfTheBatchIsARow) {
  run({insert_, "INSERT INTO effect (message) SELECT count(*) FROM messages"},
      {declaration_, {paid("a", 1, "1"), paid("b", 2, "2"), paid("c", 3, "3")}}, {0, 2});
  EXPECT_EQ(payments(), (TextRows{{"a", "1", amount(100), std::nullopt}, {"c", "3", amount(300), std::nullopt}}));
  EXPECT_EQ(under_->reader().value("SELECT message FROM effect"), "2");
}

TEST_P(SqlEffects, PartsOfABatchThatFailedCanBeRunAgain) {
  const Inbound inbound(declaration_, {paid("a", 1, "1"), paid("b", 2, "-2"), paid("c", 3, "3")});
  SqlEffect effect(std::vector{insert_}, declaration_);
  effect.begin(inbound.claimants(), received);
  for (std::uint32_t index = 0; index < 3; ++index) ASSERT_EQ(effect.take(index), std::nullopt);
  const auto attempt = [&](const Indexes& indexes) {
    auto unit = begin();
    try {
      effect.run(unit->whole(), indexes);
      return unit->commit() == Commit::committed;
    } catch (const Fault& fault) {
      EXPECT_EQ(fault.fault(), FaultCode::constraint_violated);
      return false;
    }
  };
  EXPECT_FALSE(attempt({0, 1, 2}));
  EXPECT_TRUE(attempt({0}));
  EXPECT_FALSE(attempt({1}));
  EXPECT_TRUE(attempt({2}));
  EXPECT_EQ(payments().size(), 2u);
}

TEST_P(SqlEffects, RunsNothingOverNoMessages) {
  const Inbound inbound(declaration_, {paid("a", 1, "1")});
  SqlEffect effect(std::vector<std::string>{"INSERT INTO effect (message) VALUES ('x')"}, declaration_);
  effect.begin(inbound.claimants(), received);
  auto unit = begin();
  effect.run(unit->whole(), {});
  ASSERT_EQ(unit->commit(), Commit::committed);
  EXPECT_EQ(under_->effects(), 0);
}

TEST_P(SqlEffects, MessagesWinOverATableOfThatName) {
  under_->reader().run("CREATE TABLE messages (message_id text)");
  run({"INSERT INTO effect (message) SELECT message_id FROM messages"}, {declaration_, {paid("a", 1, "1")}});
  EXPECT_EQ(under_->reader().value("SELECT message FROM effect"), "a");
}

}  // namespace
}  // namespace onceward
