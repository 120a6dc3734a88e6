#include "src/quarantine/dead_letter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/common/hex.h"
#include "tests/fixtures/message.h"

namespace onceward {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

MATCHER_P2(Is, name, value, "") { return arg.name == name && arg.value == value; }

Envelope message_of(std::string_view payload, std::span<const Header> headers = {}) {
  EnvelopeFields fields;
  fields.message_id = MessageId("m-1");
  fields.producer = Producer("till");
  fields.event_type = EventType("paid");
  fields.partition_key = "account-7";
  fields.payload = payload;
  fields.headers = headers;
  return Envelope::copy_of(fields);
}

Parked parked_as(const Envelope& envelope) { return parked(envelope, 3, "attempts_exhausted", "it threw"); }

// What the relay makes of a row whose headers it has read.
Envelope message_in(const Parked& row) {
  const Header headers[] = {
      {"onceward-consumer", "payments"}, {"onceward-reason", row.reason}, {"onceward-envelope", row.envelope}};
  return dead_letter(headers, row.payload);
}

TEST(DeadLetter, IsTheMessageItselfWithTheConsumerAndTheReason) {
  const std::string payload("\xff\0no text", 9);
  const Header own[] = {{"x", "1"}};
  const Envelope envelope = message_of(payload, own);
  const Envelope copy = message_in(parked_as(envelope));
  EXPECT_EQ(copy.message_id(), MessageId("m-1"));
  EXPECT_EQ(copy.producer(), Producer("till"));
  EXPECT_EQ(copy.event_type(), EventType("paid"));
  EXPECT_EQ(copy.fields().partition_key, "account-7");
  EXPECT_EQ(copy.payload(), payload);
  EXPECT_THAT(copy.headers(), ElementsAre(Is("x", "1"), Is("onceward-consumer", "payments"),
                                          Is("onceward-reason", "attempts_exhausted")));
}

TEST(DeadLetter, OfOneThatWasDeadBeforeSaysTheLastReason) {
  const Header own[] = {{"onceward-reason", "conflict"}, {"onceward-consumer", "billing"}};
  const Envelope envelope = message_of("{}", own);
  EXPECT_THAT(message_in(parked_as(envelope)).headers(),
              ElementsAre(Is("onceward-consumer", "payments"), Is("onceward-reason", "attempts_exhausted")));
}

TEST(DeadLetters, AreRowsBehindWhatWasStaged) {
  const Envelope with_id = message_of("{}"), without = Envelope::copy_of({});
  const Parked first = parked_as(with_id), second = parked_as(without);
  const Parked* const both[] = {&first, &second};
  StagedOutgoing staged{};
  staged.message.id = "staged";
  const DeadLetters letters({&staged, 1}, both, "payments");
  const auto rows = letters.with_staged();
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].message.id, "staged");
  EXPECT_EQ(rows[1].message.id, "m-1");
  EXPECT_EQ(rows[1].message.type, "onceward.dead_letter.payments");
  EXPECT_EQ(rows[1].message.content_type, dead_letter_content_type);
  EXPECT_EQ(rows[1].message.payload, "{}");
  EXPECT_THAT(rows[1].headers_json, HasSubstr(R"("onceward-reason":"attempts_exhausted")"));
  EXPECT_EQ(rows[2].message.id, to_hex(second.fingerprint.bytes)) << "of one without an id";
}

}  // namespace
}  // namespace onceward
