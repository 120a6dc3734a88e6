// Rows in memory that a statement reads like a table: every type, with and without nulls.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <random>

#include "tests/conformance/suite.h"

namespace onceward {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t highest = std::numeric_limits<std::int64_t>::max();

class Relations : public OnEveryStore {
 protected:
  void make_copies() {
    under_->reader().run(typed() ? "CREATE TABLE copies (n bigint, i bigint, t text, b bytea, at timestamptz, "
                                   "yes boolean, u uuid, d numeric, j jsonb)"
                                 : "CREATE TABLE copies (n, i, t, b, at, yes, u, d, j)");
  }
  void copy(std::span<const Column> columns) {
    auto unit = begin();
    unit->whole().execute_over({"messages", columns},
                               "INSERT INTO copies SELECT n, i, t, b, at, yes, u, d, j FROM messages");
    ASSERT_EQ(unit->commit(), Commit::committed);
  }
  FaultCode fault_over(std::span<const Column> columns) {
    auto unit = begin();
    return fault_of([&] {
      unit->whole().execute_over({"messages", columns}, "INSERT INTO effect (message) SELECT 'x' FROM messages");
      unit->flush();
    });
  }
  bool typed() const { return GetParam().capabilities.typed_columns; }
  TextRows copies() {
    return under_->reader().read(
        typed()
            ? "SELECT i, t, encode(b, 'hex'), at AT TIME ZONE 'UTC', yes, u, d, j "
              "FROM copies ORDER BY n"
            : "SELECT i, t, CASE WHEN b IS NOT NULL THEN lower(hex(b)) END, at, yes, u, d, j FROM copies ORDER BY n");
  }

  // Three rows of every type.
  const std::string bytes_{"\0\xFF", 2};
  const std::array<std::int64_t, 3> numbers_{1, 2, 3};
  const std::array<std::int64_t, 3> integers_{lowest, 0, highest};
  const std::array<std::string_view, 3> texts_{"", "one", "thr\xC3\xA9\xC3\xA9"};
  const std::array<Blob, 3> blobs_{Blob{""}, Blob{bytes_}, Blob{"x"}};
  const std::array<Timestamp, 3> times_{Timestamp{0us}, Timestamp{1us}, Timestamp{1'700'000'000'123'456us}};
  const std::array<bool, 3> truths_{true, false, true};
  const std::array<Uuid, 3> uuids_{
      Uuid{}, Uuid{{0x6e, 0x9b, 0xca, 0x2c, 0x6a, 0x31, 0x4d, 0x0f, 0x9e, 0x29, 0x0f, 0x8c, 0x0c, 0x5a, 0xd3, 0xa1}},
      Uuid{{0xff}}};
  const std::array<std::int64_t, 3> cents_{1234, -5, 0};
  const std::array<Json, 3> jsons_{Json{"{}"}, Json{R"({"a": "b"})"}, Json{"[1, 2]"}};

  std::array<Column, 9> every_type(std::span<const bool> present = {}) const {
    return {{{"n", numbers_},
             {"i", integers_, present},
             {"t", texts_, present},
             {"b", blobs_, present},
             {"at", times_, present},
             {"yes", truths_, present},
             {"u", uuids_, present},
             {"d", Decimals{cents_, 2}, present},
             {"j", jsons_, present}}};
  }
  TextRows expected() const {
    const std::string low = std::to_string(lowest), high = std::to_string(highest);
    const auto or_else = [this](const char* where_typed, const char* else_) { return typed() ? where_typed : else_; };
    return {{low, "", "", or_else("1970-01-01 00:00:00", "0"), or_else("t", "1"),
             "00000000-0000-0000-0000-000000000000", or_else("12.34", "1234"), "{}"},
            {"0", "one", "00ff", or_else("1970-01-01 00:00:00.000001", "1"), or_else("f", "0"),
             "6e9bca2c-6a31-4d0f-9e29-0f8c0c5ad3a1", or_else("-0.05", "-5"), R"({"a": "b"})"},
            {high, "thr\xC3\xA9\xC3\xA9", "78", or_else("2023-11-14 22:13:20.123456", "1700000000123456"),
             or_else("t", "1"), "ff000000-0000-0000-0000-000000000000", or_else("0.00", "0"), "[1, 2]"}};
  }
};
ONCEWARD_ON_EVERY_STORE(Relations);

TEST_P(Relations, EveryTypeArrivesAsItIs) {
  make_copies();
  copy(every_type());
  EXPECT_EQ(copies(), expected());
}

TEST_P(Relations, RowsThatAreNotPresentAreNullWhateverTheTypeIs) {
  make_copies();
  const std::array<bool, 3> present{true, false, true};
  copy(every_type(present));
  TextRows rows = expected();
  rows[1].assign(8, std::nullopt);
  EXPECT_EQ(copies(), rows);
}

TEST_P(Relations, ColumnsOfNothingButNullsKeepTheirTypes) {
  make_copies();
  const std::array<bool, 3> present{};
  copy(every_type(present));
  EXPECT_EQ(copies(), TextRows(3, TextRow(8, std::nullopt)));
}

TEST_P(Relations, ColumnIsNullOnlyInTheRowsThatItsOwnMarkNames) {
  make_copies();
  const std::array<bool, 3> first{true, false, false}, last{false, false, true};
  std::array<Column, 9> columns = every_type();
  columns[2].present = first;
  columns[7].present = last;
  copy(columns);
  TextRows rows = expected();
  rows[1][1] = rows[2][1] = rows[0][6] = rows[1][6] = std::nullopt;
  EXPECT_EQ(copies(), rows);
}

TEST_P(Relations, EmptyColumnsOfEveryTypeHaveNoRows) {
  make_copies();
  const std::array<Column, 9> columns{{{"n", std::span<const std::int64_t>()},
                                       {"i", std::span<const std::int64_t>()},
                                       {"t", std::span<const std::string_view>()},
                                       {"b", std::span<const Blob>()},
                                       {"at", std::span<const Timestamp>()},
                                       {"yes", std::span<const bool>()},
                                       {"u", std::span<const Uuid>()},
                                       {"d", Decimals{{}, 2}},
                                       {"j", std::span<const Json>()}}};
  copy(columns);
  EXPECT_EQ(copies(), TextRows());
}

// -12.05 for -1205 and 2, by a way of its own.
std::string written(std::int64_t minor_units, int scale) {
  std::string digits = std::to_string(minor_units);
  const bool negative = digits.front() == '-';
  if (negative) digits.erase(0, 1);
  const auto least = static_cast<std::size_t>(scale) + 1;
  if (digits.size() < least) digits.insert(0, least - digits.size(), '0');
  if (scale > 0) digits.insert(digits.size() - static_cast<std::size_t>(scale), 1, '.');
  return (negative ? "-" : "") + digits;
}

TEST_P(Relations, DecimalsAreExactAtEveryScale) {
  under_->reader().run(typed() ? "CREATE TABLE amounts (n bigint, d numeric)" : "CREATE TABLE amounts (n, d)");
  std::mt19937_64 random(7);
  std::vector<std::int64_t> amounts{0, 1, -1, 9999, 10'000, -10'000, 100'000'000, lowest, lowest + 1, highest};
  for (int i = 0; i < 200; ++i) amounts.push_back(static_cast<std::int64_t>(random()) >> random() % 64);
  std::vector<std::int64_t> numbers(amounts.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::int64_t>(i);
  for (int scale = 0; scale <= 18; ++scale) {
    const std::array<Column, 2> columns{Column{"n", numbers}, Column{"d", Decimals{amounts, scale}}};
    auto unit = begin();
    unit->whole().execute("DELETE FROM amounts");
    unit->whole().execute_over({"messages", columns}, "INSERT INTO amounts SELECT n, d FROM messages");
    ASSERT_EQ(unit->commit(), Commit::committed);
    const TextRows rows = under_->reader().read("SELECT d FROM amounts ORDER BY n");
    ASSERT_EQ(rows.size(), amounts.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      ASSERT_EQ(rows[i][0], typed() ? written(amounts[i], scale) : std::to_string(amounts[i])) << "scale " << scale;
    }
  }
}

TEST_P(Relations, DecimalsCountWithWhatTheServerReadFromText) {
  const std::array<std::int64_t, 2> amounts{1005, 295};
  const std::array<Column, 1> columns{Column{"d", Decimals{amounts, 2}}};
  auto unit = begin();
  unit->whole().execute_over({"messages", columns},
                             fmt::format("INSERT INTO effect (message) SELECT 'sum' FROM (SELECT sum(d) AS d "
                                         "FROM messages) total WHERE d = {}",
                                         typed() ? "13.00" : "1300"));
  ASSERT_EQ(unit->commit(), Commit::committed);
  EXPECT_EQ(under_->effects(), 1);
}

TEST_P(Relations, WhatIsNoRelationIsRefused) {
  const std::array<bool, 2> short_mark{true, true};
  EXPECT_EQ(fault_over({}), FaultCode::statement_failed);
  EXPECT_EQ(fault_over(std::array{Column{"a b", numbers_}}), FaultCode::statement_failed);
  EXPECT_EQ(fault_over(std::array{Column{"n", numbers_}, Column{"t", std::span(texts_).first(2)}}),
            FaultCode::statement_failed);
  EXPECT_EQ(fault_over(std::array{Column{"n", numbers_, short_mark}}), FaultCode::statement_failed);
  EXPECT_EQ(fault_over(std::array{Column{"d", Decimals{cents_, 19}}}), FaultCode::statement_failed);
  EXPECT_EQ(fault_over(std::array{Column{"d", Decimals{cents_, -1}}}), FaultCode::statement_failed);
  EXPECT_EQ(under_->effects(), 0);
}

TEST_P(Relations, NinetySixColumnsAreTheMost) {
  std::vector<std::string> names;
  for (int i = 0; i <= 96; ++i) names.push_back(fmt::format("column_{}", i));
  std::vector<Column> columns;
  for (const std::string& name : names) columns.push_back({name, numbers_});
  EXPECT_EQ(fault_over(columns), FaultCode::statement_failed);
  columns.pop_back();
  auto unit = begin();
  unit->whole().execute_over({"messages", columns},
                             "INSERT INTO effect (message) SELECT 'x' FROM messages WHERE column_95 = column_0");
  ASSERT_EQ(unit->commit(), Commit::committed);
  EXPECT_EQ(under_->effects(), 3);
}

}  // namespace
}  // namespace onceward
