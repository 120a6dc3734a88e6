#include "adapters/sqlite/statement_cache.h"

#include <gtest/gtest.h>

namespace onceward::sqlite {
namespace {

int prepared(sqlite3* handle) {
  int count = 0;
  for (sqlite3_stmt* at = sqlite3_next_stmt(handle, nullptr); at != nullptr; at = sqlite3_next_stmt(handle, at))
    ++count;
  return count;
}

class StatementCaches : public testing::Test {
 protected:
  StatementCaches() { sqlite3_open(":memory:", &handle_); }
  ~StatementCaches() override { EXPECT_EQ(sqlite3_close(handle_), SQLITE_OK) << "a statement was left on the handle"; }
  sqlite3* handle_ = nullptr;
};

TEST_F(StatementCaches, SameTextIsPreparedOnce) {
  StatementCache cache(handle_);
  const std::string one = "SELECT 1", same = "SELECT 1", other = "SELECT 2";
  sqlite3_stmt* const first = cache.users(one).get();
  cache.users(other);
  EXPECT_EQ(cache.users(same).get(), first);
  EXPECT_EQ(prepared(handle_), 2);
}

TEST_F(StatementCaches, KeepsTheLastUsedAndNoMore) {
  StatementCache cache(handle_);
  sqlite3_stmt* const kept = cache.users("SELECT 'kept'").get();
  for (std::size_t i = 0; i < 3 * StatementCache::most_kept; ++i) {
    cache.users("SELECT " + std::to_string(i));
    EXPECT_EQ(cache.users("SELECT 'kept'").get(), kept);
  }
  EXPECT_EQ(prepared(handle_), static_cast<int>(StatementCache::most_kept));
}

TEST_F(StatementCaches, OursStayWhereTheyAre) {
  static constexpr std::string_view texts[] = {"SELECT 1", "SELECT 2", "SELECT 3", "SELECT 4", "SELECT 5"};
  StatementCache cache(handle_);
  Statement& first = cache.own(texts[0]);
  for (const std::string_view text : texts) cache.own(text).run();
  for (std::size_t i = 0; i < 2 * StatementCache::most_kept; ++i) cache.users("SELECT " + std::to_string(i));
  EXPECT_EQ(&cache.own(texts[0]), &first);
  EXPECT_EQ(cache.executed(), std::size(texts));
}

}  // namespace
}  // namespace onceward::sqlite
