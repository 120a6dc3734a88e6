#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "onceward/envelope.h"
#include "src/envelope/arbitrary_envelope.h"
#include "src/envelope/cloudevent.h"

namespace onceward {
namespace {

using Headers = std::vector<Header>;

ReadEnvelope answer_to(std::string_view prefix, const Headers& headers, std::string_view content_type = {},
                       const EnvelopeLimits& limits = {}) {
  return read_cloudevent({headers, content_type, Bytes::copy_of("{}")}, prefix, limits);
}

Envelope read_binary(std::string_view prefix, const Headers& headers) {
  const auto answer = answer_to(prefix, headers);
  const Refusal* refusal = std::get_if<Refusal>(&answer);
  EXPECT_EQ(refusal, nullptr) << code(refusal->reason) << " " << refusal->detail;
  return refusal ? Envelope() : std::get<Envelope>(answer);
}

Reason binary_refusal(std::string_view prefix, const Headers& headers, std::string_view content_type = {},
                      const EnvelopeLimits& limits = {}) {
  const auto answer = answer_to(prefix, headers, content_type, limits);
  EXPECT_TRUE(std::holds_alternative<Refusal>(answer));
  return std::holds_alternative<Refusal>(answer) ? std::get<Refusal>(answer).reason : Reason{};
}

Headers kafka(const Headers& more = {}) {
  Headers headers{{"ce_specversion", "1.0"}, {"ce_id", "i"}, {"ce_source", "s"}, {"ce_type", "t"}};
  headers.insert(headers.end(), more.begin(), more.end());
  return headers;
}

Headers http(const Headers& more = {}) {
  Headers headers{{"ce-specversion", "1.0"}, {"ce-id", "i"}, {"ce-source", "s"}, {"ce-type", "t"}};
  headers.insert(headers.end(), more.begin(), more.end());
  return headers;
}

TEST(BinaryCloudEvent, KeepsOtherHeadersAsTheyAre) {
  const Envelope envelope = read_binary("ce_", kafka({{"ce_ext", "1"}, {"x-plain", "\xff\x01"}, {"id", "debezium"}}));
  EXPECT_EQ(envelope.header("ext"), "1");
  EXPECT_EQ(envelope.header("x-plain"), "\xff\x01");
  EXPECT_EQ(envelope.header("id"), "debezium");
  EXPECT_EQ(envelope.message_id().text(), "i");
  EXPECT_EQ(envelope.payload(), "{}");
}

TEST(BinaryCloudEvent, TakesBothPrefixesOfAmqp) {
  const Headers headers{{"cloudEvents_specversion", "1.0"},
                        {"cloudEvents:id", "i"},
                        {"cloudEvents_source", "s"},
                        {"cloudEvents:type", "t"},
                        {"cloudEvents:aggregateversion", "7"}};
  for (const std::string_view prefix : {"cloudEvents_", "cloudEvents:"}) {
    EXPECT_EQ(read_binary(prefix, headers).message_id().text(), "i");
    EXPECT_EQ(read_binary(prefix, headers).aggregate_version(), 7);
  }
}

TEST(BinaryCloudEvent, MindsCaseOnlyWhereTheBindingDoes) {
  EXPECT_EQ(read_binary("ce-", {{"Ce-Specversion", "1.0"}, {"CE-ID", "i"}, {"ce-Source", "s"}, {"ce-type", "t"}})
                .message_id()
                .text(),
            "i");
  EXPECT_EQ(binary_refusal("ce_", {{"ce_specversion", "1.0"}, {"CE_ID", "i"}, {"ce_source", "s"}, {"ce_type", "t"}}),
            Reason::missing_message_id);
}

TEST(BinaryCloudEvent, DecodesHttpValuesOnceAndOnlyThere) {
  EXPECT_EQ(read_binary("ce-", http({{"ce-subject", "%41%2541%c3%a9"}})).aggregate_id().text(), "A%41\u00e9");
  EXPECT_EQ(read_binary("ce-", http({{"ce-subject", "\"a \\\"b\\\\\""}})).aggregate_id().text(), "a \"b\\");
  EXPECT_EQ(read_binary("ce_", kafka({{"ce_subject", "%41"}})).aggregate_id().text(), "%41");
  EXPECT_EQ(binary_refusal("ce-", http({{"ce-subject", "%C0%A0"}})), Reason::invalid_utf8);
  EXPECT_EQ(binary_refusal("ce-", http({{"ce-subject", "%4"}})), Reason::ill_typed_field);
  EXPECT_EQ(binary_refusal("ce-", http({{"ce-subject", "%zz"}})), Reason::ill_typed_field);
  EXPECT_EQ(binary_refusal("ce-", http({{"ce-subject", "\"open"}})), Reason::ill_typed_field);
  EXPECT_EQ(binary_refusal("ce-", http({{"ce-subject", "%00"}})), Reason::nul_in_text);
}

TEST(BinaryCloudEvent, RefusesWhatHasNoOneMeaning) {
  EXPECT_EQ(binary_refusal("ce_", kafka({{"ce_id", "i"}})), Reason::duplicate_field);
  EXPECT_EQ(binary_refusal("cloudEvents_", {{"cloudEvents_id", "i"}, {"cloudEvents:id", "j"}}),
            Reason::duplicate_field);
  EXPECT_EQ(binary_refusal("ce-", http({{"CE-ID", "j"}})), Reason::duplicate_field);
  EXPECT_EQ(binary_refusal("ce_", kafka({{"ce_datacontenttype", "a/b"}}), "a/b"), Reason::duplicate_field);
  EXPECT_EQ(binary_refusal("ce_", kafka({{"ce_", "x"}})), Reason::ill_typed_field);
  EXPECT_EQ(binary_refusal("ce_", kafka({{"ce_aggregateversion", "07"}})), Reason::ill_typed_field);
  EXPECT_EQ(binary_refusal("ce_", kafka({{"ce_time", "now"}})), Reason::malformed_time);
  EXPECT_EQ(binary_refusal("ce_", kafka({{"ce_subject", "\xff"}})), Reason::invalid_utf8);
  EXPECT_EQ(binary_refusal("ce_", kafka({{"ce_subject", std::string_view("\0", 1)}})), Reason::nul_in_text);
  EXPECT_EQ(binary_refusal("ce_", {{"ce_specversion", "2.0"}}), Reason::unsupported_specversion);
  EXPECT_EQ(binary_refusal("ce_", {}), Reason::missing_field);
}

TEST(BinaryCloudEvent, IsHeldToItsLimits) {
  EXPECT_EQ(binary_refusal("ce_", kafka(), {}, {.message_bytes = 1}), Reason::too_large);
  EXPECT_EQ(binary_refusal("ce_", kafka(), {}, {.message_bytes = 20}), Reason::headers_too_large);
  EXPECT_EQ(binary_refusal("ce_", kafka({{"a", ""}, {"b", ""}}), {}, {.header_count = 1}), Reason::too_many_headers);
  EXPECT_EQ(binary_refusal("ce_", kafka({{"a", "bcd"}}), {}, {.header_bytes = 3}), Reason::headers_too_large);
  EXPECT_EQ(binary_refusal("ce_", kafka({{"ce_subject", "abc"}}), {}, {.id_bytes = 2}), Reason::id_too_long);
}

TEST(BinaryCloudEvent, OutlivesTheHeadersItWasReadFrom) {
  std::optional<Envelope> envelope;
  {
    const std::string id(40, 'x');
    envelope =
        read_binary("ce_", {{"ce_specversion", "1.0"}, {"ce_id", id}, {"ce_source", "s"}, {"ce_type", "t"}, {id, id}});
  }
  EXPECT_EQ(envelope->message_id().text(), std::string(40, 'x'));
  EXPECT_EQ(envelope->headers()[0].name, std::string(40, 'x'));
}

RC_GTEST_PROP(BinaryCloudEvent, IsReadBackAsItWasWritten, ()) {
  const Envelope envelope = arbitrary_cloudevent();
  const std::string prefix = *rc::gen::element<std::string>("ce_", "ce-", "cloudEvents_", "cloudEvents:");
  const auto written = cloudevent_attributes(envelope, prefix);
  Headers headers;
  for (const BinaryAttribute& attribute : written) headers.push_back({attribute.name, attribute.value});
  const auto again =
      read_cloudevent({headers, envelope.fields().content_type, Bytes::copy_of(envelope.payload())}, prefix);
  RC_ASSERT(std::holds_alternative<Envelope>(again));
  RC_ASSERT(std::get<Envelope>(again) == envelope);
}

TEST(BinaryCloudEvent, WritesPlainHeadersPlainAndNoneThatLooksLikeAnAttribute) {
  const Header headers[] = {{"x-plain", "a b"}, {"ext", "a b"}, {"id", "1"}, {"ce-fake", "2"}};
  EnvelopeFields fields;
  fields.headers = headers;
  const std::vector<BinaryAttribute> expected{
      {"ce-specversion", "1.0"}, {"x-plain", "a b"}, {"ce-ext", "a%20b"}, {"id", "1"}};
  EXPECT_EQ(cloudevent_attributes(Envelope::copy_of(fields), "ce-"), expected);
}

Envelope found(const std::vector<Header>& headers, std::string_view content_type = {}) {
  return found_in({headers, content_type, Bytes::copy_of("data")}, "ce_");
}

TEST(FoundInCloudEvent, IsAllThatItTellsAndNothingIsLost) {
  const std::string long_id(5'000, 'i');
  const Envelope envelope = found({{"ce_id", long_id}, {"ce_time", "noon"}, {"ce_", "x"}, {"plain", "\xff"}}, "a\xff");
  EXPECT_EQ(envelope.message_id(), MessageId(long_id));
  EXPECT_EQ(envelope.event_id(), EventId(long_id));
  EXPECT_EQ(envelope.header("ce_time"), "noon");
  EXPECT_EQ(envelope.header("ce_"), "x");
  EXPECT_EQ(envelope.header("plain"), "\xff");
  EXPECT_EQ(envelope.header("content-type"), "a\xff");
  EXPECT_EQ(envelope.payload(), "data");
  EXPECT_EQ(envelope.fields().unread, std::nullopt);
}

TEST(FoundInCloudEvent, AnIdThatIsThereTwiceIsNone) {
  const Envelope envelope = found({{"ce_id", "a"}, {"ce_source", "s"}, {"ce_id", "b"}});
  EXPECT_TRUE(envelope.message_id().empty());
  EXPECT_EQ(envelope.producer(), Producer("s"));
  EXPECT_EQ(envelope.headers().size(), 2u);
}

TEST(FoundInCloudEvent, WithoutAKnownVersionOrModeItIsUnread) {
  EXPECT_EQ(found({{"ce_specversion", "2.0"}, {"ce_id", "a"}}).fields().unread, Reason::unsupported_specversion);
  EXPECT_EQ(found({{"ce_mode", "replya"}, {"ce_id", "a"}}).fields().unread, Reason::ill_typed_field);
  EXPECT_EQ(found({{"ce_mode", "replay"}, {"ce_mode", "live"}}).fields().unread, Reason::duplicate_field);
}

}  // namespace
}  // namespace onceward
