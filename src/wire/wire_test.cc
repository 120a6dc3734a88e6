#include "src/wire/wire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace onceward {
namespace {

constexpr std::string_view amqp = "cloudEvents_";

Envelope example() {
  EnvelopeFields fields;
  fields.message_id = MessageId("m-1");
  fields.event_id = EventId("m-1");
  fields.producer = Producer("/orders");
  fields.event_type = EventType("order.placed");
  fields.content_type = "application/json";
  const Header headers[] = {{"shard", "7"}, {"X-Other", "y"}};
  fields.headers = headers;
  fields.payload = R"({"amount": 1})";
  return Envelope::copy_of(fields);
}

std::optional<ReadEnvelope> read_back(const Written& written, WireFormat format, std::string_view prefix = amqp) {
  std::vector<Header> headers;
  for (const BinaryAttribute& header : written.headers) headers.push_back({header.name, header.value});
  return read_wire({headers, written.content_type, Bytes::copy_of(written.body())}, prefix, format, {});
}

class Wire : public testing::TestWithParam<WireFormat> {};
INSTANTIATE_TEST_SUITE_P(Formats, Wire,
                         testing::Values(WireFormat::envelope, WireFormat::binary, WireFormat::automatic),
                         [](const auto& info) { return std::to_string(static_cast<int>(info.param)); });

TEST_P(Wire, WhatIsWrittenIsReadAndTellsItsFormat) {
  const Envelope envelope = example();
  const Written written = write_wire(envelope, amqp, GetParam());
  for (const WireFormat format : {GetParam(), WireFormat::automatic}) {
    const auto read = read_back(written, format);
    ASSERT_TRUE(read);
    EXPECT_EQ(std::get<Envelope>(*read), example());
  }
}

// The format has no place for a header with capitals.
TEST(WireStructured, IsReadBackWithoutWhatItCannotCarry) {
  const auto read = read_back(write_wire(example(), amqp, WireFormat::structured), WireFormat::automatic);
  ASSERT_TRUE(read);
  const Envelope& envelope = std::get<Envelope>(*read);
  EXPECT_EQ(envelope.message_id(), MessageId("m-1"));
  EXPECT_EQ(envelope.payload(), example().payload());
  EXPECT_EQ(envelope.header("shard"), "7");
}

TEST(WireNative, IsNotReadHere) {
  const Envelope envelope = example();
  const Written written = write_wire(envelope, amqp, WireFormat::native);
  EXPECT_EQ(written.body(), example().payload());
  EXPECT_THAT(written.headers, testing::ElementsAre(BinaryAttribute{"shard", "7"}, BinaryAttribute{"X-Other", "y"}));
  EXPECT_FALSE(read_back(written, WireFormat::automatic));
  EXPECT_FALSE(read_back(written, WireFormat::native));
  EXPECT_FALSE(read_back(write_wire(envelope, amqp, WireFormat::binary), WireFormat::native)) << "as it was declared";
}

TEST(WireAutomatic, TakesBothPrefixesOfAmqpAndNoOther) {
  for (const auto& [name, told] : {std::pair("cloudEvents:specversion", true), std::pair("ce_specversion", false),
                                   std::pair("specversion", false)}) {
    const Header headers[] = {{name, "1.0"}};
    EXPECT_EQ(read_wire({headers, "", Bytes::copy_of("{}")}, amqp, WireFormat::automatic, {}).has_value(), told);
  }
}

TEST(WireAutomatic, ContentTypeHasParametersAndNoCase) {
  const Bytes body = Bytes::copy_of(write_cloudevent(example()));
  for (const char* const type : {"application/cloudevents+json", "Application/CloudEvents+JSON ; charset=UTF-8"}) {
    EXPECT_TRUE(read_wire({{}, type, body}, amqp, WireFormat::automatic, {})) << type;
  }
  for (const char* const type : {"application/cloudevents-batch+json", "application/json", ""}) {
    EXPECT_FALSE(read_wire({{}, type, body}, amqp, WireFormat::automatic, {})) << type;
  }
}

TEST(WireRefused, KeepsItsBytes) {
  const Bytes bytes = Bytes::copy_of("no envelope");
  const auto read = read_wire({{}, "", bytes}, amqp, WireFormat::envelope, {});
  ASSERT_TRUE(read);
  const Delivery delivery = delivery_of(*read, bytes);
  EXPECT_TRUE(delivery.refusal);
  EXPECT_EQ(delivery.envelope.payload(), "no envelope");
  EXPECT_EQ(delivery.envelope.fields().unread, Reason::malformed_json);
}

Envelope without_type() {
  const Envelope whole = example();
  EnvelopeFields fields = whole.fields();
  fields.event_type = {};
  return Envelope::copy_of(fields);
}

TEST(WireAutomatic, WhatIsTooLittleForACloudEventIsSentAsOurEnvelope) {
  const auto read = read_back(write_wire(without_type(), amqp, WireFormat::automatic), WireFormat::automatic);
  ASSERT_TRUE(read);
  EXPECT_EQ(std::get<Envelope>(*read), without_type());
}

TEST(WireAutomatic, WhatCouldNotBeReadIsSentAsItCame) {
  const Header headers[] = {{"x", "1"}};
  EnvelopeFields fields;
  fields.content_type = envelope_content_type;
  fields.headers = headers;
  fields.payload = "no JSON \xff";
  fields.unread = Reason::invalid_utf8;
  const Envelope unread(fields, nullptr);
  const Written written = write_wire(unread, amqp, WireFormat::automatic);
  EXPECT_EQ(written.body(), "no JSON \xff");
  EXPECT_EQ(written.content_type, envelope_content_type);
  ASSERT_EQ(written.headers.size(), 1u);
  EXPECT_EQ(written.headers[0].name, "x");
}

TEST(WireCloudEvent, WhatIsTooLittleForOneIsNotSentAsOne) {
  for (const WireFormat format : {WireFormat::binary, WireFormat::structured}) {
    EXPECT_THAT(write_wire(without_type(), amqp, format).wrong, testing::HasSubstr("eventType is missing"));
    EXPECT_EQ(write_wire(example(), amqp, format).wrong, "");
  }
  EXPECT_EQ(write_wire(without_type(), amqp, WireFormat::native).wrong, "");
  EXPECT_EQ(write_wire(without_type(), amqp, WireFormat::envelope).wrong, "");
}

}  // namespace
}  // namespace onceward
