#include "src/effect/column_buffer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string_view>

namespace onceward {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(ColumnBuffer, MarksNothingWhileAllRowsHaveAValue) {
  ColumnBuffer<std::int64_t> buffer;
  buffer.add(1);
  buffer.add(2);
  EXPECT_THAT(buffer.values(), ElementsAre(1, 2));
  EXPECT_THAT(buffer.present(), IsEmpty());
}

TEST(ColumnBuffer, MarksTheRowsBeforeAndAfterTheFirstNull) {
  ColumnBuffer<std::string_view> buffer;
  buffer.add("a");
  buffer.add_null();
  buffer.add("b");
  EXPECT_THAT(buffer.values(), ElementsAre("a", "", "b"));
  EXPECT_THAT(buffer.present(), ElementsAre(true, false, true));
  buffer.clear();
  EXPECT_THAT(buffer.present(), IsEmpty());
  buffer.add("c");
  EXPECT_THAT(buffer.present(), IsEmpty());
}

TEST(ColumnBuffer, CutKeepsTheFirstRows) {
  ColumnBuffer<bool> buffer;
  for (int row = 0; row < 100; ++row) buffer.add(row % 2 == 0);
  buffer.add_null();
  buffer.cut(2);
  buffer.add(true);
  EXPECT_THAT(buffer.values(), ElementsAre(true, false, true));
  EXPECT_THAT(buffer.present(), ElementsAre(true, true, true));
}

TEST(ColumnBuffer, PicksRowsInAnyOrder) {
  ColumnBuffer<bool> all, picked;
  all.add(true);
  all.add(false);
  all.add_null();
  const std::array<std::uint32_t, 3> rows{2, 0, 1};
  picked.add_null();
  picked.pick(all, rows);
  EXPECT_THAT(picked.values(), ElementsAre(false, true, false));
  EXPECT_THAT(picked.present(), ElementsAre(false, true, true));
}

}  // namespace
}  // namespace onceward
