#include "src/envelope/canonical_json.h"

#include <gtest/gtest.h>

#include <vector>

namespace onceward {
namespace {

std::string canonical(std::string_view text, const std::vector<std::string>& left_out = {}) {
  const auto parsed = parse_json(text, {});
  if (const Reason* reason = std::get_if<Reason>(&parsed)) return std::string(code(*reason));
  const auto answer = canonical_json(std::get<JsonDocument>(parsed), left_out);
  if (const Reason* reason = std::get_if<Reason>(&answer)) return std::string(code(*reason));
  return std::get<std::string>(answer);
}

TEST(CanonicalJson, DoesNotMindOrderWhiteSpaceOrEscaping) {
  const std::string expected = "{\"A\":\"a/\u00e9\\n\",\"a\":[1,{\"x\":null,\"y\":true}],\"\u00e9\":{}}";
  EXPECT_EQ(canonical("{\"A\":\"a/\u00e9\\n\",\"a\":[1,{\"x\":null,\"y\":true}],\"\u00e9\":{}}"), expected);
  EXPECT_EQ(
      canonical("{ \"\\u00e9\" : { },\n \"a\":[ 1, {\"y\":true,\"x\":null} ], \"A\":\"\\u0061\\/\\u00E9\\u000a\" }"),
      expected);
}

TEST(CanonicalJson, MindsTheOrderOfElementsAndTheSpellingOfNumbers) {
  EXPECT_EQ(canonical("[2,1]"), "[2,1]");
  EXPECT_EQ(canonical("[1.0,1,1e0,-0,10000000000000000000001]"), "[1.0,1,1e0,-0,10000000000000000000001]");
  EXPECT_NE(canonical("{\"a\":\"1\"}"), canonical("{\"a\":1}"));
}

TEST(CanonicalJson, SortsByTheBytesOfTheUnescapedNames) {
  // U+FF5E comes before U+1F600 in UTF-8 and after it in UTF-16: here the bytes decide.
  EXPECT_EQ(canonical("{\"\\ud83d\\ude00\":1,\"\\uff5e\":2,\"\\u0062\":3,\"a\":4}"),
            "{\"a\":4,\"b\":3,\"\uff5e\":2,\"\U0001F600\":1}");
}

TEST(CanonicalJson, EscapesOnlyWhatMustBe) {
  EXPECT_EQ(canonical(R"("\u0000\u001f\u007f\"\\\/\b\f\n\r\t\u2028")"),
            "\"\\u0000\\u001f\x7f\\\"\\\\/\\b\\f\\n\\r\\t\u2028\"");
}

TEST(CanonicalJson, LeavesOutVolatileFields) {
  const std::string_view text = R"({"a":1,"sent":2,"b":{"sent":3,"c":[10,11,12]},"x/y":4,"~":5})";
  EXPECT_EQ(canonical(text, {"/sent"}), R"({"a":1,"b":{"c":[10,11,12],"sent":3},"x/y":4,"~":5})");
  EXPECT_EQ(canonical(text, {"/sent", "/b/sent", "/x~1y", "/~0"}), R"({"a":1,"b":{"c":[10,11,12]}})");
  EXPECT_EQ(canonical(text, {"/b/c/1"}), R"({"a":1,"b":{"c":[10,12],"sent":3},"sent":2,"x/y":4,"~":5})");
  EXPECT_EQ(canonical(text, {"/b"}), R"({"a":1,"sent":2,"x/y":4,"~":5})");
  EXPECT_EQ(canonical(text, {"/none", "/b/c/3", "/b/c/-", "no pointer"}), canonical(text));
  EXPECT_EQ(canonical(R"({"\u0073ent":1})", {"/sent"}), "{}");
  EXPECT_EQ(canonical(text, {""}), "");
}

TEST(CanonicalJson, RefusesANameThatIsThereTwice) {
  EXPECT_EQ(canonical(R"({"a":1,"a":1})"), "duplicate_field");
  EXPECT_EQ(canonical(R"({"a":1,"\u0061":2})"), "duplicate_field");
  EXPECT_EQ(canonical(R"([{"b":{"a":1,"a":1}}])"), "duplicate_field");
  EXPECT_EQ(canonical(R"({"a":1,"a":1})", {"/a"}), "duplicate_field");
}

}  // namespace
}  // namespace onceward
