#include "src/effect/declared_calls.h"

#include <gtest/gtest.h>

#include <memory>

namespace onceward {
namespace {

class Calls : public testing::Test {
 protected:
  Calls() {
    declaration_.name = "captures";
    declaration_.owner = "team";
    declaration_.source = "embedded:q";
    declaration_.sql = {"SELECT 1 FROM messages"};
    declaration_.fields = {{.name = "invoice", .pointer = "/invoice", .type = FieldType::uuid},
                           {.name = "amount", .pointer = "/amount", .type = FieldType::decimal, .scale = 2},
                           {.name = "paid", .pointer = "/paid", .type = FieldType::boolean},
                           {.name = "who", .pointer = "/who", .type = FieldType::text},
                           {.name = "note", .pointer = "/note", .type = FieldType::text, .optional = true}};
    fields_.message_id = MessageId("m-1");
    fields_.event_type = EventType("order.paid");
    fields_.payload = payload_;
  }

  // The first call of the message, or the code and the detail of its refusal.
  std::string body(const std::string& body) {
    declaration_.calls = {{.endpoint = "gateway", .key = "{message_id}", .type = "", .business_key = "", .body = body}};
    return made([](const Call& call) { return std::string(call.body); });
  }
  std::string key(const std::string& key) {
    declaration_.calls = {{.endpoint = "gateway", .key = key, .type = "", .business_key = "", .body = "[]"}};
    return made([](const Call& call) { return std::string(call.key); });
  }
  template <class Read>
  std::string made(Read read) {
    EXPECT_EQ(to_string(check(declaration_)), "");
    DeclaredCalls calls(declaration_);
    const Envelope envelope = Envelope::copy_of(fields_);
    Claimant claimant;
    claimant.envelope = &envelope;
    claimant.id = IdText(envelope.fields().message_id.text());
    claimant.tenant = fields_.tenant;
    if (const auto refusal = calls.make(claimant)) return std::string(code(refusal->reason)) + " " + refusal->detail;
    const std::string first = read(calls.calls()[0]);
    EXPECT_FALSE(calls.make(claimant));
    EXPECT_EQ(read(calls.calls()[0]), first) << "the same message, the same bytes";
    return first;
  }

  const std::string payload_ =
      R"({"invoice":"0000000A-0000-0000-0000-0000000000FF","amount":12.340,"paid":true,"who":"\"A\"\n\u00e9"})";
  const std::string too_large_ = std::string((16u << 20) + 1, 'x');
  EnvelopeFields fields_;
  Declaration declaration_;
};

TEST_F(Calls, AKeyIsMadeOfFieldsAndIds) {
  EXPECT_EQ(key("capture/{invoice}"), "capture/0000000a-0000-0000-0000-0000000000ff");
  EXPECT_EQ(key("{amount}:{paid}:{{{type}}}"), "12.34:true:{order.paid}");
  EXPECT_EQ(key("{tenant}/{message_id}"), "/m-1");
}

TEST_F(Calls, TwoActionsNeverHaveOneKey) {
  const auto key_of = [&](const std::string& type, const std::string& id, const std::string& written) {
    fields_.event_type = EventType(type);
    fields_.message_id = MessageId(id);
    return key(written);
  };
  EXPECT_EQ(key_of("x/y", "z", "c/{type}/{message_id}"), "c/x%2Fy/z");
  EXPECT_EQ(key_of("x", "y/z", "c/{type}/{message_id}"), "c/x/y/z");
  EXPECT_EQ(key_of("x%2Fy", "z", "c/{type}/{message_id}"), "c/x%252Fy/z");
  EXPECT_EQ(key_of("x/y%", "z", "c/{type}:{message_id}"), "c/x/y%25:z") << "only what would end it";
  EXPECT_EQ(key_of("x", "a/b%", "c/{message_id}/end"), "c/a/b%/end") << "one name alone is as it is";
  EXPECT_EQ(key_of("x", "m", "{invoice}-{message_id}"), "0000000a-0000-0000-0000-0000000000ff-m");
}

TEST_F(Calls, ANumberHasOneKeyHoweverItIsWritten) {
  declaration_.fields.push_back({.name = "count", .pointer = "/count", .type = FieldType::int64});
  const auto key_of = [&](const std::string& amount, const std::string& count) {
    const std::string payload = R"({"amount":)" + amount + R"(,"count":)" + count + "}";
    fields_.payload = payload;
    return key("{amount}/{count}");
  };
  EXPECT_EQ(key_of("12.34", "7"), "12.34/7");
  EXPECT_EQ(key_of("12.340", "7"), "12.34/7");
  EXPECT_EQ(key_of("1.234e1", "7.0"), "12.34/7");
  EXPECT_EQ(key_of(R"("12.34")", "7"), "12.34/7");
  EXPECT_EQ(key_of("-0.05", "-9223372036854775808"), "-0.05/-9223372036854775808");
  EXPECT_EQ(key_of("-0", "0"), "0.00/0");
}

TEST_F(Calls, ATextThatIsOneNameIsThatValue) {
  EXPECT_EQ(body(R"({"a":"{amount}","b":"{paid}","c":"{who}","d":"{note}","e":"{business_key}","f":"{invoice}"})"),
            R"({"a":12.340,"b":true,"c":"\"A\"\n)"
            "\xc3\xa9"
            R"(","d":null,"e":null,"f":"0000000a-0000-0000-0000-0000000000ff"})");
}

TEST_F(Calls, ATextThatHoldsNamesStaysAText) {
  EXPECT_EQ(body(R"(["for {who}: {amount}{tenant}."])"), "[\"for \\\"A\\\"\\n\xc3\xa9: 12.340.\"]");
}

TEST_F(Calls, ThePayloadIsTakenByteByByte) { EXPECT_EQ(body("{payload}"), payload_); }

TEST_F(Calls, TheRestIsTakenOver) {
  declaration_.calls = {{.endpoint = "gateway",
                         .key = "{message_id}",
                         .type = "capture.{type}",
                         .business_key = "{invoice}",
                         .body = "[]",
                         .approval = Approval::required,
                         .requested_by = "{tenant}{type}"}};
  EXPECT_EQ(made([](const Call& call) {
              return std::string(call.endpoint) + " " + std::string(call.type) + " " + std::string(call.business_key) +
                     (call.approval ? " waits for " : "") + std::string(call.requested_by);
            }),
            "gateway capture.order.paid 0000000a-0000-0000-0000-0000000000ff waits for order.paid");
}

TEST_F(Calls, AMessageThatCannotMakeItsCallIsRefused) {
  EXPECT_EQ(key("{business_key}"), "missing_field business_key");
  EXPECT_EQ(body(R"(["a {aggregate_id}"])"), "missing_field aggregate_id");
  EXPECT_EQ(key("a {who}"), "ill_typed_field call[0].key") << "a line break in it";
  fields_.message_id = MessageId("m ");
  EXPECT_EQ(key("{message_id}"), "ill_typed_field call[0].key");
  const std::string long_id(300, 'x');
  fields_.message_id = MessageId(long_id);
  EXPECT_EQ(key("{message_id}"), "id_too_long call[0].key");
  fields_.message_id = MessageId("m");
  fields_.payload = std::string_view(too_large_);
  EXPECT_EQ(body("{payload}"), "too_large call[0].body");
  fields_.payload = payload_;
  fields_.message_id = MessageId("m\xff");
  EXPECT_EQ(key("{message_id}"), "invalid_utf8 call[0].key");
  fields_.message_id = MessageId("m");
  fields_.event_type = EventType("a\xff");
  EXPECT_EQ(body(R"({"a":"{type}"})"), "invalid_utf8 type");
  const std::string empty = R"({"who":""})";
  fields_.payload = empty;
  EXPECT_EQ(key("{who}"), "missing_field call[0].key");
  fields_.payload = "[";
  EXPECT_EQ(key("{who}"), "malformed_json payload");
}

// It goes out as a header.
TEST_F(Calls, AKeyThatNoEndpointCanSendIsRefused) {
  for (const char* who : {R"({"who":"a\nb"})", R"({"who":"a\tb"})", R"({"who":"a "})", R"({"who":"\u007f"})"}) {
    const std::string payload = who;
    fields_.payload = payload;
    EXPECT_EQ(key("capture/{who}"), "ill_typed_field call[0].key") << who;
  }
  const std::string payload = R"({"who":" a\u00e9"})";
  fields_.payload = payload;
  EXPECT_EQ(key("{who}/x"), "ill_typed_field call[0].key");
  EXPECT_EQ(key("x/{who}"), "x/ a\xc3\xa9");
}

TEST_F(Calls, WithoutFieldsAnyPayloadWillDo) {
  fields_.payload = "no json";
  EXPECT_EQ(key("{message_id}"), "m-1");
}

}  // namespace
}  // namespace onceward
