#include "src/envelope/identity_text.h"

#include <gtest/gtest.h>

namespace onceward {
namespace {

std::optional<Reason> fault(std::string_view text) { return id_fault(text, 16, Reason::malformed_message_id); }

TEST(IdentityText, AcceptsWhatAPersonCanRead) {
  for (const std::string_view text :
       {"a", "ORD-9", "a b", "caf\u00e9", "\u65e5\u672c", "a:b/c?d#e", "\U0001F600", "~"}) {
    EXPECT_EQ(fault(text), std::nullopt) << text;
  }
}

TEST(IdentityText, RefusesWhatCannotBeSeen) {
  for (const std::string_view text : {"", " ", " a", "a ", "a\tb", "a\n", "\x7f", "a\x1b",
                                      "a\u0085"
                                      "b",
                                      "\u0080"}) {
    EXPECT_EQ(fault(text), Reason::malformed_message_id) << text;
  }
  EXPECT_EQ(fault(std::string_view("a\0b", 3)), Reason::nul_in_text);
  EXPECT_EQ(fault("a\xff"), Reason::invalid_utf8);
  EXPECT_EQ(fault("\xc2"), Reason::invalid_utf8);
}

TEST(IdentityText, IsNoLongerThanItsLimit) {
  EXPECT_EQ(fault("0123456789abcdef"), std::nullopt);
  EXPECT_EQ(fault("0123456789abcdefg"), Reason::id_too_long);
}

}  // namespace
}  // namespace onceward
