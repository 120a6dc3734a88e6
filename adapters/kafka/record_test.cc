#include "adapters/kafka/record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace onceward::kafka {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

const EnvelopeLimits limits;

Delivery read(const Record& record, WireFormat format = WireFormat::automatic, std::string_view id_header = "id") {
  return read_record(record, {format, id_header, limits});
}

// What would be received of an envelope that was published.
Delivery read_back(const Envelope& envelope, WireFormat format) {
  const WrittenRecord written = write_record(envelope, format);
  Record record;
  if (!written.tombstone) record.value = written.written.body();
  for (const BinaryAttribute& header : written.written.headers) record.headers.push_back({header.name, header.value});
  return read(record);
}

TEST(NativeRecord, IdentityIsAHeaderAndTheAggregateIsTheKey) {
  const Delivery delivery = read({.key = "order-7",
                                  .value = "\x01\xff",
                                  .headers = {{"id", "m-1"},
                                              {"Content-Type", "application/x-thing"},
                                              {"traceparent", "00-1"},
                                              {"tenant", "main"},
                                              {"tenant", "other"},
                                              {"id", "second"}}});
  ASSERT_FALSE(delivery.refusal);
  const Envelope& envelope = delivery.envelope;
  EXPECT_EQ(envelope.message_id(), MessageId("m-1"));
  EXPECT_EQ(envelope.aggregate_id(), AggregateId("order-7"));
  EXPECT_EQ(envelope.fields().content_type, "application/x-thing");
  EXPECT_EQ(envelope.fields().trace_parent, "00-1");
  EXPECT_EQ(envelope.payload(), "\x01\xff");
  EXPECT_THAT(envelope.headers(),
              ElementsAre(Header{"tenant", "main"}, Header{"tenant", "other"}, Header{"id", "second"}));
  EXPECT_TRUE(envelope.producer().empty()) << "that is configured";
}

TEST(NativeRecord, OtherHeaderMayBeTheId) {
  const Record record{.value = "x", .headers = {{"id", "no"}, {"x-message-id", "m-1"}}};
  EXPECT_EQ(read(record, WireFormat::automatic, "x-message-id").envelope.message_id(), MessageId("m-1"));
}

// Where it was is no identity: who has no id is refused where ids are looked at.
TEST(NativeRecord, WithoutAnIdHasNone) {
  const Delivery delivery = read({.key = "k", .value = "x"});
  EXPECT_FALSE(delivery.refusal);
  EXPECT_TRUE(delivery.envelope.message_id().empty());
}

TEST(NativeRecord, WhatCannotBeAnIdentityIsRefusedWithItsBytes) {
  EXPECT_EQ(read({.value = "x", .headers = {{"id", "\xff"}}}).refusal->reason, Reason::invalid_utf8);
  EXPECT_EQ(read({.key = std::string_view("a\0b", 3), .value = "x"}).refusal->reason, Reason::nul_in_text);
  EXPECT_EQ(read({.key = "\xff", .value = "x"}).refusal->detail, "key");
  const std::string long_id(256, 'a');
  const Delivery delivery = read({.value = "body", .headers = {{"id", long_id}}});
  EXPECT_EQ(delivery.refusal->reason, Reason::id_too_long);
  EXPECT_EQ(delivery.envelope.payload(), "body");
}

TEST(RefusedRecord, KeepsItsKeyItsHeadersAndItsId) {
  const std::string long_id(256, 'a');
  const Record record{.key = "order-7", .value = "body", .headers = {{"tenant", "main"}, {"id", long_id}}};
  const Delivery native = read(record);
  ASSERT_TRUE(native.refusal);
  EXPECT_EQ(native.envelope.message_id(), MessageId(long_id));
  EXPECT_EQ(native.envelope.aggregate_id(), AggregateId("order-7"));
  EXPECT_EQ(native.envelope.header("tenant"), "main");
  EXPECT_EQ(native.envelope.fields().unread, std::nullopt) << "its payload is its payload";

  const Delivery body = read(record, WireFormat::envelope);
  ASSERT_TRUE(body.refusal);
  EXPECT_EQ(body.envelope.fields().unread, Reason::malformed_json);
  EXPECT_EQ(body.envelope.header("onceward-kept-aggregateId"), "order-7");
  EXPECT_EQ(body.envelope.header("onceward-kept-messageId"), long_id);
  EXPECT_EQ(body.envelope.header("tenant"), "main");
  EXPECT_EQ(body.envelope.payload(), "body");
}

TEST(RefusedRecord, KeepsWhatIsNoTextToo) {
  const Delivery delivery = read({.key = "\xff", .value = "x", .headers = {{"id", std::string_view("a\0b", 3)}}});
  ASSERT_TRUE(delivery.refusal);
  EXPECT_EQ(delivery.envelope.header("onceward-kept-aggregateId"), "\xff");
  EXPECT_EQ(delivery.envelope.header("onceward-kept-messageId"), std::string_view("a\0b", 3));
  EXPECT_TRUE(delivery.envelope.message_id().empty());
}

// Where the place stands for a missing id, it stands for no other: an id that cannot be read is one.
TEST(RefusedRecord, IsKnownByItsPlaceOnlyWhereItHasNoId) {
  const Reading by_place{.limits = limits, .missing_id = "orders/0@7"};
  const Delivery unreadable = read_record({.value = "x", .headers = {{"id", "\xff"}}}, by_place);
  ASSERT_TRUE(unreadable.refusal);
  EXPECT_TRUE(unreadable.envelope.message_id().empty());
  EXPECT_EQ(unreadable.envelope.header("onceward-kept-messageId"), "\xff");
  const Delivery without = read_record({.key = "\xff", .value = "x"}, by_place);
  ASSERT_TRUE(without.refusal);
  EXPECT_EQ(without.envelope.message_id(), MessageId("orders/0@7"));
}

TEST(RefusedRecord, OfACloudEventKeepsItsIdentityAndTheKey) {
  const Delivery delivery = read({.key = "order-7",
                                  .value = "{}",
                                  .headers = {{"ce_specversion", "1.0"}, {"ce_id", "e-1"}, {"ce_source", "/shop"}}});
  ASSERT_TRUE(delivery.refusal);
  EXPECT_EQ(delivery.refusal->detail, "type");
  EXPECT_EQ(delivery.envelope.message_id(), MessageId("e-1"));
  EXPECT_EQ(delivery.envelope.producer(), Producer("/shop"));
  EXPECT_EQ(delivery.envelope.header("onceward-kept-aggregateId"), "order-7");
  EXPECT_EQ(delivery.envelope.payload(), "{}");
}

TEST(NativeRecord, HeadersAreBytesToOthers) {
  const Delivery delivery = read({.value = "x", .headers = {{"id", "m"}, {"raw", "\xff"}}});
  EXPECT_EQ(delivery.envelope.header("raw"), "\xff");
}

TEST(Tombstone, HasNoPayloadAndSaysSo) {
  const Delivery delivery = read({.key = "order-7", .headers = {{"id", "m-1"}}});
  ASSERT_FALSE(delivery.refusal);
  EXPECT_EQ(delivery.envelope.payload(), "");
  EXPECT_EQ(delivery.envelope.header(kafka_tombstone_header), "true");
  EXPECT_EQ(delivery.envelope.aggregate_id(), AggregateId("order-7"));
  EXPECT_FALSE(read({.value = "", .headers = {{"id", "m-1"}}}).envelope.header(kafka_tombstone_header))
      << "what is empty is there";
  EXPECT_FALSE(
      read({.value = "x", .headers = {{kafka_tombstone_header, "true"}}}).envelope.header(kafka_tombstone_header))
      << "nobody else says it";
}

TEST(Tombstone, OfACloudEventSaysSoToo) {
  const Delivery delivery =
      read({.headers = {{"ce_specversion", "1.0"}, {"ce_id", "e"}, {"ce_source", "s"}, {"ce_type", "t"}}});
  ASSERT_FALSE(delivery.refusal);
  EXPECT_EQ(delivery.envelope.message_id(), MessageId("e"));
  EXPECT_EQ(delivery.envelope.header(kafka_tombstone_header), "true");
}

TEST(Tombstone, IsReadBackAsOne) {
  EnvelopeFields fields;
  fields.message_id = MessageId("m");
  fields.producer = Producer("p");
  fields.event_type = EventType("t");
  const Header headers[] = {{kafka_tombstone_header, "true"}};
  fields.headers = headers;
  for (const WireFormat format : {WireFormat::native, WireFormat::binary, WireFormat::automatic}) {
    EXPECT_TRUE(write_record(Envelope::copy_of(fields), format).tombstone);
    const Delivery delivery = read_back(Envelope::copy_of(fields), format);
    EXPECT_EQ(delivery.envelope.header(kafka_tombstone_header), "true");
    EXPECT_EQ(delivery.envelope.message_id(), MessageId("m"));
  }
}

TEST(Tombstone, ThatIsNoCloudEventStaysOne) {
  const Header headers[] = {{kafka_tombstone_header, "true"}};
  EnvelopeFields fields;
  fields.message_id = MessageId("m");
  fields.headers = headers;
  const Delivery delivery = read_back(Envelope::copy_of(fields), WireFormat::automatic);
  EXPECT_FALSE(delivery.refusal);
  EXPECT_EQ(delivery.envelope.header(kafka_tombstone_header), "true");
  EXPECT_EQ(delivery.envelope.message_id(), MessageId("m"));
}

TEST(CloudEventRecord, BinaryHasItsAttributesInHeaders) {
  const Delivery delivery = read({.key = "k",
                                  .value = R"({"a":1})",
                                  .headers = {{"ce_specversion", "1.0"},
                                              {"ce_id", "e-1"},
                                              {"ce_source", "/shop"},
                                              {"ce_type", "paid"},
                                              {"ce_subject", "order-7"},
                                              {"content-type", "application/json"},
                                              {"other", "x"}}});
  ASSERT_FALSE(delivery.refusal);
  EXPECT_EQ(delivery.envelope.message_id(), MessageId("e-1"));
  EXPECT_EQ(delivery.envelope.producer(), Producer("/shop"));
  EXPECT_EQ(delivery.envelope.aggregate_id(), AggregateId("order-7"));
  EXPECT_EQ(delivery.envelope.fields().content_type, "application/json");
  EXPECT_THAT(delivery.envelope.headers(), ElementsAre(Header{"other", "x"}));
}

TEST(CloudEventRecord, StructuredIsToldByItsContentType) {
  const Delivery delivery = read({.value = R"({"specversion":"1.0","id":"e","source":"s","type":"t","data":[1]})",
                                  .headers = {{"content-type", "application/cloudevents+json; charset=UTF-8"}}});
  ASSERT_FALSE(delivery.refusal);
  EXPECT_EQ(delivery.envelope.message_id(), MessageId("e"));
  EXPECT_EQ(delivery.envelope.payload(), "[1]");
}

TEST(CloudEventRecord, TraceContextOfTheTransportIsTaken) {
  const std::vector<Header> event{{"ce_specversion", "1.0"}, {"ce_id", "e"}, {"ce_source", "s"}, {"ce_type", "t"}};
  Record record{.value = "x", .headers = event};
  record.headers.push_back({"traceparent", "00-outer"});
  Delivery delivery = read(record);
  EXPECT_EQ(delivery.envelope.fields().trace_parent, "00-outer");
  EXPECT_THAT(delivery.envelope.headers(), IsEmpty());
  record.headers.push_back({"ce_traceparent", "00-inner"});
  delivery = read(record);
  ASSERT_FALSE(delivery.refusal);
  EXPECT_EQ(delivery.envelope.fields().trace_parent, "00-inner") << "the event's own goes before";
}

TEST(WrittenRecord, IsReadBackAsItWas) {
  EnvelopeFields fields;
  fields.message_id = MessageId("m-1");
  fields.event_id = EventId("m-1");
  fields.producer = Producer("/orders");
  fields.event_type = EventType("order.placed");
  fields.content_type = "application/json";
  fields.trace_parent = "00-1";
  const Header headers[] = {{"shard", "7"}};
  fields.headers = headers;
  fields.payload = R"({"amount": 1})";
  const Envelope envelope = Envelope::copy_of(fields);
  for (const WireFormat format :
       {WireFormat::envelope, WireFormat::structured, WireFormat::binary, WireFormat::automatic}) {
    EXPECT_EQ(read_back(envelope, format).envelope, envelope) << static_cast<int>(format);
  }
  const WrittenRecord native = write_record(envelope, WireFormat::native);
  EXPECT_EQ(native.written.body(), fields.payload);
  EXPECT_THAT(native.written.headers, UnorderedElementsAre(BinaryAttribute{"shard", "7"}, BinaryAttribute{"id", "m-1"},
                                                           BinaryAttribute{"traceparent", "00-1"},
                                                           BinaryAttribute{"content-type", "application/json"}));
  EXPECT_EQ(read_back(envelope, WireFormat::native).envelope.message_id(), MessageId("m-1"));
}

// A record may have a header twice, and whoever reads it takes the first.
TEST(WrittenRecord, OwnHeadersStandBeforeOthersOfTheirNames) {
  const Delivery came = read({.value = "x",
                              .headers = {{"id", "m-1"},
                                          {"content-type", "text/plain"},
                                          {"id", "second"},
                                          {"content-type", "second"},
                                          {"traceparent", "00-1"},
                                          {"traceparent", "second"}}});
  const Envelope again = read_back(came.envelope, WireFormat::native).envelope;
  EXPECT_EQ(again.message_id(), MessageId("m-1"));
  EXPECT_EQ(again.fields().content_type, "text/plain");
  EXPECT_EQ(again.fields().trace_parent, "00-1");
  EXPECT_THAT(again.headers(), ElementsAre(Header{"id", "second"}, Header{"content-type", "second"}));
}

}  // namespace
}  // namespace onceward::kafka
