#include "src/declaration/text_template.h"

#include <gtest/gtest.h>

namespace onceward::declaration {
namespace {

TextTemplate read(std::string_view text) {
  auto result = read_template(text);
  if (const auto* wrong = std::get_if<1>(&result)) ADD_FAILURE() << text << ": " << *wrong;
  return result.index() == 0 ? std::get<0>(std::move(result)) : TextTemplate();
}

TEST(TextTemplate, NamesStandBetweenTexts) {
  EXPECT_EQ(read("capture/{invoice}/{part_2}"),
            (TextTemplate{{false, "capture/"}, {true, "invoice"}, {false, "/"}, {true, "part_2"}}));
  EXPECT_EQ(read("{a}{b}"), (TextTemplate{{true, "a"}, {true, "b"}}));
  EXPECT_EQ(read(""), TextTemplate());
}

TEST(TextTemplate, TwoBracesAreOne) {
  EXPECT_EQ(read("{{{a}}}"), (TextTemplate{{false, "{"}, {true, "a"}, {false, "}"}}));
  EXPECT_EQ(read("a {{b}} c"), (TextTemplate{{false, "a {b} c"}}));
}

TEST(TextTemplate, OneNameIsToldFromATextWithOne) {
  EXPECT_TRUE(is_one_name(read("{a}")));
  EXPECT_FALSE(is_one_name(read("{a} ")));
  EXPECT_FALSE(is_one_name(read("a")));
  EXPECT_FALSE(is_one_name(read("")));
}

TEST(TextTemplate, OtherBracesAreMistakes) {
  for (const char* wrong : {"{", "}", "a}", "{a", "{}", "{ a }", "{A}", "{a-b}", "{a{b}}", "{2}", "{{}", "{a}}"}) {
    EXPECT_EQ(read_template(wrong).index(), 1u) << wrong;
  }
}

}  // namespace
}  // namespace onceward::declaration
