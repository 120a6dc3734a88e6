#include "src/quarantine/kept_envelope.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <deque>

#include "src/common/stored_text.h"
#include "src/envelope/arbitrary_envelope.h"
#include "src/wire/wire.h"

namespace onceward {
namespace {

TEST(KeptEnvelope, ReadsBackAsTheSameMessageWithoutItsPayload) {
  const std::array<Header, 1> headers{{{"x-retry", "a \"b\"\n"}}};
  EnvelopeFields fields;
  fields.tenant = Tenant("acme");
  fields.producer = Producer("shop");
  fields.message_id = MessageId("m-\u00e9");
  fields.aggregate_version = 7;
  fields.headers = headers;
  fields.payload = "never written twice";
  const std::string kept = kept_envelope(Envelope(fields, nullptr));
  EXPECT_EQ(kept.find("never"), std::string::npos);
  EXPECT_EQ(kept.find("exact"), std::string::npos) << "it is all text";

  const ReadEnvelope read = read_json_envelope(Bytes::copy_of(kept));
  ASSERT_TRUE(std::holds_alternative<Envelope>(read));
  const Envelope& envelope = std::get<Envelope>(read);
  EXPECT_EQ(envelope.tenant(), fields.tenant);
  EXPECT_EQ(envelope.producer(), fields.producer);
  EXPECT_EQ(envelope.message_id(), fields.message_id);
  EXPECT_EQ(envelope.aggregate_version(), 7);
  EXPECT_EQ(envelope.header("x-retry"), headers[0].value);
  EXPECT_TRUE(envelope.payload().empty());
}

RC_GTEST_PROP(KeptEnvelope, OfTextIsReadBackAsItWas, ()) {
  const Envelope envelope = arbitrary_envelope(HeaderNames::any);
  RC_ASSERT(read_kept(kept_envelope(envelope), envelope.payload()) == envelope);
}

// Bytes, so that most of it is no text, and header names that come twice.
RC_GTEST_PROP(KeptEnvelope, OfAnyBytesIsReadBackAsItWasAndEveryStoreCanKeepIt, ()) {
  std::deque<std::string> texts;
  const auto bytes = [&]() -> std::string_view {
    return texts.emplace_back(*rc::gen::container<std::string>(rc::gen::arbitrary<char>()));
  };
  EnvelopeFields fields;
  for (const TextMember& member : kTextMembers) {
    if (*rc::gen::inRange(0, 3) == 0) member.set(fields, bytes());
  }
  if (*rc::gen::arbitrary<bool>()) {
    fields.occurred_at = Timestamp(std::chrono::microseconds(*rc::gen::arbitrary<std::int64_t>()));
  }
  std::vector<Header> headers;
  for (int i = *rc::gen::inRange(0, 4); i > 0; --i) {
    headers.push_back({*rc::gen::arbitrary<bool>() ? bytes() : "again", bytes()});
  }
  fields.headers = headers;
  fields.payload = bytes();
  if (*rc::gen::arbitrary<bool>()) fields.unread = static_cast<Reason>(*rc::gen::inRange(0, 23));
  const Envelope envelope = Envelope::copy_of(fields);
  const std::string kept = kept_envelope(envelope);
  RC_ASSERT(flaw_of(kept) == TextFlaw::none);
  RC_ASSERT(read_kept(kept, envelope.payload()) == envelope);
}

TEST(KeptEnvelope, PastTheLimitsOfMostSourcesIsReadBackAsItWas) {
  const std::string long_id(5'000, 'i');
  const std::string long_value(1'000, 'v');
  std::deque<std::string> names;
  std::vector<Header> headers;
  for (int i = 0; i < 200; ++i) headers.push_back({names.emplace_back("h" + std::to_string(i)), long_value});
  EnvelopeFields fields;
  fields.message_id = MessageId(long_id);
  fields.headers = headers;
  const Envelope envelope = Envelope::copy_of(fields);
  EXPECT_EQ(read_kept(kept_envelope(envelope), ""), envelope);
}

Envelope unread_of(std::string_view content_type, std::string_view payload) {
  EnvelopeFields fields;
  fields.content_type = content_type;
  fields.payload = payload;
  fields.unread = Reason::id_too_long;
  return Envelope::copy_of(fields);
}

TEST(UnreadBody, ThatCanBeReadByNowIsRead) {
  const std::string id(5'000, 'i');
  const Envelope ours = unread_of(envelope_content_type, R"({"payload":[1, 2],"messageId":")" + id + "\"}");
  const Envelope read = read_kept(kept_envelope(ours), ours.payload());
  EXPECT_EQ(read.message_id(), MessageId(id));
  EXPECT_EQ(read.payload(), "[1, 2]");
  EXPECT_EQ(read.fields().unread, std::nullopt);

  const std::string deep = std::string(100, '[') + std::string(100, ']');
  const Envelope event = unread_of(cloudevent_content_type,
                                   R"({"specversion":"1.0","id":"m","source":"s","type":"t","data":)" + deep + "}");
  EXPECT_EQ(read_kept(kept_envelope(event), event.payload()).payload(), deep);
}

TEST(UnreadBody, ThatStillCannotBeReadStaysUnread) {
  for (const Envelope& envelope :
       {unread_of(envelope_content_type, "{"), unread_of(cloudevent_content_type, R"({"messageId":"m"})"),
        unread_of("application/json", R"({"messageId":"m"})")}) {
    EXPECT_EQ(read_kept(kept_envelope(envelope), envelope.payload()), envelope);
  }
}

TEST(KeptEnvelope, ThatCannotBeReadLeavesThePayload) {
  for (const char* const kept : {"", "{", "[]", "7", R"({"messageId":"a\u0000"})", R"({"exact":7})",
                                 R"({"exact":{"messageId":5,"headers":["YQ=="],"occurredAt":7},"unread":3})",
                                 R"({"exact":{"headers":[["YQ=="],{"a":1},"YQ=="],"messageId":[]}})"}) {
    const Envelope read = read_kept(kept, "bytes");
    EXPECT_EQ(read.payload(), "bytes") << kept;
    EXPECT_TRUE(read.message_id().empty()) << kept;
  }
}

}  // namespace
}  // namespace onceward
