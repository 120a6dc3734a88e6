#include "src/common/sql_tokens.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace onceward {
namespace {

// w word, n name, t text, d number, p parameter, m mark.
std::string shape(std::string_view sql) {
  std::string result;
  for (const SqlToken& token : sql_tokens(sql)) {
    if (!result.empty()) result += ' ';
    result += "wntdpm"[static_cast<std::size_t>(token.kind)] + (token.text.empty() ? "" : ":" + token.text);
  }
  return result;
}

TEST(SqlTokens, WordsAreInLowerCaseAndCommentsAreGone) {
  EXPECT_EQ(shape("Select A_1 -- b\n+ /* c /* d */ */ 1.5e3"), "w:select w:a_1 m:+ d:1.5e3");
  EXPECT_EQ(shape("a.b"), "w:a m:. w:b");
  EXPECT_EQ(shape("\xc3\xa4$x"), "w:\xc3\xa4$x");
}

TEST(SqlTokens, QuotesHoldTheirContent) {
  EXPECT_EQ(shape("'it''s; --' b"), "t w:b");
  EXPECT_EQ(shape("\"A\"\"b\" `c``d`"), "n:A\"b n:c`d");
  EXPECT_EQ(shape("E'\\'' a"), "w:e t w:a");
  EXPECT_EQ(shape("'\\' a"), "t w:a");
  EXPECT_EQ(shape("e '\\' a"), "w:e t w:a") << "the E stands apart";
  EXPECT_EQ(shape("$$ ' $$ a $t$ $$ $t$ b"), "t w:a t w:b");
}

TEST(SqlTokens, ParametersAreNoDollarQuotes) {
  EXPECT_EQ(shape("$1+$22"), "p:1 m:+ p:22");
  EXPECT_EQ(shape("$ a"), "m:$ w:a");
}

TEST(SqlTokens, WhatIsNotClosedEndsWithTheText) {
  for (const char* sql : {"'a", "\"a", "`", "/* a", "-- a", "$$ a", "E'\\", "'", "/*/", "\"\"\""})
    EXPECT_LE(sql_tokens(sql).size(), 2u) << sql;
}

RC_GTEST_PROP(SqlTokens, AnyTextIsCut, (const std::string& text)) { sql_tokens(text); }

RC_GTEST_PROP(SqlTokens, StringsHideWhatTheyHold, (std::string text)) {
  std::string sql = "a '";
  for (const char c : text) sql += c == '\'' ? std::string("''") : std::string(1, c);
  RC_ASSERT(shape(sql + "' b") == "w:a t w:b");
}

}  // namespace
}  // namespace onceward
