#include "src/declaration/no_identity.h"

#include <gtest/gtest.h>

#include <map>

namespace onceward::declaration {
namespace {

std::string_view anchor(const NoIdentity* kind) { return kind ? kind->anchor : "an identity"; }

TEST(NoIdentity, KnowsEveryKindByItsName) {
  const std::map<std::string_view, std::string_view> expected = {
      {"delivery_tag", "k13-delivery-tag"},
      {"offset", "k13-offset"},
      {"correlation_id", "k13-correlation-id"},
      {"random", "k13-random-uuid-per-retry"},
      {"timestamp", "k13-timestamp"},
      {"recipient", "k13-recipient-only"},
      {"row_id", "k13-row-id"},
      {"payload_hash", "k13-payload-hash"},
      {"redelivered", "k13-delivery-tag"},
      {"topic-partition-offset", "k13-offset"},
      {"partition/offset", "k13-offset"},
      {"uuid", "k13-random-uuid-per-retry"},
      {"generated", "k13-random-uuid-per-retry"},
      {"occurred_at", "k13-timestamp"},
      {"occurredAt", "k13-timestamp"},
      {"id", "k13-row-id"},
      {"causation_id", "k13-correlation-id"},
      {"business_key", ""},
      {"aggregate_id", ""},
  };
  for (const auto& [word, wanted] : expected) EXPECT_EQ(anchor(no_identity_named(word)), wanted) << word;
}

TEST(NoIdentity, KnowsHeadersOfEveryBinding) {
  const std::map<std::string_view, std::string_view> expected = {
      {"x-delivery-count", "k13-delivery-tag"},
      {"x-death", "k13-delivery-tag"},
      {"x-first-death-queue", "k13-delivery-tag"},
      {"JMSXDeliveryCount", "k13-delivery-tag"},
      {"JMSRedelivered", "k13-delivery-tag"},
      {"x-stream-offset", "k13-offset"},
      {"kafka_offset", "k13-offset"},
      {"kafka_receivedPartitionId", "k13-offset"},
      {"X-Correlation-ID", "k13-correlation-id"},
      {"JMSCorrelationID", "k13-correlation-id"},
      {"ce_correlationid", "k13-correlation-id"},
      {"traceparent", "k13-correlation-id"},
      {"ce-time", "k13-timestamp"},
      {"cloudEvents:time", "k13-timestamp"},
      {"JMSTimestamp", "k13-timestamp"},
      {"x-retry-count", "k13-random-uuid-per-retry"},
      {"content-md5", "k13-payload-hash"},
  };
  for (const auto& [header, wanted] : expected) EXPECT_EQ(anchor(no_identity_in_header(header)), wanted) << header;
}

TEST(NoIdentity, JudgesAPointerByItsLastMember) {
  EXPECT_EQ(anchor(no_identity_at("/meta/offset")), "k13-offset");
  EXPECT_EQ(anchor(no_identity_at("/createdAt")), "k13-timestamp");
  EXPECT_EQ(anchor(no_identity_at("/notification/to")), "k13-recipient-only");
  EXPECT_EQ(no_identity_at("/offset/id"), nullptr);
}

// Real ids have these names; as bare words they would say nothing about whose id is meant.
TEST(NoIdentity, LetsRealIdentitiesThrough) {
  for (const char* header : {"id", "ce_id", "cloudEvents_id", "ce-id", "message-id", "JMSMessageID", "event_id", "uuid",
                             "Idempotency-Key", "x-request-id", "x-event-id"})
    EXPECT_EQ(no_identity_in_header(header), nullptr) << header;
  for (const char* pointer : {"/id", "/captureRequestId", "/transitionId", "/commandId", "/uuid", "/hash", "/", ""})
    EXPECT_EQ(no_identity_at(pointer), nullptr) << pointer;
  for (const char* word : {"message_id", "event_id", "command_id", "idempotency_key", "aggregate_version"})
    EXPECT_EQ(no_identity_named(word), nullptr) << word;
}

TEST(NoIdentity, ExplainsAndNamesAWayOut) {
  for (const NoIdentity& kind : no_identities()) {
    EXPECT_TRUE(explain(kind).starts_with("is no identity: ")) << kind.anchor;
    EXPECT_NE(way_out(kind).find("see docs/concepts/identity.md"), std::string::npos) << kind.anchor;
    EXPECT_FALSE(kind.names.empty() && kind.as_word.empty()) << kind.anchor;
  }
}

}  // namespace
}  // namespace onceward::declaration
