#include "src/common/json.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <nlohmann/json.hpp>

namespace onceward {
namespace {

std::optional<Reason> refusal_of(std::string_view text, std::size_t limit = 32) {
  const auto copied = parse_json(text, {.limit = limit});
  const auto in_place = parse_json(Bytes::copy_of(text), {.limit = limit, .recorded = 1});
  EXPECT_EQ(copied.index(), in_place.index()) << text;
  if (const Reason* reason = std::get_if<Reason>(&in_place)) return *reason;
  return std::nullopt;
}

TEST(Json, AcceptsEveryKindOfValue) {
  for (const std::string_view text :
       {"{}", "[]", " [ ] ", "\"\"", "null", "true", "false", "0", "-0", "-12.50e+7", "12345678901234567890123456789",
        "1e999", "{\"a\":[1,{\"b\":\"c\"}]}", "\t{\n\"a\"\r:\n1 } ",
        "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\ud83d\\ude00\"", "[\"\x7f\"]", "{\"\":{}}", "[\"caf\xc3\xa9\"]"}) {
    EXPECT_EQ(refusal_of(text), std::nullopt) << text;
  }
}

TEST(Json, RefusesWhatIsNotOneWholeValue) {
  for (const std::string_view text : {"",
                                      " ",
                                      "{",
                                      "}",
                                      "[",
                                      "{\"a\":1",
                                      "{\"a\":[1}",
                                      "{\"a\":{\"b\":1}",
                                      "[1,]",
                                      "{\"a\":1,}",
                                      "{,}",
                                      "[,]",
                                      "[1 2]",
                                      "{\"a\" 1}",
                                      "{\"a\":}",
                                      "{a:1}",
                                      "{'a':1}",
                                      "{\"a\":\"b\":1}",
                                      "{\"a\":{\"x\":\"b\":1},\"c\":2}}",
                                      "{\"a\":1}}",
                                      "{\"a\":1} x",
                                      "{}{}",
                                      "[1]]",
                                      "01",
                                      "1.",
                                      ".5",
                                      "1e",
                                      "1e+",
                                      "+1",
                                      "-",
                                      "0x1",
                                      "NaN",
                                      "Infinity",
                                      "tru",
                                      "truee",
                                      "nul",
                                      "\"",
                                      "\"a",
                                      "\"a\"b\"",
                                      "\"a\"\"b\"",
                                      "\"\\\"",
                                      "\"\\x\"",
                                      "\"\\u12g4\"",
                                      "\"\\u12\"",
                                      "[\"\\\"]",
                                      "\"a\nb\"",
                                      "[\"a\nb\"]",
                                      "[1,2,,3]",
                                      "[tru]",
                                      "[01]",
                                      "[1.]",
                                      "[\"a\" \"b\"]",
                                      "[\"a\"b]",
                                      "{\"a\\q\":1}",
                                      "// c\n1",
                                      "[1] // c",
                                      "\"\x01\""}) {
    EXPECT_EQ(refusal_of(text), Reason::malformed_json) << text;
  }
}

TEST(Json, TellsBadTextFromBadStructure) {
  EXPECT_EQ(refusal_of("[\"\xff\"]"), Reason::invalid_utf8);
  EXPECT_EQ(refusal_of("\"\xc0\xa0\""), Reason::invalid_utf8);
  EXPECT_EQ(refusal_of("[\"\xed\xa0\x80\"]"), Reason::invalid_utf8);
  EXPECT_EQ(refusal_of("[\"\\ud800\"]"), Reason::invalid_utf8);
  EXPECT_EQ(refusal_of("[\"\\udc00\"]"), Reason::invalid_utf8);
  EXPECT_EQ(refusal_of("[\"\\ud800\\u0041\"]"), Reason::invalid_utf8);
  EXPECT_EQ(refusal_of("{\"\\ud800\":1}"), Reason::invalid_utf8);
  EXPECT_EQ(refusal_of(std::string_view("[\"a\0b\"]", 7)), Reason::nul_in_text);
  EXPECT_EQ(refusal_of(std::string_view("[1]\0", 4)), Reason::nul_in_text);
}

std::string nested(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST(Json, IsNoDeeperThanItsLimit) {
  EXPECT_EQ(refusal_of(nested(4), 4), std::nullopt);
  EXPECT_EQ(refusal_of(nested(5), 4), Reason::too_deep);
  EXPECT_EQ(refusal_of("1", 0), std::nullopt);
  EXPECT_EQ(refusal_of("[]", 0), Reason::too_deep);
  EXPECT_EQ(refusal_of("{\"a\":{\"a\":{}}}", 2), Reason::too_deep);
  EXPECT_EQ(refusal_of(nested(512), 1u << 30), std::nullopt);
  EXPECT_EQ(refusal_of(nested(513), 1u << 30), Reason::too_deep);
  EXPECT_EQ(refusal_of(nested(1u << 20), 1u << 30), Reason::too_deep);
}

TEST(Json, NodesAreTheExactBytesOfTheirValues) {
  const std::string text = R"( {"a" : [ 1.50 , "x\n" ] , "b":{ "c" : null } } )";
  const auto parsed = parse_json(text, {});
  const JsonDocument& document = std::get<JsonDocument>(parsed);
  std::vector<std::string_view> raw;
  for (const JsonNode& node : document.nodes) raw.push_back(document.raw(node));
  EXPECT_EQ(raw, (std::vector<std::string_view>{R"({"a" : [ 1.50 , "x\n" ] , "b":{ "c" : null } })", R"("a")",
                                                R"([ 1.50 , "x\n" ])", "1.50", R"("x\n")", R"("b")",
                                                R"({ "c" : null })", R"("c")", "null"}));
  EXPECT_EQ(document.nodes[0].next, 9u);
  EXPECT_EQ(document.nodes[2].next, 5u);
  EXPECT_TRUE(document.nodes[4].escaped);
}

TEST(Json, BelowTheRecordedDepthAValueIsOneNode) {
  const std::string text = R"({"a":{"b":{"c":[1,2]}},"d":2})";
  const auto parsed = parse_json(text, {.recorded = 1});
  const JsonDocument& document = std::get<JsonDocument>(parsed);
  ASSERT_EQ(document.nodes.size(), 5u);
  EXPECT_EQ(document.raw(document.nodes[2]), R"({"b":{"c":[1,2]}})");
  EXPECT_EQ(document.nodes[2].next, 3u);
}

TEST(Json, IsReadAfterALargeTextAsBefore) {
  std::string large = "[";
  while (large.size() < (3u << 20)) large += "{\"a\":\"" + std::string(1000, 'x') + "\"},";
  large += "1]";
  for (const std::string& text : {std::string("[1]"), large, std::string("[1,2]"), large, large, std::string("{}")}) {
    EXPECT_EQ(refusal_of(text), std::nullopt);
  }
  large.back() = '}';
  EXPECT_EQ(refusal_of(large), Reason::malformed_json);
}

TEST(Json, EndOfAnEarlierTextDoesNotCompleteALaterOne) {
  const std::string_view whole = "[[[[{\"a\":[1]}]]]]";
  for (std::size_t size = 1; size < whole.size(); ++size) {
    EXPECT_EQ(refusal_of(whole), std::nullopt);
    EXPECT_EQ(refusal_of(whole.substr(0, size)), Reason::malformed_json) << size;
  }
}

RC_GTEST_PROP(JsonString, IsReadBackAsItWasWritten, (const std::string& bytes)) {
  std::string text;
  for (const char c : bytes) text += static_cast<char>(c & 0x7f);
  std::string written;
  append_json_string(written, text);
  RC_ASSERT(nlohmann::json::parse(written).get<std::string>() == text);
  const auto parsed = parse_json(written, {});
  const JsonDocument& document = std::get<JsonDocument>(parsed);
  std::string scratch;
  RC_ASSERT(text_of(document, document.nodes[0], scratch) == text);
}

TEST(JsonString, UnescapesToUtf8) {
  const std::string text = R"("\u0041\u00e9\u20ac\ud83d\ude00\/\b\f\n\r\t")";
  const auto parsed = parse_json(text, {});
  const JsonDocument& document = std::get<JsonDocument>(parsed);
  std::string scratch;
  EXPECT_EQ(text_of(document, document.nodes[0], scratch), "A\u00e9\u20ac\U0001F600/\b\f\n\r\t");
}

}  // namespace
}  // namespace onceward
