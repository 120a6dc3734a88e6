#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "onceward/claim.h"
#include "src/common/sha256.h"
#include "src/envelope/key.h"

namespace onceward {
namespace {

Declaration billing() {
  Declaration declaration;
  declaration.name = "billing";
  return declaration;
}

Envelope message(std::string_view json) {
  const auto read = read_json_envelope(Bytes::copy_of(json));
  EXPECT_TRUE(std::holds_alternative<Envelope>(read)) << json;
  return std::get<Envelope>(read);
}

TEST(Identify, UnreadMessageHasNoIdentityWhateverWasFoundOfIt) {
  const Envelope whole = message(R"({"messageId":"m","producer":"shop"})");
  EnvelopeFields fields = whole.fields();
  fields.unread = Reason::too_deep;
  const Envelope unread = Envelope::copy_of(fields);
  const auto answer = identify(unread, billing());
  ASSERT_TRUE(std::holds_alternative<Refusal>(answer));
  EXPECT_EQ(std::get<Refusal>(answer).reason, Reason::too_deep);
}

// What it points to must outlive it, so only what a Claimant owns is looked at.
Claimant claimant(const Envelope& envelope, const Declaration& declaration) {
  auto answer = identify(envelope, declaration);
  const Refusal* refusal = std::get_if<Refusal>(&answer);
  EXPECT_EQ(refusal, nullptr) << code(refusal->reason) << " " << refusal->detail;
  return refusal ? Claimant() : std::get<Claimant>(std::move(answer));
}

std::string id_of(std::string_view json, const Declaration& declaration) {
  const Envelope envelope = message(json);
  return std::string(claimant(envelope, declaration).id);
}

Refusal identity_refusal(std::string_view json, const Declaration& declaration) {
  const Envelope envelope = message(json);
  const auto answer = identify(envelope, declaration);
  EXPECT_TRUE(std::holds_alternative<Refusal>(answer)) << json;
  return std::holds_alternative<Refusal>(answer) ? std::get<Refusal>(answer) : Refusal{};
}

TEST(Identify, NamesAMessageByTenantConsumerProducerAndId) {
  const Envelope envelope = message(R"({"messageId":"m-1","producer":"orders","tenant":"ignored","payload":{"a": 1}})");
  const Declaration declaration = billing();
  const Claimant claimed = claimant(envelope, declaration);
  EXPECT_EQ(claimed.id, "m-1");
  EXPECT_EQ(claimed.producer.text(), "orders");
  EXPECT_EQ(claimed.tenant.text(), "");
  EXPECT_EQ(claimed.envelope, &envelope);
  EXPECT_EQ(claimed.operation, std::nullopt);
  EXPECT_EQ(claimed.key, std::get<Key>(message_key(KeyScheme::hash, Tenant(), "billing", Producer("orders"), "m-1")));
  EXPECT_EQ(claimed.payload_hash.bytes, sha256(R"({"a": 1})"));
}

TEST(Identify, TakesTheIdFromWhereThePolicySays) {
  Declaration declaration = billing();
  const std::string_view json =
      R"({"messageId":"m","eventId":"e","commandId":"c","idempotencyKey":"i","businessKey":"b","producer":"p",
          "aggregateType":"or:der","aggregateId":"50%","aggregateVersion":7,"headers":{"x-id":"h"},
          "payload":{"ids":[{"a/b":"p\u0031"},17,-0,1.0,null,true,"","-5"]}})";
  using Member = FromEnvelope::Member;
  const auto by = [&](IdentitySource source) {
    declaration.identity.message_id = std::move(source);
    return id_of(json, declaration);
  };
  EXPECT_EQ(by(FromEnvelope{Member::message_id}), "m");
  EXPECT_EQ(by(FromEnvelope{Member::event_id}), "e");
  EXPECT_EQ(by(FromEnvelope{Member::command_id}), "c");
  EXPECT_EQ(by(FromEnvelope{Member::idempotency_key}), "i");
  EXPECT_EQ(by(FromEnvelope{Member::business_key}), "b");
  EXPECT_EQ(by(FromHeader{"x-id"}), "h");
  EXPECT_EQ(by(FromPayload{"/ids/0/a~1b"}), "p1");
  EXPECT_EQ(by(FromPayload{"/ids/1"}), "17");
  EXPECT_EQ(by(FromAggregate{}), "or%3Ader:50%25:7");

  const auto refused = [&](IdentitySource source) {
    declaration.identity.message_id = std::move(source);
    return identity_refusal(json, declaration);
  };
  EXPECT_EQ(refused(FromHeader{"x-none"}), (Refusal{Reason::missing_message_id, "header x-none"}));
  for (const std::string_view absent : {"/ids/4", "/ids/6", "/ids/8", "/none"}) {
    EXPECT_EQ(refused(FromPayload{std::string(absent)}),
              (Refusal{Reason::missing_message_id, "payload " + std::string(absent)}));
  }
  for (const std::string_view other : {"/ids/2", "/ids/3", "/ids/5", "/ids", "/ids/0"}) {
    EXPECT_EQ(refused(FromPayload{std::string(other)}).reason, Reason::malformed_message_id) << other;
  }
}

TEST(Identify, KeepsTheNumbersAndTheTextsOfAPayloadAsOneIdentity) {
  Declaration declaration = billing();
  declaration.identity.message_id = FromPayload{"/id"};
  const Envelope number = message(R"({"producer":"p","payload":{"id":17}})");
  const Envelope text = message(R"({"producer":"p","payload":{"id":"17"}})");
  EXPECT_EQ(claimant(number, declaration).key, claimant(text, declaration).key);
  EXPECT_NE(claimant(number, declaration).payload_hash, claimant(text, declaration).payload_hash);
}

RC_GTEST_PROP(Identify, AnAggregatesPartsCannotRunTogether, ()) {
  const auto part = [] { return "a" + *rc::gen::container<std::string>(rc::gen::elementOf(std::string("a:%3A25"))); };
  const std::string type_a = part(), type_b = part(), id_a = part(), id_b = part();
  const auto id = [](const std::string& type, const std::string& aggregate) {
    EnvelopeFields fields;
    fields.producer = Producer("p");
    fields.aggregate_type = AggregateType(type);
    fields.aggregate_id = AggregateId(aggregate);
    fields.aggregate_version = 1;
    Declaration declaration = billing();
    declaration.identity.message_id = FromAggregate{};
    declaration.limits.id_bytes = 10000;
    return std::string(claimant(Envelope::copy_of(fields), declaration).id);
  };
  RC_ASSERT((id(type_a, id_a) == id(type_b, id_b)) == (type_a == type_b && id_a == id_b));
}

TEST(Identify, RefusesAMissingId) {
  EXPECT_EQ(identity_refusal(R"({"producer":"p","eventId":"e"})", billing()),
            (Refusal{Reason::missing_message_id, "messageId"}));
  EXPECT_EQ(identity_refusal(R"({"producer":"p","messageId":""})", billing()).reason, Reason::missing_message_id);
  Declaration declaration = billing();
  declaration.identity.message_id = FromAggregate{};
  for (const std::string_view json : {R"({"producer":"p","aggregateId":"a","aggregateVersion":1})",
                                      R"({"producer":"p","aggregateType":"t","aggregateVersion":1})",
                                      R"({"producer":"p","aggregateType":"t","aggregateId":"a"})"}) {
    EXPECT_EQ(identity_refusal(json, declaration).reason, Reason::missing_message_id) << json;
  }
  declaration.identity.message_id = FromPayload{"/id"};
  EXPECT_EQ(identity_refusal(R"({"producer":"p"})", declaration).reason, Reason::missing_message_id);
}

TEST(Identify, RefusesAMalformedId) {
  EXPECT_EQ(identity_refusal(R"({"producer":"p","messageId":" m"})", billing()),
            (Refusal{Reason::malformed_message_id, "messageId"}));
  EXPECT_EQ(identity_refusal(R"({"producer":"p","messageId":"a\nb"})", billing()).reason, Reason::malformed_message_id);
  Declaration declaration = billing();
  declaration.identity.scheme = KeyScheme::uuidv7;
  EXPECT_EQ(
      identity_refusal(R"({"producer":"p","messageId":"01890A5D-AC96-774B-BCCE-B302099A8057"})", declaration).reason,
      Reason::malformed_message_id);
  EXPECT_EQ(
      identity_refusal(R"({"producer":"p","messageId":"00000000-0000-7000-8000-000000000000"})", declaration).reason,
      Reason::id_time_out_of_range);
  declaration = billing();
  declaration.limits.id_bytes = 3;
  EXPECT_EQ(identity_refusal(R"({"producer":"p","messageId":"abcd"})", declaration).reason, Reason::id_too_long);
  declaration = billing();
  declaration.identity.message_id = FromPayload{"/id"};
  EXPECT_EQ(identity_refusal(R"({"producer":"p","payload":{"id":"a\u0000"}})", declaration).reason,
            Reason::nul_in_text);
  EXPECT_EQ(identity_refusal(R"({"producer":"p","payload":{"id":1,"id":1}})", declaration).reason,
            Reason::duplicate_field);
  EXPECT_EQ(identity_refusal(R"({"producer":"p","payloadBase64":"AAEC"})", declaration).reason, Reason::nul_in_text);
  EXPECT_EQ(identity_refusal(R"({"producer":"p","payloadBase64":"e30s"})", declaration),
            (Refusal{Reason::malformed_json, "payload"}));
}

TEST(Identify, RefusesAHeaderThatIsThereTwiceWithTwoValues) {
  const Header headers[] = {{"id", "1"}, {"id", "2"}, {"tenant", "a"}, {"tenant", "a"}};
  EnvelopeFields fields;
  fields.producer = Producer("p");
  fields.headers = headers;
  const Envelope envelope = Envelope::copy_of(fields);
  Declaration declaration = billing();
  declaration.identity.message_id = FromHeader{"id"};
  EXPECT_EQ(std::get<Refusal>(identify(envelope, declaration)).reason, Reason::duplicate_field);
  declaration.identity.message_id = FromHeader{"tenant"};
  EXPECT_EQ(claimant(envelope, declaration).id, "a");
  declaration.identity.tenant_header = "id";
  EXPECT_EQ(std::get<Refusal>(identify(envelope, declaration)).reason, Reason::duplicate_field);
}

TEST(Identify, TakesTheProducerFromTheDeclarationOrTheMessage) {
  Declaration declaration = billing();
  EXPECT_EQ(identity_refusal(R"({"messageId":"m"})", declaration).reason, Reason::missing_producer);
  EXPECT_EQ(identity_refusal(R"({"messageId":"m","producer":"p\u0007"})", declaration),
            (Refusal{Reason::ill_typed_field, "producer"}));
  declaration.identity.producer = "orders";
  const Envelope envelope = message(R"({"messageId":"m","producer":"p"})");
  EXPECT_EQ(claimant(envelope, declaration).producer.text(), "orders");
}

TEST(Identify, TakesTheTenantFromTheDeclarationOrItsHeader) {
  Declaration declaration = billing();
  declaration.identity.tenant = "acme";
  const Envelope envelope = message(R"({"messageId":"m","producer":"p","tenant":"other","headers":{"x-tenant":"t"}})");
  EXPECT_EQ(claimant(envelope, declaration).tenant.text(), "acme");
  const Key constant = claimant(envelope, declaration).key;
  declaration.identity.tenant = "";
  declaration.identity.tenant_header = "x-tenant";
  EXPECT_EQ(claimant(envelope, declaration).tenant.text(), "t");
  EXPECT_NE(claimant(envelope, declaration).key, constant);
  EXPECT_EQ(identity_refusal(R"({"messageId":"m","producer":"p","tenant":"t"})", declaration),
            (Refusal{Reason::missing_field, "header x-tenant"}));
  EXPECT_EQ(identity_refusal(R"({"messageId":"m","producer":"p","headers":{"x-tenant":""}})", declaration).reason,
            Reason::missing_field);
  EXPECT_EQ(identity_refusal(R"({"messageId":"m","producer":"p","headers":{"x-tenant":"a "}})", declaration).reason,
            Reason::ill_typed_field);
}

TEST(Identify, RefusesVersionsOutsideTheDeclaredRange) {
  Declaration declaration = billing();
  declaration.schema_versions = {.lowest = 2, .highest = 3};
  declaration.event_versions = {.lowest = 5, .highest = 5, .required = true};
  const auto json = [](std::string_view versions) {
    return R"({"messageId":"m","producer":"p")" + std::string(versions) + "}";
  };
  EXPECT_EQ(id_of(json(R"(,"schemaVersion":2,"eventVersion":5)"), declaration), "m");
  EXPECT_EQ(id_of(json(R"(,"schemaVersion":3,"eventVersion":5)"), declaration), "m");
  EXPECT_EQ(id_of(json(R"(,"eventVersion":5)"), declaration), "m");
  EXPECT_EQ(identity_refusal(json(R"(,"schemaVersion":1,"eventVersion":5)"), declaration),
            (Refusal{Reason::unsupported_schema_version, "schemaVersion 1 is not in 2..3"}));
  EXPECT_EQ(identity_refusal(json(R"(,"schemaVersion":4,"eventVersion":5)"), declaration).reason,
            Reason::unsupported_schema_version);
  EXPECT_EQ(identity_refusal(json(R"(,"eventVersion":6)"), declaration).reason, Reason::unsupported_event_version);
  EXPECT_EQ(identity_refusal(json(""), declaration),
            (Refusal{Reason::unsupported_event_version, "eventVersion is missing"}));
}

TEST(Identify, RefusesAModeThatIsNotAccepted) {
  Declaration declaration = billing();
  const std::string_view replayed = R"({"messageId":"m","producer":"p","mode":"replay"})";
  EXPECT_EQ(identity_refusal(replayed, declaration), (Refusal{Reason::mode_not_accepted, "replay"}));
  declaration.modes.insert(Mode::replay);
  EXPECT_EQ(id_of(replayed, declaration), "m");
}

TEST(Identify, ScopesAnOperationWithoutTheProducer) {
  Declaration declaration = billing();
  declaration.identity.operation = OperationPolicy{.name = "capture"};
  const Envelope one = message(R"({"messageId":"m-1","producer":"p","idempotencyKey":"cap-7"})");
  const Envelope other = message(R"({"messageId":"m-2","producer":"q","idempotencyKey":"cap-7"})");
  const Claimant first = claimant(one, declaration);
  const Claimant second = claimant(other, declaration);
  EXPECT_NE(first.key, second.key);
  EXPECT_EQ(first.operation->key, second.operation->key);
  EXPECT_EQ(first.operation->key, operation_key(Tenant(), "billing", "capture", "cap-7"));
  EXPECT_EQ(first.operation->text, "cap-7");
}

TEST(Identify, RefusesAMissingOrMalformedOperationKey) {
  Declaration declaration = billing();
  declaration.identity.operation = OperationPolicy{.name = "capture", .key = FromPayload{"/capture"}};
  EXPECT_EQ(identity_refusal(R"({"messageId":"m","producer":"p","payload":{}})", declaration),
            (Refusal{Reason::missing_operation_key, "payload /capture"}));
  EXPECT_EQ(identity_refusal(R"({"messageId":"m","producer":"p","payload":{"capture":[]}})", declaration).reason,
            Reason::malformed_operation_key);
  EXPECT_EQ(identity_refusal(R"({"messageId":"m","producer":"p","payload":{"capture":" c"}})", declaration).reason,
            Reason::malformed_operation_key);
}

TEST(Identify, NamesAMessageWithoutAnIdByItsOperationWhereDeclared) {
  Declaration declaration = billing();
  declaration.identity.operation = OperationPolicy{.name = "capture"};
  const std::string_view json = R"({"producer":"p","idempotencyKey":"cap-7"})";
  EXPECT_EQ(identity_refusal(json, declaration).reason, Reason::missing_message_id);
  declaration.identity.missing_id_uses_operation = true;
  const Envelope unnamed = message(json);
  const Claimant claimed = claimant(unnamed, declaration);
  EXPECT_EQ(claimed.id, "cap-7");
  EXPECT_EQ(claimed.key, unnamed_key(Tenant(), "billing", Producer("p"), "capture", "cap-7"));
  // It must never be taken for a message whose own id is that text.
  const Envelope named = message(R"({"messageId":"cap-7","producer":"p","idempotencyKey":"cap-7"})");
  EXPECT_NE(claimed.key, claimant(named, declaration).key);
  EXPECT_EQ(identity_refusal(R"({"messageId":" ","producer":"p","idempotencyKey":"cap-7"})", declaration).reason,
            Reason::malformed_message_id);
}

TEST(Identify, HashesTheExactBytesUnlessTheConsumerDeclaresOtherwise) {
  Declaration declaration = billing();
  const Envelope one = message(R"({"messageId":"m","producer":"p","payload":{"a":1,"sent":2}})");
  const Envelope other = message(R"({"messageId":"m","producer":"p","payload":{"sent":3, "a":1}})");
  EXPECT_NE(claimant(one, declaration).payload_hash, claimant(other, declaration).payload_hash);
  declaration.identity.hash.canonical_json = true;
  EXPECT_NE(claimant(one, declaration).payload_hash, claimant(other, declaration).payload_hash);
  declaration.identity.hash.volatile_fields = {"/sent"};
  EXPECT_EQ(claimant(one, declaration).payload_hash, claimant(other, declaration).payload_hash);
  EXPECT_EQ(claimant(one, declaration).payload_hash.bytes, sha256(R"({"a":1})"));
}

TEST(Identify, RefusesAPayloadThatHasNoCanonicalForm) {
  Declaration declaration = billing();
  declaration.identity.hash.canonical_json = true;
  EXPECT_EQ(identity_refusal(R"({"messageId":"m","producer":"p","payload":{"a":1,"a":1}})", declaration),
            (Refusal{Reason::duplicate_field, "payload"}));
  EXPECT_EQ(identity_refusal(R"({"messageId":"m","producer":"p","payloadBase64":"e30s"})", declaration),
            (Refusal{Reason::malformed_json, "payload"}));
  declaration.limits.depth = 1;
  EXPECT_EQ(identity_refusal(R"({"messageId":"m","producer":"p","payload":[[]]})", declaration).reason,
            Reason::too_deep);
  const Envelope empty = message(R"({"messageId":"m","producer":"p"})");
  EXPECT_EQ(claimant(empty, declaration).payload_hash.bytes, sha256(""));
}

}  // namespace
}  // namespace onceward
