#include "src/effect/sql_text.h"

#include <gtest/gtest.h>

#include "onceward/fault.h"

namespace onceward {
namespace {

TEST(SqlText, FirstKeywordIsFoundBehindCommentsAndEmptyStatements) {
  EXPECT_EQ(first_keyword("  -- COMMIT\n /* a /* b */ */ ;; Insert INTO t"), "insert");
  EXPECT_EQ(first_keyword("/* never closed"), "");
  EXPECT_EQ(first_keyword(""), "");
}

TEST(SqlText, TransactionControlIsRecognisedHoweverItIsWritten) {
  for (const char* sql : {"COMMIT", ";commit", "/* x */ROLLBACK", "Savepoint a", "START TRANSACTION", "END",
                          "set transaction isolation level serializable", "--\nABORT"}) {
    EXPECT_TRUE(controls_transaction(sql)) << sql;
  }
  for (const char* sql : {"INSERT INTO commits VALUES (1)", "UPDATE t SET a = 1", "SELECT 'commit'", "settle"}) {
    EXPECT_FALSE(controls_transaction(sql)) << sql;
  }
}

TEST(SqlText, TableExpressionIsMergedIntoTheStatementsOwn) {
  EXPECT_EQ(with_table("m AS (SELECT 1)", "INSERT INTO t SELECT * FROM m"),
            "WITH m AS (SELECT 1) INSERT INTO t SELECT * FROM m");
  EXPECT_EQ(with_table("m AS (SELECT 1)", "/* x */ with a AS (SELECT 2) SELECT * FROM a, m"),
            "WITH m AS (SELECT 1), a AS (SELECT 2) SELECT * FROM a, m");
  EXPECT_THROW(with_table("m AS (SELECT 1)", "WITH /**/ RECURSIVE a AS (SELECT 1) SELECT 1"), Fault);
}

TEST(SqlText, QuotedIdentifierCannotEndEarly) { EXPECT_EQ(quoted("a\"b"), "\"a\"\"b\""); }

}  // namespace
}  // namespace onceward
