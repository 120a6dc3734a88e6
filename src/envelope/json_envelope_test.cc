#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "onceward/envelope.h"
#include "src/envelope/arbitrary_envelope.h"

namespace onceward {
namespace {

Envelope read_ours(std::string_view text, const EnvelopeLimits& limits = {}) {
  const auto answer = read_json_envelope(Bytes::copy_of(text), limits);
  const Refusal* refusal = std::get_if<Refusal>(&answer);
  EXPECT_EQ(refusal, nullptr) << code(refusal->reason) << " " << refusal->detail;
  return refusal ? Envelope() : std::get<Envelope>(answer);
}

Refusal our_refusal(std::string_view text, const EnvelopeLimits& limits = {}) {
  const auto answer = read_json_envelope(Bytes::copy_of(text), limits);
  const Refusal* refusal = std::get_if<Refusal>(&answer);
  EXPECT_NE(refusal, nullptr) << text;
  return refusal ? *refusal : Refusal{};
}

TEST(JsonEnvelope, KeepsEveryIdentityApart) {
  const Envelope envelope = read_ours(R"({
    "messageId": "m-1", "eventId": "e-1", "eventType": "order.placed", "eventVersion": 2, "schemaVersion": 3,
    "aggregateType": "order", "aggregateId": "ORD-9", "aggregateVersion": 7, "correlationId": "corr",
    "causationId": "cause", "idempotencyKey": "idem", "businessKey": "biz", "commandId": "cmd", "producer": "orders",
    "source": "erp", "tenant": "acme", "occurredAt": "2018-04-05T17:31:00Z", "mode": "replay", "partitionKey": "part",
    "traceparent": "trace", "contentType": "application/json", "dataSchema": "urn:schema", "headers": {"x": "1"},
    "payload": {"amount":  12.50}})");
  const EnvelopeFields& fields = envelope.fields();
  EXPECT_EQ(fields.message_id.text(), "m-1");
  EXPECT_EQ(fields.event_id.text(), "e-1");
  EXPECT_EQ(fields.event_type.text(), "order.placed");
  EXPECT_EQ(fields.event_version, 2);
  EXPECT_EQ(fields.schema_version, 3);
  EXPECT_EQ(fields.aggregate_type.text(), "order");
  EXPECT_EQ(fields.aggregate_id.text(), "ORD-9");
  EXPECT_EQ(fields.aggregate_version, 7);
  EXPECT_EQ(fields.correlation_id.text(), "corr");
  EXPECT_EQ(fields.causation_id.text(), "cause");
  EXPECT_EQ(fields.idempotency_key.text(), "idem");
  EXPECT_EQ(fields.business_key.text(), "biz");
  EXPECT_EQ(fields.command_id.text(), "cmd");
  EXPECT_EQ(fields.producer.text(), "orders");
  EXPECT_EQ(fields.source, "erp");
  EXPECT_EQ(fields.tenant.text(), "acme");
  EXPECT_EQ(fields.occurred_at, Timestamp{std::chrono::seconds{1522949460}});
  EXPECT_EQ(fields.mode, Mode::replay);
  EXPECT_EQ(fields.partition_key, "part");
  EXPECT_EQ(fields.trace_parent, "trace");
  EXPECT_EQ(fields.content_type, "application/json");
  EXPECT_EQ(fields.data_schema, "urn:schema");
  EXPECT_EQ(envelope.header("x"), "1");
  EXPECT_EQ(fields.payload, R"({"amount":  12.50})");
}

TEST(JsonEnvelope, BorrowsFromTheReceivedBytes) {
  const Bytes bytes = Bytes::copy_of(R"({"messageId":"m-1","payload":[1, 2]})");
  const Envelope envelope = std::get<Envelope>(read_json_envelope(bytes));
  const auto inside = [&](std::string_view text) {
    return text.data() >= bytes.view().data() && text.data() < bytes.view().data() + bytes.view().size();
  };
  EXPECT_TRUE(inside(envelope.message_id().text()));
  EXPECT_TRUE(inside(envelope.payload()));
}

TEST(JsonEnvelope, OutlivesTheBytesItWasReadFrom) {
  const Envelope envelope = read_ours(R"({"messageId":"m-1","eventId":"\u0065-1","headers":{"a":"b"},"payload":"p"})");
  EXPECT_EQ(envelope.message_id().text(), "m-1");
  EXPECT_EQ(envelope.event_id().text(), "e-1");
  EXPECT_EQ(envelope.header("a"), "b");
  EXPECT_EQ(envelope.payload(), "\"p\"");
}

TEST(JsonEnvelope, ThePayloadIsTheExactTextOfItsMember) {
  EXPECT_EQ(read_ours(R"({"payload" :  {"b":1 , "a":[ ]}  })").payload(), R"({"b":1 , "a":[ ]})");
  EXPECT_EQ(read_ours(R"({"payload":"a\u0041"})").payload(), R"("a\u0041")");
  EXPECT_EQ(read_ours(R"({"payload":1e400})").payload(), "1e400");
  EXPECT_EQ(read_ours(R"({"payload":null})").payload(), "null");
  EXPECT_EQ(read_ours(R"({})").payload(), "");
  EXPECT_EQ(read_ours(R"({"payloadBase64":"AAH/"})").payload(), std::string_view("\0\1\xff", 3));
}

TEST(JsonEnvelope, IgnoresWhatItDoesNotKnow) {
  EXPECT_EQ(
      read_ours(R"({"x":{"messageId":"no"},"messageId":"m-1","messageid":"no","y":[1],"x":2})").message_id().text(),
      "m-1");
}

TEST(JsonEnvelope, TakesNullForAbsent) {
  const Envelope envelope =
      read_ours(R"({"messageId":null,"eventVersion":null,"occurredAt":null,"mode":null,"headers":null})");
  EXPECT_TRUE(envelope.message_id().empty());
  EXPECT_EQ(envelope.mode(), Mode::live);
}

TEST(JsonEnvelope, RefusesARepeatedMember) {
  for (const std::string_view text :
       {R"({"messageId":"a","messageId":"a"})", R"({"messageId":"a","message\u0049d":"b"})",
        R"({"messageId":null,"messageId":"b"})", R"({"payload":1,"payload":1})",
        R"({"payload":1,"payloadBase64":"AA=="})", R"({"payloadBase64":"AA==","payload":1})",
        R"({"eventVersion":1,"eventVersion":1})", R"({"headers":{},"headers":{}})", R"({"headers":{"a":"1","a":"1"}})",
        R"({"headers":{"a":"1","\u0061":"2"}})"}) {
    EXPECT_EQ(our_refusal(text).reason, Reason::duplicate_field) << text;
  }
}

TEST(JsonEnvelope, RefusesAMemberOfAnotherType) {
  for (const std::string_view text :
       {R"({"messageId":17})", R"({"messageId":{}})", R"({"messageId":true})", R"({"eventVersion":"1"})",
        R"({"eventVersion":1.0})", R"({"eventVersion":1e0})", R"({"eventVersion":9223372036854775808})",
        R"({"eventVersion":-0})", R"({"mode":"LIVE"})", R"({"mode":1})", R"({"headers":[]})", R"({"headers":{"a":1}})",
        R"({"headers":{"a":null}})", R"({"headers":"a"})", R"({"occurredAt":1522949460})", R"({"payloadBase64":"A"})",
        R"({"payloadBase64":{}})"}) {
    EXPECT_EQ(our_refusal(text).reason, Reason::ill_typed_field) << text;
  }
  EXPECT_EQ(our_refusal(R"({"messageId":17})").detail, "messageId");
  EXPECT_EQ(our_refusal(R"({"occurredAt":"yesterday"})"), (Refusal{Reason::malformed_time, "occurredAt"}));
}

TEST(JsonEnvelope, RefusesWhatIsNoJsonObject) {
  for (const std::string_view text :
       {"", " ", "[]", "1", "\"messageId\"", "null", "{", "{}}", "{} {}", "{\"payload\":{]}", "{\"payload\":[1,]}",
        "{\"payload\":01}", "{\"x\":[\"\\q\"]}"}) {
    EXPECT_EQ(our_refusal(text).reason, Reason::malformed_json) << text;
  }
}

TEST(JsonEnvelope, RefusesBadText) {
  EXPECT_EQ(our_refusal("{\"messageId\":\"\xff\"}").reason, Reason::invalid_utf8);
  EXPECT_EQ(our_refusal("{\"payload\":\"\xff\"}").reason, Reason::invalid_utf8);
  EXPECT_EQ(our_refusal(R"({"messageId":"\ud800"})").reason, Reason::invalid_utf8);
  EXPECT_EQ(our_refusal(R"({"messageId":"a\u0000"})"), (Refusal{Reason::nul_in_text, "messageId"}));
  EXPECT_EQ(our_refusal(R"({"headers":{"a":"\u0000"}})"), (Refusal{Reason::nul_in_text, "headers"}));
  EXPECT_EQ(our_refusal(R"({"headers":{"\u0000":""}})"), (Refusal{Reason::nul_in_text, "headers"}));
  EXPECT_EQ(our_refusal(std::string_view("{\"messageId\":\"a\0b\"}", 19)).reason, Reason::nul_in_text);
}

TEST(JsonEnvelope, IsHeldToItsLimits) {
  const std::string longest(255, 'x');
  EXPECT_EQ(read_ours("{\"messageId\":\"" + longest + "\"}").message_id().text(), longest);
  EXPECT_EQ(our_refusal("{\"messageId\":\"" + longest + "x\"}"), (Refusal{Reason::id_too_long, "messageId"}));
  EXPECT_EQ(our_refusal("{\"producer\":\"" + longest + "x\"}"), (Refusal{Reason::id_too_long, "producer"}));
  EXPECT_EQ(our_refusal("{\"source\":\"" + std::string(17000, 'x') + "\"}").reason, Reason::headers_too_large);
  EXPECT_EQ(our_refusal("{}  ", {.message_bytes = 3}), (Refusal{Reason::too_large, "message_bytes"}));
  EXPECT_EQ(read_ours("{}", {.message_bytes = 2}), Envelope());
  EXPECT_EQ(our_refusal(R"({"payload":[[]]})", {.depth = 2}).reason, Reason::too_deep);
  EXPECT_EQ(read_ours(R"({"payload":[[]]})", {.depth = 3}).payload(), "[[]]");
  EXPECT_EQ(our_refusal(R"({"unknown":[[]]})", {.depth = 2}).reason, Reason::too_deep);
  EXPECT_EQ(our_refusal(R"({"headers":{"a":"","b":""}})", {.header_count = 1}).reason, Reason::too_many_headers);
  EXPECT_EQ(read_ours(R"({"headers":{"a":"","b":""}})", {.header_count = 2}).headers().size(), 2u);
  EXPECT_EQ(our_refusal(R"({"headers":{"ab":"cd"}})", {.header_bytes = 3}).reason, Reason::headers_too_large);
  EXPECT_EQ(read_ours(R"({"headers":{"ab":"cd"}})", {.header_bytes = 4}).headers().size(), 1u);
}

TEST(JsonEnvelope, LeavesAMissingIdToThePolicy) { EXPECT_TRUE(read_ours(R"({"eventId":"e-1"})").message_id().empty()); }

RC_GTEST_PROP(JsonEnvelope, IsReadBackAsItWasWritten, ()) {
  const Envelope envelope = arbitrary_envelope(HeaderNames::any);
  const auto again = read_json_envelope(Bytes::copy_of(write_json_envelope(envelope)));
  RC_ASSERT(std::holds_alternative<Envelope>(again));
  RC_ASSERT(std::get<Envelope>(again) == envelope);
}

TEST(JsonEnvelope, LeavesOutHeadersThatJsonCannotCarry) {
  const Header headers[] = {
      {"binary", "\xff"}, {"text", "\xff"}, {"text", "t"}, {"text", "twice"}, {"nul", std::string_view("\0", 1)}};
  EnvelopeFields fields;
  fields.headers = headers;
  EXPECT_EQ(write_json_envelope(Envelope::copy_of(fields)), R"({"headers":{"text":"t"}})");
}

}  // namespace
}  // namespace onceward
