#include "src/effect/field_places.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "src/common/json_pointer.h"

namespace onceward {
namespace {

std::vector<FieldDeclaration> fields_at(std::initializer_list<std::string> pointers) {
  std::vector<FieldDeclaration> fields;
  for (const std::string& pointer : pointers) fields.push_back({.name = "f", .pointer = pointer});
  return fields;
}

// The raw text at each place, "-" for nowhere and "twice" for an ambiguous one.
std::vector<std::string> found(const std::string& json, std::span<const FieldDeclaration> fields) {
  FieldPlaces places(fields);
  std::vector<std::string> result;
  for (int again = 0; again < 2; ++again) {
    const auto parsed = parse_json(std::string_view(json), {.recorded = places.depth()});
    const JsonDocument& document = std::get<JsonDocument>(parsed);
    result.clear();
    for (const std::uint32_t place : places.find(document)) {
      if (place == FieldPlaces::nowhere || place == FieldPlaces::ambiguous)
        result.push_back(place == FieldPlaces::nowhere ? "-" : "twice");
      else
        result.emplace_back(document.raw(document.nodes[place]));
    }
  }
  return result;
}

using Found = std::vector<std::string>;

TEST(FieldPlaces, AreFoundAtEveryDepth) {
  const auto fields = fields_at({"/a", "/b/c", "/b/c/0", "/b/c/1/d", "/b/x", "/a~1b/m~0n", "/e"});
  EXPECT_EQ(found(R"({"b":{"c":[7,{"d":8}]},"a":1,"a/b":{"m~n":2},"\u0065":3})", fields),
            (Found{"1", R"([7,{"d":8}])", "7", "8", "-", "2", "3"}));
  EXPECT_EQ(found("[]", fields), Found(7, "-"));
  EXPECT_EQ(found("3", fields), Found(7, "-"));
}

TEST(FieldPlaces, TwoFieldsMayHaveOnePlace) {
  EXPECT_EQ(found(R"({"a":1})", fields_at({"/a", "/a"})), (Found{"1", "1"}));
}

TEST(FieldPlaces, ElementsAreCountedAsRfc6901Counts) {
  EXPECT_EQ(found("[10,11,12]", fields_at({"/1", "/01", "/-", "/3"})), (Found{"11", "-", "-", "-"}));
  EXPECT_EQ(found(R"({"1":5,"01":6})", fields_at({"/1", "/01"})), (Found{"5", "6"}));
}

TEST(FieldPlaces, KeyThatStandsTwiceOnTheWayIsAmbiguous) {
  const auto fields = fields_at({"/a", "/b/c", "/d"});
  EXPECT_EQ(found(R"({"a":1,"b":{"c":1},"a":1,"d":1})", fields), (Found{"twice", "1", "1"}));
  EXPECT_EQ(found(R"({"b":{"c":1},"b":{},"d":1})", fields), (Found{"-", "twice", "1"}));
  EXPECT_EQ(found(R"({"b":{"c":1,"\u0063":2},"d":1,"x":1,"x":2})", fields), (Found{"-", "twice", "1"}));
  EXPECT_EQ(found(R"({"d":1,"d":2,"d":3})", fields), (Found{"-", "-", "twice"}));
}

std::string arbitrary_json(int depth) {
  const int kind = *rc::gen::inRange(0, depth > 0 ? 4 : 2);
  if (kind < 2) return std::to_string(*rc::gen::inRange(0, 9));
  std::string text = kind == 2 ? "{" : "[";
  const int count = *rc::gen::inRange(0, 4);
  for (int i = 0; i < count; ++i) {
    if (i > 0) text += ',';
    if (kind == 2) text += std::string("\"") + "ab01"[*rc::gen::inRange(0, 4)] + "\":";
    text += arbitrary_json(depth - 1);
  }
  return text + (kind == 2 ? "}" : "]");
}

// The walk for all fields finds what a look-up of each by itself finds.
RC_GTEST_PROP(FieldPlaces, AreThoseOfTheirPointers, ()) {
  const std::string json = arbitrary_json(3);
  std::vector<FieldDeclaration> fields;
  const int count = *rc::gen::inRange(1, 6);
  for (int i = 0; i < count; ++i) {
    std::string pointer;
    const int tokens = *rc::gen::inRange(1, 4);
    for (int token = 0; token < tokens; ++token) pointer += std::string("/") + "ab01"[*rc::gen::inRange(0, 4)];
    fields.push_back({.name = "f", .pointer = pointer});
  }
  FieldPlaces places(fields);
  const auto parsed = parse_json(std::string_view(json), {});
  const JsonDocument& document = std::get<JsonDocument>(parsed);
  const auto all = places.find(document);
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const auto one = find(document, *pointer_tokens(fields[i].pointer));
    if (std::holds_alternative<Reason>(one)) {
      RC_ASSERT(all[i] == FieldPlaces::ambiguous);
    } else if (const auto* node = std::get_if<const JsonNode*>(&one)) {
      RC_ASSERT(all[i] == static_cast<std::uint32_t>(*node - document.nodes.data()));
    } else {
      RC_ASSERT(all[i] == FieldPlaces::nowhere);
    }
  }
}

}  // namespace
}  // namespace onceward
