#include "src/effect/sql_columns.h"

#include <gtest/gtest.h>

#include <array>

namespace onceward {
namespace {

constexpr std::array<std::string_view, 4> columns{"id", "amount", "payload", "headers"};

// The names of the columns, or "all".
std::string read_by(std::string_view sql) {
  const auto numbers = columns_read(sql, "messages", columns);
  if (numbers.size() == columns.size()) return "all";
  std::string names;
  for (const std::uint32_t number : numbers) names += (names.empty() ? "" : " ") + std::string(columns[number]);
  return names;
}

TEST(SqlColumns, AreThoseThatTheStatementNames) {
  EXPECT_EQ(read_by("INSERT INTO payment SELECT id, amount FROM messages"), "id amount");
  EXPECT_EQ(read_by("INSERT INTO payment SELECT M.ID FROM Messages M WHERE m.\"amount\" > 0"), "id amount");
  EXPECT_EQ(read_by("UPDATE a SET x = x + m.amount FROM messages AS m WHERE a.k = m.id"), "id amount");
  EXPECT_EQ(read_by("INSERT INTO a SELECT \"ID\", [amount], `payload` FROM messages"), "id amount payload");
  EXPECT_EQ(read_by("DELETE FROM a WHERE k IN (SELECT id FROM messages)"), "id");
  EXPECT_EQ(read_by("DELETE FROM a USING messages m WHERE a.k = m.id"), "id");
  EXPECT_EQ(read_by("MERGE INTO a USING messages m ON a.k = m.id WHEN MATCHED THEN DELETE"), "id");
  EXPECT_EQ(read_by("SELECT a.k FROM a, messages m WHERE m.id = a.k"), "id");
  EXPECT_EQ(read_by("SELECT a.k FROM a JOIN messages USING (id)"), "id");
  EXPECT_EQ(read_by("SELECT identity, amounts FROM messages"), "");
}

TEST(SqlColumns, InStringsAndCommentsAreNotNamed) {
  EXPECT_EQ(read_by("INSERT INTO a SELECT jsonb_build_object('payload', id) FROM messages -- headers"), "id");
  EXPECT_EQ(read_by("/* SELECT * */ INSERT INTO a SELECT id, $$ headers $$ FROM messages"), "id");
}

TEST(SqlColumns, CountsAndProductsAreNotAll) {
  EXPECT_EQ(read_by("INSERT INTO a SELECT count(*) FROM messages"), "");
  EXPECT_EQ(read_by("INSERT INTO a SELECT count( * ), 2 * amount, amount*2, (amount) * 3 FROM messages"), "amount");
  EXPECT_EQ(read_by("INSERT INTO a SELECT sum(amount) * 2 AS all_of_it FROM messages"), "amount");
}

TEST(SqlColumns, AreAllOfThemForAStar) {
  for (const char* sql :
       {"INSERT INTO a SELECT * FROM messages", "INSERT INTO a SELECT m.* FROM messages m",
        "INSERT INTO a SELECT 1, * FROM messages", "INSERT INTO a SELECT DISTINCT * FROM messages",
        "INSERT INTO a SELECT ALL/**/* FROM messages", "INSERT INTO a SELECT DISTINCT ON (id) * FROM messages",
        "INSERT INTO a SELECT DISTINCT ON (id) *, 1 FROM messages",
        "WITH x AS (DELETE FROM a USING messages m WHERE a.k = m.id RETURNING *) INSERT INTO b SELECT x.k FROM x"})
    EXPECT_EQ(read_by(sql), "all") << sql;
}

TEST(SqlColumns, AreAllOfThemForAWholeRow) {
  for (const char* sql :
       {"INSERT INTO a SELECT to_jsonb(m) FROM messages m", "INSERT INTO a SELECT to_jsonb(m) FROM messages AS m",
        "INSERT INTO a SELECT row_to_json(messages) FROM messages", "INSERT INTO a SELECT id, messages FROM messages",
        "INSERT INTO a SELECT id, m FROM messages m", "INSERT INTO a SELECT count(m) FROM messages \"m\"",
        "INSERT INTO a TABLE messages", "INSERT INTO a SELECT k FROM b NATURAL JOIN messages",
        "INSERT INTO a SELECT x FROM messages AS m (x, y)", "INSERT INTO a SELECT x FROM messages m(x)",
        "INSERT INTO a SELECT x FROM messages AS \"m\" (x)"})
    EXPECT_EQ(read_by(sql), "all") << sql;
}

}  // namespace
}  // namespace onceward
