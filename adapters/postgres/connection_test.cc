#include "adapters/postgres/connection.h"

#include <gtest/gtest.h>

#include <thread>

#include "tests/fixtures/postgres_database.h"

namespace onceward::postgres {
namespace {

#ifndef NDEBUG
TEST(PostgresConnectionsDeathTest, TwoThreadsAtOnceEndTheProcess) {
  PostgresOptions options;
  options.url = fixtures::shared_database().url();
  const auto both = [&] {
    Connection connection(options);
    const std::jthread second([&] { connection.run_script("SELECT pg_sleep(1)"); });
    connection.run_script("SELECT pg_sleep(1)");
  };
  EXPECT_DEATH(both(), "two threads at once");
}
#endif

}  // namespace
}  // namespace onceward::postgres
