#include "src/records/statement.h"

#include <gtest/gtest.h>

namespace onceward::records {
namespace {

TEST(RecordsStatement, IsWrittenForEachDialect) {
  Statement postgres(Dialect::postgres, "SELECT {micros at} FROM {attempt} WHERE at < {now} AND number ");
  EXPECT_EQ(postgres.bind_any(std::vector<std::int64_t>{1, 2}).add(" {lock}").text(),
            "SELECT (extract(epoch FROM at) * 1000000)::bigint FROM onceward.attempt WHERE at < clock_timestamp() AND "
            "number = ANY($1::bigint[]) FOR UPDATE");
  Statement sqlite(Dialect::sqlite, "SELECT {micros at} FROM {attempt} WHERE id = ");
  EXPECT_EQ(sqlite.bind("x").add(" AND number ").bind_any(std::vector<std::int64_t>{1}).text(),
            "SELECT at FROM onceward_attempt WHERE id = $1 AND number IN (SELECT value FROM json_each($2))");
  Statement texts(Dialect::postgres, "SELECT 1 FROM {outbox} WHERE key ");
  EXPECT_EQ(texts.bind_any(std::vector<std::string>{"a"}).text(),
            "SELECT 1 FROM onceward.outbox WHERE key = ANY(ARRAY(SELECT jsonb_array_elements_text($1::jsonb)))");
}

TEST(RecordsStatement, KeysAreReadAsPeopleWriteThem) {
  EXPECT_EQ(to_string(key_named("80000000-ABCD-4000-8000-0123456789ef").value()),
            "80000000-abcd-4000-8000-0123456789ef");
  for (const char* text : {"", "80000000-abcd-4000-8000-0123456789e", "80000000+abcd-4000-8000-0123456789ef",
                           "8000000g-abcd-4000-8000-0123456789ef", "80000000-abcd-4000-80000-123456789ef"}) {
    EXPECT_FALSE(key_named(text)) << text;
  }
}

}  // namespace
}  // namespace onceward::records
