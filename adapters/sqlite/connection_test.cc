#include "adapters/sqlite/connection.h"

#include <gtest/gtest.h>

#include <thread>

#include "tests/fixtures/process.h"

namespace onceward::sqlite {
namespace {

#ifndef NDEBUG
TEST(SqliteConnectionsDeathTest, TwoThreadsAtOnceEndTheProcess) {
  const fixtures::TemporaryDirectory directory;
  const SqliteOptions options{.path = directory.path() + "/store.db"};
  const auto both = [&] {
    Connection other(options, sqlite3_libversion_number()), connection(options, sqlite3_libversion_number());
    other.begin();
    const std::jthread second([&] { connection.begin(); });
    connection.begin();  // one of them waits for the lock, and the other comes in
  };
  EXPECT_DEATH(both(), "two threads at once");
}
#endif

}  // namespace
}  // namespace onceward::sqlite
