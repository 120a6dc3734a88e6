#include "adapters/sqlite/rows.h"

#include <gtest/gtest.h>

#include <array>

#include "adapters/sqlite/statement.h"
#include "tests/fixtures/messages.h"

namespace onceward::sqlite {
namespace {

using fixtures::fault_of;

class RowsTables : public testing::Test {
 protected:
  RowsTables() { sqlite3_open(":memory:", &handle_); }
  ~RowsTables() override { sqlite3_close(handle_); }

  Rows over(const Relation& relation, std::string_view sql) {
    RowsTable table(handle_);
    table.offer();
    const RelationRows rows(relation);
    const RowsTable::Showing showing(table, rows);
    Statement statement(handle_, rows.over(sql), executed_);
    Rows found;
    statement.each([&](sqlite3_stmt* at) {
      Row& row = found.emplace_back();
      for (int i = 0; i < sqlite3_column_count(at); ++i) row.push_back(datum_at(at, i));
    });
    return found;
  }

  sqlite3* handle_ = nullptr;
  std::uint64_t executed_ = 0;
  const std::array<std::int64_t, 3> numbers_{1, 2, 3};
  const std::array<std::string_view, 3> texts_{"a", "", "c"};
  const std::array<Blob, 3> blobs_{Blob{"x"}, Blob{}, Blob{std::string_view("\0z", 2)}};
};

TEST_F(RowsTables, EveryTypeOfColumnIsRead) {
  const std::array<Timestamp, 3> times{Timestamp(std::chrono::microseconds(7)), {}, {}};
  const std::array<Column, 4> columns{{{"n", numbers_}, {"t", texts_}, {"b", blobs_}, {"at", times}}};
  EXPECT_EQ(over({"messages", columns}, "SELECT n, t, b, at FROM messages ORDER BY n"),
            (Rows{{1, std::string("a"), OwnedBlob{"x"}, 7},
                  {2, std::string(), OwnedBlob{}, 0},
                  {3, std::string("c"), OwnedBlob{std::string("\0z", 2)}, 0}}));
}

TEST_F(RowsTables, ItJoinsWithItselfAndIsReadMoreThanOnce) {
  const std::array<Column, 1> columns{{{"n", numbers_}}};
  EXPECT_EQ(over({"m", columns}, "SELECT count(*), sum(a.n * b.n), (SELECT max(n) FROM m) FROM m a, m b"),
            (Rows{{9, 36, 3}}));
}

TEST_F(RowsTables, NamesThatAreNoIdentifiersAreRefused) {
  for (const char* const name : {"", "1a", "a b", "a\"; DROP TABLE t; --", "a-b", "\u00e9"}) {
    const std::array<Column, 1> columns{{{name, numbers_}}}, good{{{"n", numbers_}}};
    EXPECT_EQ(fault_of([&] { RelationRows({"m", columns}); }), FaultCode::statement_failed) << name;
    EXPECT_EQ(fault_of([&] { RelationRows({name, good}); }), FaultCode::statement_failed) << name;
  }
  const std::array<Column, 1> keyword{{{"select", numbers_}}};
  EXPECT_EQ(over({"table", keyword}, "SELECT max(\"select\") FROM \"table\""), (Rows{{3}}));
}

TEST_F(RowsTables, ColumnsHaveOneLengthAndALimit) {
  const std::array<Column, 2> columns{{{"n", numbers_}, {"t", std::span(texts_).first(2)}}};
  EXPECT_EQ(fault_of([&] { RelationRows({"m", columns}); }), FaultCode::statement_failed);
  EXPECT_EQ(fault_of([&] { RelationRows({"m", {}}); }), FaultCode::statement_failed);

  std::vector<std::string> names;
  for (int i = 0; i <= most_columns; ++i) names.push_back("c" + std::to_string(i));
  std::vector<Column> many;
  for (const std::string& name : names) many.push_back({name, numbers_});
  EXPECT_EQ(fault_of([&] { RelationRows({"m", many}); }), FaultCode::statement_failed);
  many.pop_back();
  EXPECT_EQ(over({"m", many}, "SELECT c63 FROM m WHERE c0 = 2"), (Rows{{2}}));
}

TEST_F(RowsTables, TextThatIsNoTextFailsTheStatement) {
  const std::array<std::string_view, 1> bad{"\xff"};
  const std::array<Column, 1> columns{{{"t", bad}}};
  EXPECT_EQ(fault_of([&] { over({"m", columns}, "SELECT t FROM m"); }), FaultCode::statement_failed);
}

TEST_F(RowsTables, NothingIsThereOutsideAStatementOfOurs) {
  RowsTable table(handle_);
  table.offer();
  Statement statement(handle_, "SELECT * FROM onceward_rows", executed_);
  EXPECT_EQ(fault_of([&] { statement.run(); }), FaultCode::statement_failed);
}

TEST_F(RowsTables, NothingStaysOnTheHandle) {
  {
    RowsTable(handle_).offer();
  }
  EXPECT_EQ(fault_of([&] { Statement(handle_, "SELECT * FROM onceward_rows", executed_); }),
            FaultCode::statement_failed);
}

}  // namespace
}  // namespace onceward::sqlite
