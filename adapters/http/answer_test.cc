#include "adapters/http/answer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace onceward::http {
namespace {

using testing::ElementsAre;
using testing::Optional;

TEST(HttpAnswer, TextAtAPointerIsWhatStandsThere) {
  constexpr std::string_view json = R"({"id":"p\u00e9-1","n":12.50,"ok":true,"data":[{"id":"x"}]})";
  EXPECT_EQ(text_at(json, {"id"}), "pé-1");
  EXPECT_EQ(text_at(json, {"n"}), "12.50");
  EXPECT_EQ(text_at(json, {"ok"}), "true");
  EXPECT_EQ(text_at(json, {"data", "0", "id"}), "x");
  EXPECT_EQ(text_at(R"("plain")", {}), "plain");
}

TEST(HttpAnswer, WhatNobodyMeansIsNothing) {
  EXPECT_EQ(text_at(R"({"id":null})", {"id"}), std::nullopt);
  EXPECT_EQ(text_at(R"({"id":{}})", {"id"}), std::nullopt);
  EXPECT_EQ(text_at(R"({"id":""})", {"id"}), std::nullopt);
  EXPECT_EQ(text_at(R"({"id":"a\nb"})", {"id"}), std::nullopt);
  EXPECT_EQ(text_at(R"({"id":"a\u0000b"})", {"id"}), std::nullopt);
  EXPECT_EQ(text_at(R"({"id":"a","id":"b"})", {"id"}), std::nullopt);
  EXPECT_EQ(text_at(R"({"id":"a")", {"id"}), std::nullopt);
  EXPECT_EQ(text_at("<html>", {"id"}), std::nullopt);
  EXPECT_EQ(text_at("", {"id"}), std::nullopt);
  EXPECT_EQ(text_at(R"({"id":")" + std::string(most_text_bytes + 1, 'a') + R"("})", {"id"}), std::nullopt);
}

TEST(HttpAnswer, ValueAtAPointerMayBeEmpty) {
  constexpr std::string_view json = R"({"data":[],"by":{ },"none":null,"full":[1],"id":"x","n":0})";
  EXPECT_EQ(value_at(json, {"data"}), "[]");
  EXPECT_EQ(value_at(json, {"by"}), "{}");
  EXPECT_EQ(value_at(json, {"none"}), "null");
  EXPECT_EQ(value_at(json, {"id"}), "x");
  EXPECT_EQ(value_at(json, {"n"}), "0");
  EXPECT_EQ(value_at(" [ ] ", {}), "[]");
  EXPECT_EQ(value_at(json, {"full"}), std::nullopt);
  EXPECT_EQ(value_at(json, {}), std::nullopt);
  EXPECT_EQ(value_at(json, {"data", "0"}), std::nullopt);
  EXPECT_EQ(value_at("[", {}), std::nullopt);
}

TEST(HttpAnswer, ElementsOfAnArrayAreAsTheyAreWritten) {
  constexpr std::string_view json = R"({"data": [ {"a": [1,2]}, 3 , "x" ], "n": 1})";
  EXPECT_THAT(elements_at(json, {"data"}), Optional(ElementsAre(R"({"a": [1,2]})", "3", R"("x")")));
  EXPECT_THAT(elements_at("[]", {}), Optional(ElementsAre()));
  EXPECT_EQ(elements_at(json, {"n"}), std::nullopt);
  EXPECT_EQ(elements_at(json, {"none"}), std::nullopt);
  EXPECT_EQ(elements_at("garbage", {"data"}), std::nullopt);
}

}  // namespace
}  // namespace onceward::http
