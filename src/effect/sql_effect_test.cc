// What stores make of it stands in tests/conformance/sql_effect_test.cc.
#include "src/effect/sql_effect.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace onceward {
namespace {

TEST(SqlEffect, StatementsThatCouldNotBeDeclaredAreRefused) {
  const Declaration declaration;
  for (const char* sql : {"INSERT INTO a SELECT $1 FROM messages", "COMMIT", "DELETE FROM a; DELETE FROM b", ""})
    EXPECT_THROW(SqlEffect(std::vector<std::string>{sql}, declaration), std::invalid_argument) << sql;
  EXPECT_NO_THROW(SqlEffect(std::vector<std::string>{"INSERT INTO a SELECT message_id FROM messages"}, declaration));
}

}  // namespace
}  // namespace onceward
