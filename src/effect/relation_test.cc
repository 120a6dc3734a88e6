#include "src/effect/relation.h"

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <string>

#include "onceward/fault.h"

namespace onceward {
namespace {

constexpr std::array<std::int64_t, 3> three{1, 2, 3};

std::optional<std::string> refusal(std::string_view name, std::span<const Column> columns) {
  try {
    checked_rows({name, columns});
    return std::nullopt;
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.fault(), FaultCode::statement_failed);
    return fault.what();
  }
}

TEST(Relation, HasTheLengthOfItsColumns) {
  const std::array<bool, 3> present{};
  const std::array<Column, 2> columns{Column{"n", three, present}, Column{"_d1", Decimals{three, 18}}};
  EXPECT_EQ(checked_rows({"messages", columns}), 3u);
}

TEST(Relation, IsRefusedWithItsReason) {
  const std::array<bool, 2> present{};
  EXPECT_EQ(refusal("messages", {}), "a relation has 1 to 96 columns");
  EXPECT_EQ(refusal("messages", std::array{Column{"n", three, present}}),
            "the columns of relation messages differ in length");
  EXPECT_EQ(refusal("messages", std::array{Column{"d", Decimals{three, 19}}}),
            "the scale of column d is outside 0 to 18");
  EXPECT_EQ(refusal("1m", std::array{Column{"n", three}}).value_or("").substr(0, 45),
            "a relation and its columns are named by lette");
}

}  // namespace
}  // namespace onceward
