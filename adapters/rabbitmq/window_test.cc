#include "adapters/rabbitmq/window.h"

#include <gtest/gtest.h>

namespace onceward::rabbitmq {
namespace {

Open open(std::uint64_t tag, const std::string& id = "") {
  return {.tag = tag, .exchange = "x", .key = "k", .id = id, .bytes = 3, .deadline = {}};
}

Window filled(std::uint64_t count) {
  Window window;
  for (std::uint64_t number = 1; number <= count; ++number) window.add(open(100 + number, std::to_string(number)));
  return window;
}

TEST(RabbitmqWindow, AnswersComeInAnyOrderAndOnce) {
  Window window = filled(4);
  EXPECT_EQ(window.answer(3)->tag, 103u);
  EXPECT_EQ(window.answer(1)->tag, 101u);
  EXPECT_FALSE(window.answer(3));
  EXPECT_FALSE(window.answer(1));
  EXPECT_FALSE(window.answer(0));
  EXPECT_FALSE(window.answer(5));
  EXPECT_EQ(window.size(), 2u);
  EXPECT_EQ(window.oldest()->tag, 102u);
}

TEST(RabbitmqWindow, OneAnswerMayBeForManyAndLeavesOutThoseBefore) {
  Window window = filled(5);
  window.answer(2);
  std::vector<std::uint64_t> tags;
  while (const auto answered = window.answer_up_to(4)) tags.push_back(answered->tag);
  EXPECT_EQ(tags, (std::vector<std::uint64_t>{101, 103, 104}));
  EXPECT_EQ(window.size(), 1u);
  EXPECT_FALSE(window.answer_up_to(4));
}

TEST(RabbitmqWindow, NumbersGoOnWhenItWasEmpty) {
  Window window = filled(2);
  window.answer(2);
  window.answer(1);
  EXPECT_TRUE(window.empty());
  EXPECT_EQ(window.oldest(), nullptr);
  window.add(open(7));
  EXPECT_FALSE(window.answer(1));
  EXPECT_EQ(window.answer(3)->tag, 7u);
}

TEST(RabbitmqWindow, WhatComesBackIsTheFirstOfItsLike) {
  Window window;
  for (const std::uint64_t tag : {1, 2, 3}) window.add(open(tag, tag == 2 ? "b" : "a"));
  Open* const first = window.like("x", "k", "a", 3);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->tag, 1u);
  first->returned = "no route";
  EXPECT_EQ(window.like("x", "k", "a", 3)->tag, 3u);
  EXPECT_EQ(window.like("x", "k", "b", 3)->tag, 2u);
  EXPECT_EQ(window.like("x", "other", "b", 3), nullptr);
  EXPECT_EQ(window.like("y", "k", "b", 3), nullptr);
  EXPECT_EQ(window.like("x", "k", "b", 4), nullptr);
}

TEST(RabbitmqWindow, OnlyOneIsTheOneThatIsNeitherAnsweredNorComeBack) {
  Window window = filled(4);
  EXPECT_FALSE(window.answer_only());
  window.answer(1);
  window.answer(3);
  EXPECT_FALSE(window.answer_only());
  window.like("x", "k", "2", 3)->returned = "no route";
  EXPECT_EQ(window.answer_only()->tag, 104u);
  EXPECT_FALSE(window.answer_only());
  EXPECT_EQ(window.size(), 1u);
}

TEST(RabbitmqWindow, SpanCountsWhatIsAnsweredBehindOneThatIsNot) {
  Window window = filled(4);
  window.answer(2);
  window.answer(3);
  EXPECT_EQ(window.size(), 2u);
  EXPECT_EQ(window.span(), 4u);
  window.answer(1);
  EXPECT_EQ(window.span(), 1u);
}

TEST(RabbitmqWindow, WhatWasGivenUpMayStillBeMeant) {
  Window window = filled(2);
  EXPECT_EQ(window.give_up_oldest()->tag, 101u);
  EXPECT_FALSE(window.answer_only());
  EXPECT_EQ(window.size(), 1u);
  EXPECT_EQ(window.size_with_given_up(), 2u);
}

}  // namespace
}  // namespace onceward::rabbitmq
