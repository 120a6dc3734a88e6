// What the fault tests on PostgreSQL share: a database with our tables and an effect table, and plain looks at it.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "onceward/adapter/postgres.h"
#include "tests/fixtures/messages.h"
#include "tests/fixtures/reader.h"

namespace onceward::faults {

using namespace fixtures;  // NOLINT: the fixtures are the suite's vocabulary

inline Enrolled prepare_database(const std::string& url, const Declaration& declaration) {
  auto store = open_postgres({.url = url});
  store->migrate();
  read_postgres(url)->run(
      "SET client_min_messages = warning; CREATE TABLE IF NOT EXISTS effect (message text NOT NULL, note text)");
  return store->enroll(declaration);
}

// Inbox row, effect, outgoing message and call: together or not at all, each once. Read by plain libpq or sqlite3.
inline void expect_all_or_nothing(Reader& reader, const std::string& prefix) {
  for (const auto& [table, column] : {std::pair<std::string, std::string>{"effect", "message"},
                                      {prefix + "outbox", "causation_id"},
                                      {prefix + "ledger", "idempotency_key"}}) {
    const std::string names = "SELECT " + column + " FROM " + table;
    const std::string ids = "SELECT id FROM " + prefix + "inbox";
    EXPECT_EQ(reader.number("SELECT count(*) FROM (" + names + " EXCEPT " + ids + ") AS extra"), 0) << table;
    EXPECT_EQ(reader.number("SELECT count(*) FROM (" + ids + " EXCEPT " + names + ") AS missing"), 0) << table;
    EXPECT_EQ(reader.number("SELECT count(*) - count(DISTINCT " + column + ") FROM " + table), 0) << table;
  }
}

inline Outcome leave_one_of_each(const Envelope& envelope, Transaction& transaction) {
  insert_effect(envelope, transaction);
  transaction.stage(Outgoing{.type = "captured", .key = "k", .payload = "{}"});
  transaction.stage(Call{.endpoint = "gateway", .key = envelope.message_id().text(), .body = "{}"});
  return Done{};
}

using Verdicts = std::vector<Verdict>;

}  // namespace onceward::faults
