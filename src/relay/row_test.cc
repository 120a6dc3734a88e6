#include "src/relay/row.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "src/envelope/arbitrary_envelope.h"
#include "src/outbox/staging.h"
#include "src/quarantine/dead_letter.h"

namespace onceward::relay {
namespace {

// As a store gives it back.
Row stored(const StagedOutgoing& staged) {
  Row row(row_width);
  row[0] = std::int64_t{7};
  for (std::size_t column = 1; column <= 11; ++column) row[column] = std::string();
  row[1] = std::string(staged.message.key);
  row[2] = std::string(staged.message.id);
  row[3] = std::string(staged.message.type);
  row[10] = std::string(staged.message.content_type);
  row[11] = std::string(staged.headers_json);
  row[12] = OwnedBlob{std::string(staged.message.payload)};
  row[15] = std::int64_t{0};
  return row;
}

OutboxRow through_the_outbox(const Envelope& envelope) {
  const Parked parked_row = parked(envelope, 3, "attempts_exhausted", "");
  const Parked* const rows[] = {&parked_row};
  const DeadLetters letters({}, rows, "payments");
  return outbox_row(stored(letters.with_staged().front()), "shop");
}

RC_GTEST_PROP(DeadLetterRow, BecomesTheMessageItselfAndTwoHeaders, ()) {
  const Envelope envelope = arbitrary_envelope(HeaderNames::any);
  const OutboxRow row = through_the_outbox(envelope);
  RC_ASSERT(row.type == "onceward.dead_letter.payments");
  RC_ASSERT(row.key.empty());
  RC_ASSERT(row.payload_bytes == envelope.payload().size());
  EnvelopeFields expected = envelope.fields();
  std::vector<Header> headers(expected.headers.begin(), expected.headers.end());
  headers.push_back({"onceward-consumer", "payments"});
  headers.push_back({"onceward-reason", "attempts_exhausted"});
  expected.headers = headers;
  RC_ASSERT(row.envelope == Envelope(expected, nullptr));
}

TEST(DeadLetterRow, IsPublishedWithTheKeyOfItsMessage) {
  EnvelopeFields fields;
  fields.aggregate_id = AggregateId("order-7");
  EXPECT_EQ(through_the_outbox(Envelope(fields, nullptr)).partition_key, "order-7");
  fields.partition_key = "account-1";
  EXPECT_EQ(through_the_outbox(Envelope(fields, nullptr)).partition_key, "account-1");
}

TEST(DeadLetterRow, OfAnotherHandIsNoMoreThanItsPayload) {
  StagedOutgoing staged{};
  staged.message.id = "m";
  staged.message.type = "onceward.dead_letter.payments";
  staged.message.content_type = dead_letter_content_type;
  staged.message.payload = "bytes";
  for (const char* const headers :
       {"", "{}", "7", R"({"onceward-envelope":"{"})",
        R"({"onceward-envelope":"{\"exact\":{\"messageId\":5,\"headers\":[\"YQ==\"]}}"})"}) {
    staged.headers_json = headers;
    const OutboxRow row = outbox_row(stored(staged), "shop");
    EXPECT_EQ(row.envelope.payload(), "bytes") << headers;
    EXPECT_TRUE(row.envelope.message_id().empty()) << headers;
  }
}

}  // namespace
}  // namespace onceward::relay
