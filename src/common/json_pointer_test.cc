#include "src/common/json_pointer.h"

#include <gtest/gtest.h>

namespace onceward {
namespace {

// The example document and most pointers of RFC 6901, section 5.
constexpr std::string_view kDocument =
    R"({"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"g|h":4,"i\\j":5,"k\"l":6," ":7,"m~n":8,"t":9,"t":9})";

std::string at(std::string_view pointer) {
  const auto parsed = parse_json(kDocument, {});
  const JsonDocument& document = std::get<JsonDocument>(parsed);
  const auto tokens = pointer_tokens(pointer);
  if (!tokens) return "not a pointer";
  const auto found = find(document, *tokens);
  if (const Reason* reason = std::get_if<Reason>(&found)) return std::string(code(*reason));
  if (std::holds_alternative<NoSuchNode>(found)) return "nothing";
  return std::string(document.raw(*std::get<const JsonNode*>(found)));
}

TEST(JsonPointer, FindsWhatTheRfcSays) {
  EXPECT_EQ(at(""), kDocument);
  EXPECT_EQ(at("/foo"), R"(["bar","baz"])");
  EXPECT_EQ(at("/foo/0"), R"("bar")");
  EXPECT_EQ(at("/"), "0");
  EXPECT_EQ(at("/a~1b"), "1");
  EXPECT_EQ(at("/c%d"), "2");
  EXPECT_EQ(at("/i\\j"), "5");
  EXPECT_EQ(at("/k\"l"), "6");
  EXPECT_EQ(at("/ "), "7");
  EXPECT_EQ(at("/m~0n"), "8");
}

TEST(JsonPointer, FindsNothingWhereThereIsNothing) {
  for (const std::string_view pointer : {"/x", "/foo/2", "/foo/-", "/foo/00", "/foo/+1", "/foo/ 1", "/foo/0/x", "/foo/",
                                         "/foo/99999999999999999999", "/a~1b/0"}) {
    EXPECT_EQ(at(pointer), "nothing") << pointer;
  }
}

TEST(JsonPointer, IsRefusedWhereItIsNone) {
  for (const std::string_view pointer : {"foo", "#/foo", "/~", "/~2", "/a~", "/\xff"}) {
    EXPECT_EQ(at(pointer), "not a pointer") << pointer;
  }
}

TEST(JsonPointer, ToARepeatedMemberNamesNoOne) { EXPECT_EQ(at("/t"), "duplicate_field"); }

}  // namespace
}  // namespace onceward
