#include "src/common/stored_text.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

#include "src/common/utf8.h"

namespace onceward {
namespace {

TEST(StoredText, AcceptsUtf8OfAnyLength) {
  EXPECT_EQ(flaw_of({}), TextFlaw::none);
  for (std::size_t size = 1; size < 40; ++size) {
    EXPECT_EQ(flaw_of(std::string(size, 'a')), TextFlaw::none);
    EXPECT_EQ(flaw_of(std::string(size, '\x01')), TextFlaw::none);
    EXPECT_EQ(flaw_of(std::string(size, 'a') + "\u00e9"), TextFlaw::none);
  }
}

RC_GTEST_PROP(StoredText, AgreesWithTheSlowWay, (std::string text)) {
  if (!text.empty() && *rc::gen::inRange(0, 3) == 0) {
    text[*rc::gen::inRange<std::size_t>(0, text.size())] = *rc::gen::element('\0', '\x7f', '\x80', '\xff');
  }
  const bool nul = text.find('\0') != std::string::npos;
  const TextFlaw expected = nul ? TextFlaw::nul : valid_utf8(text) ? TextFlaw::none : TextFlaw::not_utf8;
  RC_ASSERT(flaw_of(text) == expected);
}

}  // namespace
}  // namespace onceward
