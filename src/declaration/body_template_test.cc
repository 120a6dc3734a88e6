#include "src/declaration/body_template.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/declaration/rules.h"

namespace onceward::declaration {
namespace {

using Kind = BodyPiece::Kind;
using Pieces = std::vector<BodyPiece>;

Pieces pieces(std::string_view body) {
  auto result = read_body_template(body);
  if (const auto* wrong = std::get_if<1>(&result)) ADD_FAILURE() << body << ": " << *wrong;
  return result.index() == 0 ? std::get<0>(std::move(result)).pieces : Pieces();
}
std::string wrong_with(std::string_view body) {
  const auto result = read_body_template(body);
  return result.index() == 1 ? std::get<1>(result) : std::string();
}

TEST(BodyTemplate, ATextThatIsOneNameBecomesAValue) {
  EXPECT_EQ(pieces(R"({"a":"{amount}","b":2})"),
            (Pieces{{Kind::json, R"({"a":)"}, {Kind::value, "amount"}, {Kind::json, R"(,"b":2})"}}));
  EXPECT_EQ(pieces(R"("{amount}")"), (Pieces{{Kind::value, "amount"}}));
}

TEST(BodyTemplate, ATextThatHoldsNamesStaysAText) {
  EXPECT_EQ(pieces(R"(["for {who}: {{x}}\n\"{what}\""])"), (Pieces{{Kind::json, R"(["for )"},
                                                                   {Kind::in_text, "who"},
                                                                   {Kind::json, R"(: {x}\n\")"},
                                                                   {Kind::in_text, "what"},
                                                                   {Kind::json, R"(\""])"}}));
}

TEST(BodyTemplate, WhatIsNoTextIsTakenAsItIs) {
  EXPECT_EQ(pieces(R"( {"{key}": [1.50, true, null, {}, "plain"]} )"),
            (Pieces{{Kind::json, R"( {"{key}": [1.50, true, null, {}, "plain"]} )"}}));
}

TEST(BodyTemplate, ThePayloadStandsByItself) {
  const auto read = read_body_template("{payload}");
  ASSERT_EQ(read.index(), 0u);
  EXPECT_TRUE(std::get<0>(read).payload);
}

TEST(BodyTemplate, OtherTextsAreMistakes) {
  EXPECT_THAT(wrong_with("{amount}"), testing::HasSubstr("is no JSON: malformed_json"));
  EXPECT_THAT(wrong_with(""), testing::HasSubstr("is no JSON"));
  EXPECT_THAT(wrong_with(R"({"a":"{"})"), testing::HasSubstr("a text in it has a {"));
  EXPECT_THAT(wrong_with(std::string(40, '[') + std::string(40, ']')), testing::HasSubstr("too_deep"));
  EXPECT_THAT(wrong_with('"' + std::string(most_body_template_bytes, 'a') + '"'), testing::HasSubstr("more than"));
}

}  // namespace
}  // namespace onceward::declaration
