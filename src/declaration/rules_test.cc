// The rules on values made in C++, which can say what TOML cannot.
#include "src/declaration/rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "src/declaration/choices.h"

namespace onceward {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

Declaration payments() {
  Declaration declaration;
  declaration.name = "payments";
  declaration.owner = "payments-team@example.com";
  return declaration;
}

struct RuleCase {
  std::string key;
  std::string message;
  std::string hint;
  std::function<void(Declaration&)> spoil;
};

void expect_one_mistake(const RuleCase& wrong) {
  SCOPED_TRACE(wrong.key + ": " + wrong.message);
  Declaration declaration = payments();
  wrong.spoil(declaration);
  const std::vector<Mistake> mistakes = check(declaration);
  ASSERT_EQ(mistakes.size(), 1u) << to_string(mistakes);
  EXPECT_EQ(mistakes[0].key, wrong.key);
  EXPECT_THAT(mistakes[0].message, HasSubstr(wrong.message));
  EXPECT_THAT(mistakes[0].hint, HasSubstr(wrong.hint));
  EXPECT_EQ(mistakes[0].line, 0u);
}

OperationPolicy capture(IdentitySource key = FromEnvelope{FromEnvelope::Member::idempotency_key}) {
  return {"capture", std::move(key)};
}

TEST(Rules, HaveNothingAgainstTheDefaults) { EXPECT_EQ(check(payments()), std::vector<Mistake>{}); }

Declaration by_position() {
  Declaration declaration = payments();
  declaration.source = "kafka://broker/payments?group=g";
  declaration.order = Order::partition;
  declaration.offsets = Offsets::store;
  declaration.trust_producer = true;
  return declaration;
}

TEST(Rules, OfOffsetsInTheStore) {
  EXPECT_EQ(check(by_position()), std::vector<Mistake>{});
  const RuleCase cases[] = {
      {"offsets", "published twice is applied twice", "trust_producer = true",
       [](Declaration& d) { (d = by_position()).trust_producer = false; }},
      {"offsets", "in their order", "order = \"partition\"",
       [](Declaration& d) { (d = by_position()).order = Order::none; }},
      {"offsets", "has no positions", "kafka://",
       [](Declaration& d) { (d = by_position()).source = "rabbitmq://h/v?queue=q"; }},
      {"offsets", "has no positions", "kafka://",
       [](Declaration& d) { (d = by_position()).source = "embedded:a.queue"; }},
      {"offsets", "operation key", "identity.operation",
       [](Declaration& d) { (d = by_position()).identity.operation = capture(); }},
      {"offsets", "carry no time", "identity.scheme",
       [](Declaration& d) { (d = by_position()).identity.scheme = KeyScheme::ulid; }},
      {"trust_producer", "nothing rests on it", "offsets = \"store\"", [](Declaration& d) { d.trust_producer = true; }},
  };
  for (const RuleCase& wrong : cases) expect_one_mistake(wrong);
}

TEST(Rules, OfTheConsumer) {
  const RuleCase cases[] = {
      {"name", "is missing", "part of every key", [](Declaration& d) { d.name = ""; }},
      {"name", "is not a letter followed by", "payment-capture", [](Declaration& d) { d.name = "pay ments"; }},
      {"name", "has 101 bytes", "", [](Declaration& d) { d.name = std::string(101, 'a'); }},
      {"owner", "is missing", "is told when a message is refused", [](Declaration& d) { d.owner = ""; }},
      {"owner", "control character", "an address", [](Declaration& d) { d.owner = "a\nb"; }},
      {"owner", "is not UTF-8", "", [](Declaration& d) { d.owner = "\xff"; }},
      {"source", "two protocols", "rabbitmq://", [](Declaration& d) { d.source = "amqp://h/q"; }},
      {"versions.schema", "the lowest version 3 is above the highest 1", "[lowest, highest]",
       [](Declaration& d) { d.schema_versions = {3, 1}; }},
      {"versions.event", "negative", "counted from 0", [](Declaration& d) { d.event_versions = {-1, 1}; }},
      {"time_bound", "0ms is outside 1ms to 1h", "one transaction", [](Declaration& d) { d.time_bound = {}; }},
      {"time_bound", "3600001ms is outside", "", [](Declaration& d) { d.time_bound = milliseconds(3'600'001); }},
      {"modes", "accepts no mode", "\"live\"", [](Declaration& d) { d.modes = {}; }},
      {"modes", "rebuild stands beside other modes", "a consumer of its own",
       [](Declaration& d) { d.modes = {Mode::live, Mode::rebuild}; }},
  };
  for (const RuleCase& wrong : cases) expect_one_mistake(wrong);
}

TEST(Rules, OfIdentity) {
  using Member = FromEnvelope::Member;
  const RuleCase cases[] = {
      {"identity.message_id", "the business key is no identity", "idempotency_key",
       [](Declaration& d) { d.identity.message_id = FromEnvelope{Member::business_key}; }},
      {"identity.message_id.header", "\"x-delivery-count\" is no identity", "#k13-delivery-tag",
       [](Declaration& d) { d.identity.message_id = FromHeader{"x-delivery-count"}; }},
      {"identity.message_id.header", "the header's name is empty", "ce_id",
       [](Declaration& d) { d.identity.message_id = FromHeader{}; }},
      {"identity.message_id.pointer", "\"/meta/offset\" is no identity", "#k13-offset",
       [](Declaration& d) { d.identity.message_id = FromPayload{"/meta/offset"}; }},
      {"identity.message_id.pointer", "is empty", "RFC 6901",
       [](Declaration& d) { d.identity.message_id = FromPayload{}; }},
      {"identity.producer", "control character", "part of every key",
       [](Declaration& d) { d.identity.producer = "a\x01"; }},
      {"identity.tenant", "has 256 bytes", "", [](Declaration& d) { d.identity.tenant = std::string(256, 't'); }},
      {"identity.producer", "has 17 bytes, more than 16", "limits.id_bytes",
       [](Declaration& d) {
         d.identity.producer = "seventeen-letters";
         d.limits.id_bytes = 16;
       }},
      {"identity.tenant", "both a constant and a header", "keep one",
       [](Declaration& d) { d.identity.tenant = d.identity.tenant_header = "acme"; }},
      {"identity.scheme", "carries no time", "hash",
       [](Declaration& d) {
         d.identity.message_id = FromAggregate{};
         d.identity.scheme = KeyScheme::ulid;
       }},
      {"identity.missing_id", "no operation is declared", "operation = {",
       [](Declaration& d) { d.identity.missing_id_uses_operation = true; }},
      {"identity.missing_id", "carries no time", "scheme = \"hash\"",
       [](Declaration& d) {
         d.identity.operation = capture();
         d.identity.missing_id_uses_operation = true;
         d.identity.scheme = KeyScheme::uuidv7;
       }},
      {"identity.missing_id", "from the place of the missing id", "two places",
       [](Declaration& d) {
         d.identity.operation = capture(FromHeader{"request"});
         d.identity.message_id = FromHeader{"request"};
         d.identity.missing_id_uses_operation = true;
       }},
  };
  for (const RuleCase& wrong : cases) expect_one_mistake(wrong);
}

TEST(Rules, OfTheOperationAndTheHash) {
  using Member = FromEnvelope::Member;
  const RuleCase cases[] = {
      {"identity.operation.name", "is missing", "scope", [](Declaration& d) { d.identity.operation.emplace(); }},
      {"identity.operation.key", "the message id names the message", "command_id",
       [](Declaration& d) { d.identity.operation = capture(FromEnvelope{Member::message_id}); }},
      {"identity.operation.key", "the business key is no identity", "",
       [](Declaration& d) { d.identity.operation = capture(FromEnvelope{Member::business_key}); }},
      {"identity.operation.key.pointer", "is no identity", "#k13-recipient-only",
       [](Declaration& d) { d.identity.operation = capture(FromPayload{"/recipient"}); }},
      {"identity.hash.volatile", "only of a canonical JSON hash", "canonical_json = true",
       [](Declaration& d) { d.identity.hash.volatile_fields = {"/sentAt"}; }},
      {"identity.hash.volatile[1]", "named twice", "once",
       [](Declaration& d) { d.identity.hash = {true, {"/sentAt", "/sentAt"}}; }},
      {"identity.hash.volatile[0]", "does not begin with '/'", "RFC 6901",
       [](Declaration& d) { d.identity.hash = {true, {"sentAt"}}; }},
      {"identity.hash.volatile[0]", "covers the message id", "does not change",
       [](Declaration& d) {
         d.identity.message_id = FromPayload{"/meta/eventId"};
         d.identity.hash = {true, {"/meta"}};
       }},
      {"identity.hash.volatile[0]", "covers the operation key", "",
       [](Declaration& d) {
         d.identity.operation = capture(FromPayload{"/captureRequestId"});
         d.identity.hash = {true, {"/captureRequestId"}};
       }},
      {"identity.hash.volatile", "65 fields, more than 64", "",
       [](Declaration& d) {
         d.identity.hash.canonical_json = true;
         for (int i = 0; i < 65; ++i) d.identity.hash.volatile_fields.push_back("/" + std::to_string(i));
       }},
  };
  for (const RuleCase& wrong : cases) expect_one_mistake(wrong);
}

TEST(Rules, OfFieldsAndEffects) {
  using Kind = EffectDeclaration::Kind;
  const RuleCase cases[] = {
      {"fields.orderId", "not the name of a column", "write order_id",
       [](Declaration& d) { d.fields = {{"orderId", "/orderId"}}; }},
      {"fields.amount", "declared twice", "keep one",
       [](Declaration& d) { d.fields = {{"amount", "/a"}, {"amount", "/b"}}; }},
      {"fields.amount.pointer", "is missing", "pointer = \"/amount\"",
       [](Declaration& d) { d.fields = {{"amount", ""}}; }},
      {"fields.amount.type", "the scale 19 is outside 0 to 18", "64 bits",
       [](Declaration& d) { d.fields = {{"amount", "/a", FieldType::decimal, 19}}; }},
      {"fields.amount.type", "the scale -1 is outside", "",
       [](Declaration& d) { d.fields = {{"amount", "/a", FieldType::decimal, -1}}; }},
      {"fields.amount.type", "only a decimal has a scale", "decimal(2)",
       [](Declaration& d) { d.fields = {{"amount", "/a", FieldType::int64, 2}}; }},
      {"fields", "65 fields, more than 64", "",
       [](Declaration& d) {
         for (int i = 0; i < 65; ++i) d.fields.push_back({"f" + std::to_string(i), "/f"});
       }},
      {"effect[0].name", "is missing", "name = ", [](Declaration& d) { d.effects = {{""}}; }},
      {"effect[1].name", "declared twice", "of its own", [](Declaration& d) { d.effects = {{"a"}, {"a"}}; }},
      {"effect[0].irreversible", "commits or rolls back", "leaves the database",
       [](Declaration& d) { d.effects = {{"a", Kind::database, true}}; }},
      {"effect[0].irreversible", "take a notification back", "irreversible = true",
       [](Declaration& d) { d.effects = {{"a", Kind::notification, false}}; }},
      {"effect", "65 effects, more than 64", "several consumers",
       [](Declaration& d) {
         for (int i = 0; i < 65; ++i) d.effects.push_back({"e" + std::to_string(i)});
       }},
  };
  for (const RuleCase& wrong : cases) expect_one_mistake(wrong);
}

TEST(Rules, OfRetryAndHorizon) {
  const RuleCase cases[] = {
      {"retry.attempts", "0 is outside 1 to 100", "the first try counts", [](Declaration& d) { d.retry.attempts = 0; }},
      {"retry.attempts", "101 is outside", "quarantine", [](Declaration& d) { d.retry.attempts = 101; }},
      {"retry.first_delay", "0ms is outside 1ms to 1d", "", [](Declaration& d) { d.retry.first_delay = {}; }},
      {"retry.longest_delay", "8d is outside 1ms to 7d", "",
       [](Declaration& d) { d.retry.longest_delay = std::chrono::hours(24 * 8); }},
      {"retry.longest_delay", "500ms is shorter than first_delay = 1s", "grow",
       [](Declaration& d) { d.retry.longest_delay = milliseconds(500); }},
      {"retention.broker_retention", "is outside 1s to 100y", "leave the key out",
       [](Declaration& d) { d.horizon.broker_retention = seconds(0); }},
      {"retention.legal", "is outside", "", [](Declaration& d) { d.horizon.legal = seconds::max(); }},
      // 1 + 2 + 4 + 8 seconds between five attempts
      {"retention.longest_retry", "14s is shorter than the consumer's own retries, which take 15s", "every retry",
       [](Declaration& d) { d.horizon.longest_retry = seconds(14); }},
  };
  for (const RuleCase& wrong : cases) expect_one_mistake(wrong);
  Declaration enough = payments();
  enough.horizon.longest_retry = seconds(15);
  EXPECT_TRUE(check(enough).empty());
}

TEST(Rules, OfLimits) {
  const RuleCase cases[] = {
      {"limits.message_bytes", "0 is outside 1 to", "object storage",
       [](Declaration& d) { d.limits.message_bytes = 0; }},
      {"limits.message_bytes", "is outside 1 to", "", [](Declaration& d) { d.limits.message_bytes = SIZE_MAX; }},
      {"limits.id_bytes", "15 is outside 16 to 1024", "UUIDs", [](Declaration& d) { d.limits.id_bytes = 15; }},
      {"limits.header_count", "1025 is outside", "memory", [](Declaration& d) { d.limits.header_count = 1025; }},
      {"limits.header_bytes", "1048577 is outside", "", [](Declaration& d) { d.limits.header_bytes = (1 << 20) + 1; }},
      {"limits.depth", "0 is outside 1 to 256", "stack", [](Declaration& d) { d.limits.depth = 0; }},
  };
  for (const RuleCase& wrong : cases) expect_one_mistake(wrong);
}

// Extremes must be refused without overflowing on the way.
TEST(Rules, SurviveExtremeValues) {
  Declaration declaration = payments();
  declaration.retry = {std::numeric_limits<int>::max(), milliseconds::max(), milliseconds::max()};
  declaration.horizon.longest_retry = seconds::max();
  declaration.time_bound = milliseconds::min();
  EXPECT_EQ(check(declaration).size(), 5u);
  declaration.retry = {std::numeric_limits<int>::min(), milliseconds::min(), milliseconds::min()};
  declaration.horizon.longest_retry = seconds::min();
  EXPECT_EQ(check(declaration).size(), 5u);
}

TEST(Rules, TellSchemesApart) {
  using declaration::Findings;
  const auto source = [](std::string_view url) {
    Findings findings;
    declaration::check_source_url(url, declaration::Path("source"), findings);
    return findings.all().empty() ? std::string() : findings.all()[0].message + " | " + findings.all()[0].hint;
  };
  const auto store = [](std::string_view url) {
    const auto findings = declaration::find_in_store(url);
    return findings.empty() ? std::string() : findings[0].message + " | " + findings[0].hint;
  };
  for (const char* url : {"", "embedded:queue.db", "embedded:/var/lib/q", "rabbitmq://h/q", "rabbitmqs://h/q",
                          "kafka://h/t", "amqp1://h/q"})
    EXPECT_EQ(source(url), "") << url;
  for (const char* url : {"postgres://u:p@h/db", "postgresql:///db", "sqlite:orders.db", "sqlite:/var/lib/orders.db"})
    EXPECT_EQ(store(url), "") << url;
  EXPECT_THAT(source("amqps://u:secret@h/q"), testing::AllOf(HasSubstr("rabbitmq://"), HasSubstr("amqp1://")));
  EXPECT_EQ(source("nats://u:secret@h"),
            "the scheme \"nats\" is unknown | one of: embedded:, rabbitmq://, rabbitmqs://, kafka://, amqp1://");
  EXPECT_EQ(store("mysql://u:secret@h"),
            "the scheme \"mysql\" is unknown | one of: postgres://, postgresql://, sqlite:");
  EXPECT_EQ(store(""), "is missing | one of: postgres://, postgresql://, sqlite:");
  EXPECT_EQ(store("orders.db"), "has no scheme | one of: postgres://, postgresql://, sqlite:");
  EXPECT_THAT(store("sqlite:"), HasSubstr("the path is missing"));
  EXPECT_THAT(store("sqlite://orders.db"), HasSubstr("sqlite:orders.db is relative"));
  EXPECT_THAT(store("sqlite::memory:"), HasSubstr("forgets"));
  EXPECT_THAT(store("postgres:db"), HasSubstr("not followed by //"));
  EXPECT_THAT(store("postgres://u:hun/ter2@h/db"), testing::AllOf(HasSubstr("%2F"), testing::Not(HasSubstr("ter2"))));
  EXPECT_EQ(store("postgres://u:${PASSWORD}@h/db"), "") << "it is read when the name has its value";
  for (const char* url : {"nats://u:secret@h", "u:secret@h", "amqp://u:secret@h/q", "rabbitmq:u:secret@h", "secret@h",
                          "embedded://u:secret@h"})
    EXPECT_THAT(source(url), testing::Not(HasSubstr("secret"))) << url;
}

TEST(Rules, NameModesAsMessagesDo) {
  for (const auto& choice : declaration::Choices<Mode>::all) EXPECT_EQ(choice.word, name(choice.value));
}

}  // namespace
}  // namespace onceward
