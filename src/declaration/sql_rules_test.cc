#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/declaration/rules.h"

namespace onceward::declaration {
namespace {

using testing::HasSubstr;

// What is wrong with the only statement; empty for nothing.
std::string wrong_with(const std::string& sql) {
  Findings findings;
  check_sql({sql}, Path("sql"), findings);
  return findings.all().empty() ? std::string() : findings.all()[0].message;
}

TEST(SqlRules, TakeOneStatementThatCanReadARelation) {
  for (const char* sql :
       {"INSERT INTO payment SELECT message_id FROM messages", "update a set b = 1;", " -- why\n DELETE FROM a ; ",
        "/* a; b */ WITH x AS (SELECT 1) INSERT INTO a SELECT * FROM x",
        "MERGE INTO a USING messages m ON a.id = m.type", "REPLACE INTO a SELECT message_id FROM messages",
        "SELECT book(message_id) FROM messages", "INSERT INTO a VALUES ('; COMMIT')", "INSERT INTO \"a;b\" SELECT 1",
        "INSERT INTO a VALUES ($tag$ ; $1 $tag$)", "INSERT INTO recursive SELECT 1",
        "WITH r AS (WITH RECURSIVE x AS (SELECT 1) SELECT 1) INSERT INTO a SELECT 1"})
    EXPECT_EQ(wrong_with(sql), "") << sql;
}

TEST(SqlRules, RefuseWhatTouchesTheTransaction) {
  for (const char* sql : {"BEGIN", "commit", ";ROLLBACK", "/**/ SAVEPOINT a", "RELEASE a", "END", "START TRANSACTION",
                          "PREPARE TRANSACTION 'a'", "SET LOCAL x = 1", "PRAGMA a", "ATTACH 'a' AS b", "VACUUM",
                          "CREATE TABLE a (b text)", "LOCK TABLE a", "CALL a()", "DO $$ $$", "COPY a FROM STDIN"})
    EXPECT_THAT(wrong_with(sql), testing::AnyOf(HasSubstr("begins with \""), HasSubstr("does not begin with"))) << sql;
}

TEST(SqlRules, RefuseWhatIsNotOneStatement) {
  EXPECT_EQ(wrong_with(" -- nothing\n;"), "holds no statement");
  EXPECT_EQ(wrong_with("(SELECT 1)"), "does not begin with a word of SQL");
  EXPECT_EQ(wrong_with("DELETE FROM a; COMMIT"), "holds several statements");
  EXPECT_EQ(wrong_with("DELETE FROM a /* ; */ ; -- \n DELETE FROM b"), "holds several statements");
  EXPECT_EQ(wrong_with("INSERT INTO a VALUES (E'\\''); COMMIT; --'"), "holds several statements");
  EXPECT_EQ(wrong_with("with /**/ Recursive x AS (SELECT 1) SELECT 1"), "begins with WITH RECURSIVE");
  EXPECT_EQ(wrong_with("INSERT INTO a VALUES ($1)"), "has a parameter");
  EXPECT_EQ(wrong_with(std::string("DELETE FROM a\0", 14)), "holds a NUL byte");
  EXPECT_EQ(wrong_with("DELETE FROM \xff"), "is not valid UTF-8");
}

TEST(SqlRules, HaveLimits) {
  std::string sql = "DELETE FROM a ";
  sql.resize(64 << 10, ' ');
  EXPECT_EQ(wrong_with(sql), "");
  EXPECT_EQ(wrong_with(sql + " "), "has 65537 bytes, more than 65536");
  Findings findings;
  check_sql(std::vector<std::string>(32, "DELETE FROM a"), Path("sql"), findings);
  EXPECT_TRUE(findings.all().empty());
  check_sql(std::vector<std::string>(33, "DELETE FROM a"), Path("sql"), findings);
  EXPECT_EQ(findings.all().at(0).message, "33 statements, more than 32");
}

}  // namespace
}  // namespace onceward::declaration
