#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "onceward/envelope.h"
#include "src/envelope/arbitrary_envelope.h"

namespace onceward {
namespace {

std::string event(std::string_view more) {
  return std::string(R"({"specversion":"1.0","id":"i","source":"s","type":"t")") + std::string(more) + "}";
}

Envelope read_structured(std::string_view text, const EnvelopeLimits& limits = {}) {
  const auto answer = read_cloudevent(Bytes::copy_of(text), limits);
  const Refusal* refusal = std::get_if<Refusal>(&answer);
  EXPECT_EQ(refusal, nullptr) << text << code(refusal->reason) << " " << refusal->detail;
  return refusal ? Envelope() : std::get<Envelope>(answer);
}

Refusal structured_refusal(std::string_view text, const EnvelopeLimits& limits = {}) {
  const auto answer = read_cloudevent(Bytes::copy_of(text), limits);
  const Refusal* refusal = std::get_if<Refusal>(&answer);
  EXPECT_NE(refusal, nullptr) << text;
  return refusal ? *refusal : Refusal{};
}

TEST(StructuredCloudEvent, DemandsWhatTheSpecificationDemands) {
  EXPECT_EQ(structured_refusal(R"({"id":"i","source":"s","type":"t"})"),
            (Refusal{Reason::missing_field, "specversion"}));
  EXPECT_EQ(structured_refusal(R"({"specversion":null,"id":"i","source":"s","type":"t"})").reason,
            Reason::missing_field);
  EXPECT_EQ(structured_refusal(R"({"specversion":"0.3","id":"i","source":"s","type":"t"})").reason,
            Reason::unsupported_specversion);
  EXPECT_EQ(structured_refusal(R"({"specversion":1.0,"id":"i","source":"s","type":"t"})").reason,
            Reason::ill_typed_field);
  EXPECT_EQ(structured_refusal(R"({"specversion":"1.0","source":"s","type":"t"})").reason, Reason::missing_message_id);
  EXPECT_EQ(structured_refusal(R"({"specversion":"1.0","id":"","source":"s","type":"t"})").reason,
            Reason::missing_message_id);
  EXPECT_EQ(structured_refusal(R"({"specversion":"1.0","id":"i","type":"t"})").reason, Reason::missing_producer);
  EXPECT_EQ(structured_refusal(R"({"specversion":"1.0","id":"i","source":"s"})"),
            (Refusal{Reason::missing_field, "type"}));
}

TEST(StructuredCloudEvent, TakesOurExtensionsForWhatTheyAre) {
  const Envelope envelope = read_structured(event(
      R"(,"subject":"ORD-9","aggregatetype":"order","aggregateversion":7,"eventversion":2,"schemaversion":"9007199254740993",
          "correlationid":"c","causationid":"k","idempotencykey":"i","businesskey":"b","tenant":"acme","mode":"replay",
          "commandid":"cmd","partitionkey":"p","traceparent":"00-ab","dataschema":"urn:s","sequence":"42","flag":true)"));
  const EnvelopeFields& fields = envelope.fields();
  EXPECT_EQ(fields.producer.text(), "s");
  EXPECT_EQ(fields.event_id.text(), "i");
  EXPECT_EQ(fields.aggregate_id.text(), "ORD-9");
  EXPECT_EQ(fields.aggregate_type.text(), "order");
  EXPECT_EQ(fields.aggregate_version, 7);
  EXPECT_EQ(fields.event_version, 2);
  EXPECT_EQ(fields.schema_version, 9007199254740993);
  EXPECT_EQ(fields.correlation_id.text(), "c");
  EXPECT_EQ(fields.causation_id.text(), "k");
  EXPECT_EQ(fields.idempotency_key.text(), "i");
  EXPECT_EQ(fields.business_key.text(), "b");
  EXPECT_EQ(fields.tenant.text(), "acme");
  EXPECT_EQ(fields.mode, Mode::replay);
  EXPECT_EQ(fields.command_id.text(), "cmd");
  EXPECT_EQ(fields.partition_key, "p");
  EXPECT_EQ(fields.trace_parent, "00-ab");
  EXPECT_EQ(fields.data_schema, "urn:s");
  EXPECT_EQ(envelope.header("sequence"), "42");
  EXPECT_EQ(envelope.header("flag"), "true");
}

TEST(StructuredCloudEvent, ReadsDataByItsContentType) {
  EXPECT_EQ(read_structured(event(R"(,"data":{"a": 1})")).payload(), R"({"a": 1})");
  EXPECT_EQ(read_structured(event(R"(,"data":"\u0061")")).payload(), R"("\u0061")");
  EXPECT_EQ(read_structured(event(R"(,"data":null)")).payload(), "null");
  EXPECT_EQ(
      read_structured(event(R"(,"data":"a","datacontenttype":"application/vnd.x+JSON; charset=utf-8")")).payload(),
      "\"a\"");
  EXPECT_EQ(read_structured(event(R"(,"data":"\u0061<","datacontenttype":"text/html")")).payload(), "a<");
  EXPECT_EQ(read_structured(event(R"(,"data_base64":"AAE=","datacontenttype":"text/html")")).payload(),
            std::string_view("\0\1", 2));
  EXPECT_EQ(read_structured(event(R"(,"data_base64":null)")).payload(), "");
  EXPECT_EQ(structured_refusal(event(R"(,"data":{},"datacontenttype":"text/html")")).reason, Reason::ill_typed_field);
  EXPECT_EQ(structured_refusal(event(R"(,"data_base64":"AAE")")).reason, Reason::ill_typed_field);
  EXPECT_EQ(structured_refusal(event(R"(,"data_base64":1)")).reason, Reason::ill_typed_field);
}

TEST(StructuredCloudEvent, RefusesWhatHasNoOneMeaning) {
  for (const std::string_view more :
       {R"(,"id":"j")", R"(,"data":1,"data":1)", R"(,"data":1,"data_base64":"AA==")", R"(,"ext":"a","ext":"a")",
        R"(,"ext":null,"ext":"a")", R"(,"subject":null,"subject":"a")", R"(,"\u0069d":"j")"}) {
    EXPECT_EQ(structured_refusal(event(more)).reason, Reason::duplicate_field) << more;
  }
  for (const std::string_view more :
       {R"(,"subject":1)", R"(,"subject":true)", R"(,"ext":{})", R"(,"ext":[])", R"(,"aggregateversion":"x")",
        R"(,"aggregateversion":1.5)", R"(,"eventversion":true)", R"(,"mode":"LIVE")"}) {
    EXPECT_EQ(structured_refusal(event(more)).reason, Reason::ill_typed_field) << more;
  }
  EXPECT_EQ(structured_refusal(event(R"(,"time":"2018-04-05")")), (Refusal{Reason::malformed_time, "time"}));
  EXPECT_EQ(structured_refusal(event(R"(,"subject":"\u0000")")).reason, Reason::nul_in_text);
  EXPECT_EQ(structured_refusal(event(R"(,"ext":"\u0000")")).reason, Reason::nul_in_text);
  EXPECT_EQ(structured_refusal("[" + event("") + "]").reason, Reason::malformed_json);
}

TEST(StructuredCloudEvent, IsHeldToItsLimits) {
  EXPECT_EQ(structured_refusal(event(R"(,"subject":"abc")"), {.id_bytes = 2}),
            (Refusal{Reason::id_too_long, "subject"}));
  EXPECT_EQ(structured_refusal(event(R"(,"a":"","b":"")"), {.header_count = 1}).reason, Reason::too_many_headers);
  EXPECT_EQ(structured_refusal(event(R"(,"a":"bcd")"), {.header_bytes = 3}).reason, Reason::headers_too_large);
  EXPECT_EQ(structured_refusal(event(R"(,"data":[[]])"), {.depth = 2}).reason, Reason::too_deep);
  EXPECT_EQ(structured_refusal(event(""), {.message_bytes = 10}).reason, Reason::too_large);
}

RC_GTEST_PROP(StructuredCloudEvent, IsReadBackAsItWasWritten, ()) {
  const Envelope envelope = arbitrary_cloudevent();
  const auto again = read_cloudevent(Bytes::copy_of(write_cloudevent(envelope)));
  RC_ASSERT(std::holds_alternative<Envelope>(again));
  RC_ASSERT(std::get<Envelope>(again) == envelope);
}

TEST(StructuredCloudEvent, LeavesOutHeadersThatAreNoExtensions) {
  const Header headers[] = {{"x-plain", "1"}, {"id", "2"},     {"data", "3"},    {"fine", "4"},
                            {"Upper", "5"},   {"bad", "\xff"}, {"fine", "twice"}};
  EnvelopeFields fields;
  fields.message_id = MessageId("i");
  fields.producer = Producer("s");
  fields.event_type = EventType("t");
  fields.headers = headers;
  EXPECT_EQ(write_cloudevent(Envelope::copy_of(fields)),
            R"({"specversion":"1.0","id":"i","source":"s","type":"t","fine":"4"})");
}

}  // namespace
}  // namespace onceward
