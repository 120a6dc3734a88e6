#include "src/declaration/sql_names.h"

#include <gtest/gtest.h>

namespace onceward::declaration {
namespace {

TEST(SqlNames, TakeWhatNeedsNoQuotes) {
  for (const char* name : {"amount", "order_id", "a1", "account"})
    EXPECT_FALSE(wrong_with_column(name).has_value()) << name;
  EXPECT_FALSE(wrong_with_column(std::string(most_column_bytes, 'a')).has_value());
}

TEST(SqlNames, RefuseTheRestWithABetterName) {
  EXPECT_EQ(wrong_with_column("orderId")->hint, "write order_id");
  EXPECT_EQ(wrong_with_column("Order-Id")->hint, "write order_id");
  EXPECT_EQ(wrong_with_column("order id")->hint, "write order_id");
  for (const char* name : {"", "1st", "_a", "a\"b", "a;b", "\xc3\xbc"})
    EXPECT_EQ(wrong_with_column(name)->what, "is not the name of a column") << name;
  EXPECT_EQ(wrong_with_column(std::string(most_column_bytes + 1, 'a'))->what, "has 64 bytes, more than 63");
  EXPECT_EQ(wrong_with_column("onceward_key")->what, "begins with onceward_");
}

TEST(SqlNames, RefuseReservedWords) {
  for (const char* name : {"order", "user", "select", "offset", "group", "index", "transaction"})
    EXPECT_EQ(wrong_with_column(name)->what, "is a reserved word of SQL") << name;
}

TEST(SqlNames, RefuseTheColumnsOfEveryMessage) {
  for (const std::string_view name : message_columns())
    EXPECT_EQ(wrong_with_column(name)->what, "is a column that every message has") << name;
}

}  // namespace
}  // namespace onceward::declaration
