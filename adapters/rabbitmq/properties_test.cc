#include "adapters/rabbitmq/properties.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "adapters/rabbitmq/replies.h"

namespace onceward::rabbitmq {
namespace {

constexpr std::string_view trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

amqp_field_value_t utf8(std::string_view text) {
  amqp_field_value_t value{};
  value.kind = AMQP_FIELD_KIND_UTF8;
  value.value.bytes = bytes_of(text);
  return value;
}

// Properties with headers that live as long.
class Properties {
 public:
  Properties& header(std::string_view name, const amqp_field_value_t& value) {
    amqp_table_entry_t& entry = entries_.emplace_back();
    entry.key = bytes_of(name);
    entry.value = value;
    is._flags |= AMQP_BASIC_HEADERS_FLAG;
    is.headers = {static_cast<int>(entries_.size()), entries_.data()};
    return *this;
  }
  Properties& header(std::string_view name, std::string_view text) { return header(name, utf8(text)); }
  Properties& set(amqp_bytes_t amqp_basic_properties_t::* member, amqp_flags_t flag, std::string_view text) {
    is.*member = bytes_of(text);
    is._flags |= flag;
    return *this;
  }
  Properties& content_type(std::string_view text) {
    return set(&amqp_basic_properties_t::content_type, AMQP_BASIC_CONTENT_TYPE_FLAG, text);
  }
  Properties& message_id(std::string_view text) {
    return set(&amqp_basic_properties_t::message_id, AMQP_BASIC_MESSAGE_ID_FLAG, text);
  }
  amqp_basic_properties_t is{};

 private:
  std::vector<amqp_table_entry_t> entries_;
};

Delivery read(const Properties& properties, std::string_view body, WireFormat format = WireFormat::automatic) {
  return MessageReader(format, {}).read(properties.is, Bytes::copy_of(body));
}

TEST(RabbitmqProperties, NativeMessageHasItsIdentityInThem) {
  Properties properties;
  properties.message_id("m-1")
      .set(&amqp_basic_properties_t::app_id, AMQP_BASIC_APP_ID_FLAG, "shop")
      .set(&amqp_basic_properties_t::type, AMQP_BASIC_TYPE_FLAG, "order.paid")
      .set(&amqp_basic_properties_t::correlation_id, AMQP_BASIC_CORRELATION_ID_FLAG, "c-1")
      .content_type("application/json")
      .header("tenant", "main")
      .header("traceparent", trace);
  properties.is.timestamp = 1'700'000'000;
  properties.is._flags |= AMQP_BASIC_TIMESTAMP_FLAG;
  const Delivery delivery = read(properties, R"({ "a":1 })");
  ASSERT_FALSE(delivery.refusal);
  const EnvelopeFields& fields = delivery.envelope.fields();
  EXPECT_EQ(fields.message_id, MessageId("m-1"));
  EXPECT_EQ(fields.producer, Producer("shop"));
  EXPECT_EQ(fields.event_type, EventType("order.paid"));
  EXPECT_EQ(fields.correlation_id, CorrelationId("c-1"));
  EXPECT_EQ(fields.content_type, "application/json");
  EXPECT_EQ(fields.occurred_at, Timestamp(std::chrono::seconds(1'700'000'000)));
  EXPECT_EQ(fields.trace_parent, trace);
  EXPECT_EQ(fields.payload, R"({ "a":1 })");
  EXPECT_THAT(fields.headers, testing::ElementsAre(Header{"tenant", "main"}));
}

TEST(RabbitmqProperties, MessageWithoutAnyIsReadWithoutIdentity) {
  const Delivery delivery = read({}, "x");
  EXPECT_FALSE(delivery.refusal);
  EXPECT_TRUE(delivery.envelope.message_id().empty());
  EXPECT_TRUE(delivery.envelope.producer().empty());
  EXPECT_EQ(delivery.envelope.payload(), "x");
  EXPECT_EQ(delivery.deliveries, 0u);
}

TEST(RabbitmqProperties, TimeThatNoCalendarHasIsLeftOut) {
  Properties properties;
  properties.is.timestamp = 1'700'000'000'000;  // somebody's milliseconds
  properties.is._flags |= AMQP_BASIC_TIMESTAMP_FLAG;
  const Delivery delivery = read(properties, "x");
  EXPECT_FALSE(delivery.refusal);
  EXPECT_FALSE(delivery.envelope.occurred_at());
}

TEST(RabbitmqProperties, IdentityThatIsNoTextIsRefusedAndItsBytesKept) {
  for (const std::string_view id : {std::string_view("a\xff"), std::string_view("a\0b", 3)}) {
    Properties properties;
    properties.message_id(id);
    const Delivery delivery = read(properties, "the body");
    ASSERT_TRUE(delivery.refusal);
    EXPECT_EQ(delivery.refusal->reason, id.size() == 2 ? Reason::invalid_utf8 : Reason::nul_in_text);
    EXPECT_EQ(delivery.envelope.payload(), "the body");
    EXPECT_EQ(delivery.envelope.header("onceward-kept-messageId"), id);
  }
}

TEST(RabbitmqProperties, RefusedMessageKeepsItsIdentityAndItsHeaders) {
  const std::string value(200'000, 'x');
  Properties native;
  native.message_id("m-1")
      .set(&amqp_basic_properties_t::app_id, AMQP_BASIC_APP_ID_FLAG, "shop")
      .header("tenant", "main")
      .header("large", value);
  const Delivery delivery = read(native, "the body");
  ASSERT_TRUE(delivery.refusal);
  EXPECT_EQ(delivery.envelope.message_id(), MessageId("m-1"));
  EXPECT_EQ(delivery.envelope.producer(), Producer("shop"));
  EXPECT_EQ(delivery.envelope.header("tenant"), "main");
  EXPECT_EQ(delivery.envelope.header("large"), value);

  Properties event;
  event.message_id("m-1").header("cloudEvents_specversion", "1.0").header("cloudEvents_source", "/shop");
  const Delivery binary = read(event, "the body");
  ASSERT_TRUE(binary.refusal);
  EXPECT_EQ(binary.refusal->reason, Reason::missing_message_id);
  EXPECT_EQ(binary.envelope.producer(), Producer("/shop"));
  EXPECT_EQ(binary.envelope.header("onceward-kept-messageId"), "m-1");
  EXPECT_TRUE(binary.envelope.message_id().empty()) << "an event has its id where events have it";
}

TEST(RabbitmqProperties, LimitsHoldForNativeMessages) {
  MessageReader reader(WireFormat::native, {.message_bytes = 4, .header_count = 1});
  EXPECT_EQ(reader.read({}, Bytes::copy_of("12345")).refusal->reason, Reason::too_large);
  Properties two;
  two.header("a", "1").header("b", "2");
  EXPECT_EQ(reader.read(two.is, Bytes::copy_of("1")).refusal->reason, Reason::too_many_headers);
  Properties large;
  const std::string value(20'000, 'x');
  large.header("a", value);
  EXPECT_EQ(reader.read(large.is, Bytes::copy_of("1")).refusal->reason, Reason::headers_too_large);
}

TEST(RabbitmqProperties, DeliveryCountIsAHintAndNoHeader) {
  Properties properties;
  amqp_field_value_t count{};
  count.kind = AMQP_FIELD_KIND_I64;
  count.value.i64 = 2;
  properties.header("x-delivery-count", count).header("other", "1");
  const Delivery delivery = read(properties, "x");
  EXPECT_EQ(delivery.deliveries, 3u);
  EXPECT_THAT(delivery.envelope.headers(), testing::ElementsAre(Header{"other", "1"}));
}

TEST(RabbitmqProperties, ContentTypeTellsTheFormat) {
  Properties event;
  event.content_type("application/cloudevents+json; charset=utf-8").message_id("not this");
  const Delivery structured = read(event, R"({"specversion":"1.0","id":"e1","source":"shop","type":"t","data":1})");
  EXPECT_EQ(structured.envelope.message_id(), MessageId("e1"));
  Properties ours;
  ours.content_type("application/vnd.onceward.envelope+json");
  const Delivery envelope = read(ours, R"({"messageId":"m1","producer":"shop","payload":[1]})");
  EXPECT_EQ(envelope.envelope.message_id(), MessageId("m1"));
  EXPECT_EQ(envelope.envelope.payload(), "[1]");
}

TEST(RabbitmqProperties, CloudEventsHaveTwoPrefixes) {
  for (const std::string prefix : {"cloudEvents_", "cloudEvents:"}) {
    const std::string names[] = {prefix + "specversion", prefix + "id", prefix + "source", prefix + "type"};
    Properties properties;
    properties.header(names[0], "1.0").header(names[1], "e1").header(names[2], "shop").header(names[3], "paid");
    properties.header("traceparent", trace);
    const Delivery delivery = read(properties, "data");
    ASSERT_FALSE(delivery.refusal) << prefix;
    EXPECT_EQ(delivery.envelope.message_id(), MessageId("e1"));
    EXPECT_EQ(delivery.envelope.producer(), Producer("shop"));
    EXPECT_EQ(delivery.envelope.fields().trace_parent, trace) << "also from the plain header";
    EXPECT_TRUE(delivery.envelope.headers().empty());
  }
}

TEST(RabbitmqProperties, ValuesOfOtherTypesAreText) {
  const auto text = [](int kind, const auto& put) {
    amqp_field_value_t value{};
    value.kind = static_cast<std::uint8_t>(kind);
    put(value.value);
    return text_of(value);
  };
  EXPECT_EQ(text(AMQP_FIELD_KIND_BOOLEAN, [](auto& v) { v.boolean = 1; }), "true");
  EXPECT_EQ(text(AMQP_FIELD_KIND_I8, [](auto& v) { v.i8 = -3; }), "-3");
  EXPECT_EQ(text(AMQP_FIELD_KIND_I16, [](auto& v) { v.i16 = -300; }), "-300");
  EXPECT_EQ(text(AMQP_FIELD_KIND_I32, [](auto& v) { v.i32 = 70'000; }), "70000");
  EXPECT_EQ(text(AMQP_FIELD_KIND_I64, [](auto& v) { v.i64 = INT64_MIN; }), "-9223372036854775808");
  EXPECT_EQ(text(AMQP_FIELD_KIND_U64, [](auto& v) { v.u64 = UINT64_MAX; }), "18446744073709551615");
  EXPECT_EQ(text(AMQP_FIELD_KIND_F64, [](auto& v) { v.f64 = 0.5; }), "0.5");
  EXPECT_EQ(text(AMQP_FIELD_KIND_DECIMAL, [](auto& v) { v.decimal = {2, 5}; }), "0.05");
  EXPECT_EQ(text(AMQP_FIELD_KIND_DECIMAL, [](auto& v) { v.decimal = {2, static_cast<std::uint32_t>(-105)}; }), "-1.05");
  EXPECT_EQ(text(AMQP_FIELD_KIND_TIMESTAMP, [](auto& v) { v.u64 = 1'700'000'000; }), "2023-11-14T22:13:20Z");
  EXPECT_EQ(text(AMQP_FIELD_KIND_VOID, [](auto&) {}), "");
}

TEST(RabbitmqProperties, TablesAndArraysAreJson) {
  amqp_field_value_t items[] = {utf8("a\"b"), utf8("\xff")};
  amqp_table_entry_t entry{};
  entry.key = bytes_of("list");
  entry.value.kind = AMQP_FIELD_KIND_ARRAY;
  entry.value.value.array = {2, items};
  amqp_field_value_t table{};
  table.kind = AMQP_FIELD_KIND_TABLE;
  table.value.table = {1, &entry};
  EXPECT_EQ(text_of(table), R"({"list":["a\"b","/w=="]})");
}

Envelope example() {
  const Header headers[] = {{"shard", "7"}};
  EnvelopeFields fields;
  fields.message_id = MessageId("m-1");
  fields.producer = Producer("shop");
  fields.event_type = EventType("order.paid");
  fields.correlation_id = CorrelationId("c-1");
  fields.content_type = "application/json";
  fields.trace_parent = trace;
  fields.occurred_at = Timestamp(std::chrono::seconds(1'700'000'000));
  fields.headers = headers;
  fields.payload = R"({ "a":1 })";
  return Envelope::copy_of(fields);
}

class RabbitmqFormats : public testing::TestWithParam<WireFormat> {};
INSTANTIATE_TEST_SUITE_P(All, RabbitmqFormats,
                         testing::Values(WireFormat::automatic, WireFormat::native, WireFormat::envelope,
                                         WireFormat::structured, WireFormat::binary));

TEST_P(RabbitmqFormats, WhatIsWrittenIsReadTheSame) {
  const Envelope envelope = example();
  MessageWriter writer(GetParam());
  const auto written = writer.write(envelope);
  const auto& message = std::get<MessageWriter::Message>(written);
  EXPECT_EQ(message.properties->delivery_mode, 2) << "persistent";
  EXPECT_EQ(view(message.properties->message_id), "m-1") << "in every format";
  MessageReader reader(WireFormat::automatic, {});
  const Delivery delivery = reader.read(*message.properties, Bytes::copy_of(message.body));
  ASSERT_FALSE(delivery.refusal);
  EXPECT_EQ(delivery.envelope, GetParam() == WireFormat::native ? example() : delivery.envelope);
  EXPECT_EQ(delivery.envelope.message_id(), envelope.message_id());
  EXPECT_EQ(delivery.envelope.payload(), envelope.payload());
  EXPECT_EQ(delivery.envelope.occurred_at(), envelope.occurred_at());
  EXPECT_EQ(delivery.envelope.fields().trace_parent, trace);
  EXPECT_EQ(delivery.envelope.header("shard"), "7");
  EXPECT_FALSE(delivery.envelope.header("traceparent"));
}

TEST(RabbitmqProperties, WhatAmqpHasNoRoomForIsToldBeforeItIsSent) {
  MessageWriter writer(WireFormat::native);
  const std::string long_id(256, 'a'), long_name(256, 'n'), long_value(70'000, 'v');
  const auto wrong = [&](const EnvelopeFields& fields) {
    const auto written = writer.write(Envelope::copy_of(fields));
    return written.index() == 1 ? std::get<1>(written) : "written";
  };
  EnvelopeFields fields;
  EXPECT_EQ(wrong(fields), "written");
  fields.message_id = MessageId(long_id);
  EXPECT_THAT(wrong(fields), testing::HasSubstr("messageId"));
  fields.message_id = {};
  const Header named[] = {{long_name, "1"}};
  fields.headers = named;
  EXPECT_THAT(wrong(fields), testing::HasSubstr("name"));
  const Header large[] = {{"a", long_value}};
  fields.headers = large;
  EXPECT_THAT(wrong(fields), testing::HasSubstr("headers"));
}

}  // namespace
}  // namespace onceward::rabbitmq
