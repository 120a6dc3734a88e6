#include <gtest/gtest.h>

#include "onceward/envelope.h"

namespace onceward {
namespace {

ReadEnvelope read_either(std::string_view text, const EnvelopeLimits& limits = {}) {
  return read_envelope(Bytes::copy_of(text), limits);
}

TEST(EitherJson, MessageWithASpecversionIsACloudEvent) {
  const auto event = read_either(R"({"specversion":"1.0","id":"e1","source":"shop","type":"t","data":{"a":1}})");
  ASSERT_TRUE(std::holds_alternative<Envelope>(event));
  EXPECT_EQ(std::get<Envelope>(event).producer(), Producer("shop"));
  EXPECT_EQ(std::get<Envelope>(event).payload(), R"({"a":1})");
}

TEST(EitherJson, AnyOtherIsOurs) {
  const auto ours = read_either(R"({"messageId":"m1","producer":"shop","payload":{"a":1}})");
  ASSERT_TRUE(std::holds_alternative<Envelope>(ours));
  EXPECT_EQ(std::get<Envelope>(ours).message_id(), MessageId("m1"));
}

TEST(EitherJson, SpecversionInsideOfAPayloadOrAsAValueIsNoMark) {
  for (const char* const text : {R"({"messageId":"m1","producer":"shop","payload":{"specversion":"1.0","id":"e1"}})",
                                 R"({"messageId":"m1","producer":"specversion","payload":["specversion"]})"}) {
    const auto ours = read_either(text);
    ASSERT_TRUE(std::holds_alternative<Envelope>(ours)) << text;
    EXPECT_EQ(std::get<Envelope>(ours).message_id(), MessageId("m1")) << text;
  }
}

TEST(EitherJson, WhatIsNeitherIsRefused) {
  for (const char* const text : {"", "specversion", R"(["specversion"])", R"({"specversion":)", "{"}) {
    const auto refused = read_either(text);
    ASSERT_TRUE(std::holds_alternative<Refusal>(refused)) << text;
    EXPECT_EQ(std::get<Refusal>(refused).reason, Reason::malformed_json) << text;
  }
}

TEST(EitherJson, BothHaveTheSameLimits) {
  for (const char* const text : {R"({"specversion":"1.0","id":"e1","source":"shop","type":"t"})",
                                 R"({"messageId":"m1","producer":"shop","payload":"0123456789"})"}) {
    const auto refused = read_either(text, {.message_bytes = 50});
    ASSERT_TRUE(std::holds_alternative<Refusal>(refused)) << text;
    EXPECT_EQ(std::get<Refusal>(refused).reason, Reason::too_large) << text;
  }
}

}  // namespace
}  // namespace onceward
