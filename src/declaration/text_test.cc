#include "src/declaration/text.h"

#include <gtest/gtest.h>

namespace onceward::declaration {
namespace {

TEST(Text, IsShownOnlyIfItIsAWord) {
  EXPECT_EQ(in_quotes("uidv7"), "\"uidv7\"");
  EXPECT_EQ(in_quotes("/order/id"), "\"/order/id\"");
  EXPECT_EQ(in_quotes("postgres://app:secret@db/orders"), "this value");
  EXPECT_EQ(in_quotes("app:secret"), "this value");
  EXPECT_EQ(in_quotes("line\nbreak"), "this value");
  EXPECT_EQ(in_quotes(""), "this value");
  EXPECT_EQ(in_quotes(std::string(65, 'a')), "this value");
}

TEST(Text, IsShortUtf8WithoutControls) {
  EXPECT_EQ(wrong_with_text("Zahlungen \xc3\xbc", 255), std::nullopt);
  EXPECT_EQ(wrong_with_text("", 255), "is empty");
  EXPECT_EQ(wrong_with_text("abcd", 3), "has 4 bytes, more than 3");
  EXPECT_EQ(wrong_with_text("a\tb", 255), "holds a control character");
  EXPECT_EQ(wrong_with_text(std::string_view("a\0b", 3), 255), "holds a control character");
  EXPECT_EQ(wrong_with_text("\xff", 255), "is not UTF-8");
  EXPECT_EQ(wrong_with_text(" a", 255), "has a space at an end");
  EXPECT_EQ(wrong_with_text("a ", 255), "has a space at an end");
}

TEST(Text, OfANameNeedsNoQuotes) {
  for (const char* name : {"payments", "Payment-Capture.v2", "a_b"}) EXPECT_EQ(wrong_with_name(name), std::nullopt);
  for (const char* name : {"", "2nd", "-a", "a b", "a/b", "\xc3\xbc"}) EXPECT_NE(wrong_with_name(name), std::nullopt);
  EXPECT_EQ(wrong_with_name(std::string(most_name_bytes, 'a')), std::nullopt);
  EXPECT_NE(wrong_with_name(std::string(most_name_bytes + 1, 'a')), std::nullopt);
}

TEST(Text, OfAPointerIsRfc6901) {
  for (const char* pointer : {"/", "/a", "/a/0/b", "/a~0b~1c", "//"})
    EXPECT_EQ(wrong_with_pointer(pointer), std::nullopt) << pointer;
  EXPECT_EQ(wrong_with_pointer(""), "is empty");
  EXPECT_EQ(wrong_with_pointer("a/b"), "does not begin with '/'");
  EXPECT_EQ(wrong_with_pointer("#/a"), "does not begin with '/'");
  EXPECT_EQ(wrong_with_pointer("/a~2"), "has a '~' that is not followed by 0 or 1");
  EXPECT_EQ(wrong_with_pointer("/a~"), "has a '~' that is not followed by 0 or 1");
  std::string deep;
  for (std::size_t i = 0; i < most_pointer_depth; ++i) deep += "/a";
  EXPECT_EQ(wrong_with_pointer(deep), std::nullopt);
  EXPECT_EQ(wrong_with_pointer(deep + "/a"), "leads more than 32 levels down");
}

TEST(Text, OfAPointerCoversWhatIsInside) {
  EXPECT_TRUE(pointer_covers("/order", "/order"));
  EXPECT_TRUE(pointer_covers("/order", "/order/id"));
  EXPECT_FALSE(pointer_covers("/order", "/orderId"));
  EXPECT_FALSE(pointer_covers("/order/id", "/order"));
}

}  // namespace
}  // namespace onceward::declaration
