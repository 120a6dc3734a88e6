#include "adapters/postgres/column.h"

#include <gtest/gtest.h>

namespace onceward::postgres {
namespace {

TEST(PostgresColumn, IsOneValueWhileAllRowsAgree) {
  Column column("tenant", text_type);
  for (int row = 0; row < 3; ++row) column.add("eu");
  const Parameter parameter = column.parameter();
  EXPECT_EQ(set_insert("t", {&column}).sql, "INSERT INTO onceward.t (tenant) SELECT $1::text");
  EXPECT_EQ(parameter.type, text_type.element);
  EXPECT_EQ(std::string_view(parameter.data, 2), "eu");
}

TEST(PostgresColumn, BecomesAnArrayAtTheFirstRowThatDiffers) {
  Column column("tenant", text_type);
  column.add("eu");
  column.add("eu");
  column.add("us");
  const Parameter parameter = column.parameter();
  EXPECT_EQ(set_insert("t", {&column}).sql,
            "INSERT INTO onceward.t (tenant) SELECT a0 FROM (SELECT unnest($1::text[]) AS a0) rows");
  EXPECT_EQ(parameter.type, text_type.array);
  const std::string expected("\0\0\0\1\0\0\0\0\0\0\0\x19\0\0\0\3\0\0\0\1\0\0\0\2eu\0\0\0\2eu\0\0\0\2us", 38);
  EXPECT_EQ(std::string(parameter.data, static_cast<std::size_t>(parameter.length)), expected);
}

TEST(PostgresColumn, ColumnsOfTheSameValuesShareAnArray) {
  Column id("id", text_type), tenant("tenant", text_type), cause("cause", text_type), key("key", bytea_type);
  for (const char* value : {"a", "b"}) {
    id.add(value);
    tenant.add("eu");
    cause.add(value);
    key.add(value);
  }
  const SetInsert insert = set_insert("t", {&id, &tenant, &cause, &key});
  EXPECT_EQ(insert.sql,
            "INSERT INTO onceward.t (id, tenant, cause, key) SELECT a0, $2::text, a0, a1 "
            "FROM (SELECT unnest($1::text[]) AS a0, unnest($3::bytea[]) AS a1) rows");
  EXPECT_EQ(insert.parameters.size(), 3u);
}

TEST(PostgresColumn, TellsNullFromEmpty) {
  Column column("original", text_type);
  column.add("");
  column.add_null();
  EXPECT_FALSE(column.uniform());
  const Parameter parameter = column.parameter();
  EXPECT_EQ(parameter.data[7], 1);  // the array holds a null
}

TEST(PostgresColumn, IntegersHaveTheWidthOfTheirType) {
  Column narrow("state", int2_type), wide("version", int8_type);
  narrow.add(std::int64_t{6});
  wide.add(std::int64_t{-1});
  EXPECT_EQ(std::string(narrow.parameter().data, 2), std::string("\0\6", 2));
  EXPECT_EQ(std::string(wide.parameter().data, 8), std::string(8, '\xff'));
}

TEST(PostgresColumn, TimesCountFromTheYear2000) {
  EXPECT_EQ(postgres_micros(Timestamp(std::chrono::sys_days(std::chrono::January / 1 / 2000))), 0);
  EXPECT_EQ(from_postgres_micros(1),
            Timestamp(std::chrono::sys_days(std::chrono::January / 1 / 2000)) + std::chrono::microseconds(1));
}

}  // namespace
}  // namespace onceward::postgres
