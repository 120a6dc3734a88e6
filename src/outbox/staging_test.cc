#include "src/outbox/staging.h"

#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>
#include <deque>

#include <nlohmann/json.hpp>
#include <set>

#include "onceward/fault.h"

namespace onceward {
namespace {

Envelope inbound() {
  EnvelopeFields fields;
  fields.tenant = Tenant("acme");
  fields.producer = Producer("shop");
  fields.message_id = MessageId("m-1");
  fields.trace_parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  return Envelope(fields, nullptr);
}

// Keeps the claimants that causes point at.
Cause cause_of(const Envelope& envelope, std::uint32_t index = 0) {
  static std::deque<Claimant> claimants;
  Claimant& claimant = claimants.emplace_back();
  claimant.key.bytes[0] = 0x80;
  claimant.key.bytes[15] = static_cast<unsigned char>(index);
  claimant.tenant = envelope.tenant();
  claimant.producer = envelope.producer();
  claimant.id = IdText(envelope.message_id().text());
  claimant.envelope = &envelope;
  return {index, "captures", &claimant};
}

FaultCode refused(Staging& staging, const auto& what) {
  try {
    staging.add(Cause{}, what);
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.poisons(), Poisons::transaction);
    EXPECT_TRUE(staging.empty());
    return fault.fault();
  }
  ADD_FAILURE() << "nothing was thrown";
  return FaultCode::busy;
}

TEST(Staging, OwnsWhatItWasGiven) {
  Staging staging;
  std::string payload = "{\"amount\":1}", key = "invoice-1";
  staging.add(Cause{}, Outgoing{"payment.captured", key, payload});
  payload.assign(payload.size(), 'x');
  key.assign(key.size(), 'x');
  ASSERT_EQ(staging.outgoing().size(), 1u);
  EXPECT_EQ(staging.outgoing()[0].message.payload, "{\"amount\":1}");
  EXPECT_EQ(staging.outgoing()[0].message.key, "invoice-1");
}

TEST(Staging, RunningTheSameMessageAgainStagesTheSameIdsAndBytes) {
  const Envelope envelope = inbound();
  const auto run = [&](Staging& staging) {
    staging.add(cause_of(envelope), Outgoing{"payment.captured", "a", "1"});
    staging.add(cause_of(envelope), Outgoing{"payment.captured", "a", "2"});
    staging.add(cause_of(envelope), Outgoing{.type = "payment.captured", .key = "a", .payload = "3", .name = "x"});
  };
  Staging once, again;
  run(once);
  run(again);
  std::set<std::string_view> ids;
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(once.outgoing()[i].message.id, again.outgoing()[i].message.id);
    EXPECT_EQ(once.outgoing()[i].message.payload, again.outgoing()[i].message.payload);
    ids.insert(once.outgoing()[i].message.id);
  }
  EXPECT_EQ(ids.size(), 3u);
}

TEST(Staging, IdsGoOnAfterTheRowsWereWritten) {
  const Envelope envelope = inbound();
  Staging staging;
  staging.add(cause_of(envelope), Outgoing{"t", "a", "1"});
  const std::string first(staging.outgoing()[0].message.id);
  staging.written();
  staging.add(cause_of(envelope), Outgoing{"t", "a", "2"});
  EXPECT_NE(staging.outgoing()[0].message.id, first);
}

TEST(Staging, ForgottenMessageLeavesNothingAndBeginsAnew) {
  const Envelope envelope = inbound();
  Staging staging;
  staging.add(cause_of(envelope, 0), Outgoing{"t", "a", "1"});
  staging.add(cause_of(envelope, 1), Outgoing{"t", "b", "1"});
  staging.add(cause_of(envelope, 1), Call{"gateway", "k", "body"});
  const std::string id(staging.outgoing()[1].message.id);
  staging.forget(1);
  ASSERT_EQ(staging.outgoing().size(), 1u);
  EXPECT_EQ(staging.outgoing()[0].cause, 0u);
  EXPECT_TRUE(staging.calls().empty());
  staging.add(cause_of(envelope, 1), Outgoing{"t", "b", "1"});
  EXPECT_EQ(staging.outgoing()[1].message.id, id);
}

// The order in which the messages of a batch take turns is no part of an id.
RC_GTEST_PROP(Staging, IdsDoNotDependOnTheNeighbours, (const std::vector<std::uint8_t>& turns)) {
  const Envelope envelope = inbound();
  Staging together;
  std::vector<Staging> alone(4);
  const std::array<std::string_view, 3> types{"a", "b", "a.b"};
  for (const std::uint8_t turn : turns) {
    const Cause cause = cause_of(envelope, turn % 4u);
    const Outgoing outgoing{types[turn / 4u % 3u], "k", "p"};
    together.add(cause, outgoing);
    alone[turn % 4u].add(cause, outgoing);
  }
  std::vector<std::size_t> next(4);
  std::set<std::string_view> ids;
  for (const StagedOutgoing& staged : together.outgoing()) {
    RC_ASSERT(staged.message.id == alone[staged.cause].outgoing()[next[staged.cause]++].message.id);
    RC_ASSERT(ids.insert(staged.message.id).second);
  }
}

TEST(Staging, ANameTellsMessagesOfOneTypeApartInAnyOrder) {
  const Envelope envelope = inbound();
  const Outgoing left{.type = "t", .key = "k", .payload = "p", .name = "left"};
  const Outgoing right{.type = "t", .key = "k", .payload = "p", .name = "right"};
  const Outgoing other_type{.type = "u", .key = "k", .payload = "p", .name = "left"};
  Staging one, other;
  one.add(cause_of(envelope), left);
  one.add(cause_of(envelope), right);
  one.add(cause_of(envelope), other_type);
  other.add(cause_of(envelope), right);
  other.add(cause_of(envelope), left);
  EXPECT_EQ(one.outgoing()[0].message.id, other.outgoing()[1].message.id);
  EXPECT_EQ(one.outgoing()[1].message.id, other.outgoing()[0].message.id);
  EXPECT_NE(one.outgoing()[0].message.id, one.outgoing()[2].message.id);
}

TEST(Staging, GivenIdsAreKept) {
  Staging staging;
  staging.add(Cause{}, Outgoing{.type = "t", .key = "k", .payload = "p", .id = "mine"});
  EXPECT_EQ(staging.outgoing()[0].message.id, "mine");
}

TEST(Staging, WithoutACauseIdsAreFresh) {
  Staging staging;
  staging.add(Cause{}, Outgoing{"t", "k", "p"});
  staging.add(Cause{}, Outgoing{"t", "k", "p"});
  EXPECT_NE(staging.outgoing()[0].message.id, staging.outgoing()[1].message.id);
  EXPECT_EQ(staging.outgoing()[0].cause_key, Key{});
}

TEST(Staging, CarriesTheJourneyOn) {
  const Envelope envelope = inbound();
  Staging staging;
  staging.add(cause_of(envelope), Outgoing{"t", "k", "p"});
  const StagedOutgoing& staged = staging.outgoing()[0];
  EXPECT_EQ(staged.tenant, "acme");
  EXPECT_EQ(staged.causation_id, "m-1");
  EXPECT_EQ(staged.correlation_id, "m-1");  // the journey begins with the message that named none
  EXPECT_EQ(staged.trace_parent, envelope.fields().trace_parent);

  EnvelopeFields fields = envelope.fields();
  fields.correlation_id = CorrelationId("journey");
  const Envelope later(fields, nullptr);
  staging.add(cause_of(later), Outgoing{"t", "k", "p"});
  EXPECT_EQ(staging.outgoing()[1].correlation_id, "journey");
}

TEST(Staging, StateOfATraceGoesWithItsParent) {
  const auto headers_of = [](EnvelopeFields fields, std::span<const Header> inbound_headers,
                             std::span<const Header> own) {
    fields.headers = inbound_headers;
    const Envelope envelope(fields, nullptr);
    Staging staging;
    staging.add(cause_of(envelope), Outgoing{.type = "t", .key = "k", .payload = "p", .headers = own});
    return std::string(staging.outgoing()[0].headers_json);
  };
  const EnvelopeFields traced = inbound().fields();
  const std::array<Header, 2> state{{{"other", "1"}, {"tracestate", "congo=1"}}};
  const std::array<Header, 1> own{{{"tracestate", "mine=1"}}}, more{{{"a", "b"}}}, broken{{{"tracestate", "\xff"}}};
  EXPECT_EQ(headers_of(traced, state, {}), R"({"tracestate":"congo=1"})");
  EXPECT_EQ(headers_of(traced, state, more), R"({"a":"b","tracestate":"congo=1"})");
  EXPECT_EQ(headers_of(traced, state, own), R"({"tracestate":"mine=1"})");
  EXPECT_EQ(headers_of(traced, broken, {}), "");
  const std::string long_text(16'000, 'x');
  const std::array<Header, 1> large{{{"large", long_text}}}, large_state{{{"tracestate", long_text}}};
  EXPECT_EQ(headers_of(traced, large_state, large), headers_of(traced, {}, large)) << "no more than a reader takes";
  std::vector<std::string> names;
  for (int i = 0; i < 64; ++i) names.push_back("h" + std::to_string(i));
  std::vector<Header> many;
  for (const std::string& name : names) many.push_back({name, ""});
  EXPECT_EQ(headers_of(traced, state, many), headers_of(traced, {}, many)) << "nor more of them";
  EnvelopeFields untraced = traced;
  untraced.trace_parent = {};
  EXPECT_EQ(headers_of(untraced, state, {}), "") << "it is nothing by itself";
}

TEST(Staging, HeadersAreOneJsonObjectInTheirOrder) {
  Staging staging;
  const std::array<Header, 2> headers{{{"z", "a \"quoted\"\n\u00e9"}, {"a", ""}}};
  staging.add(Cause{}, Outgoing{.type = "t", .key = "k", .payload = "p", .headers = headers});
  staging.add(Cause{}, Outgoing{.type = "t", .key = "k", .payload = "p"});
  EXPECT_EQ(staging.outgoing()[0].headers_json, "{\"z\":\"a \\\"quoted\\\"\\n\u00e9\",\"a\":\"\"}");
  EXPECT_EQ(staging.outgoing()[1].headers_json, "");
}

TEST(Staging, AFactIsItsFourPartsAndItsTenant) {
  const Outgoing fact{.type = "opened",
                      .key = "k",
                      .payload = "p",
                      .aggregate_type = "invoice",
                      .aggregate_id = "7",
                      .aggregate_version = 3,
                      .unique_fact = true};
  const auto key_of = [](const Outgoing& outgoing) {
    Staging staging;
    staging.add(Cause{}, outgoing);
    return staging.outgoing()[0].fact;
  };
  Outgoing other_payload = fact, other_type = fact, other_version = fact, other_id = fact, other_aggregate = fact;
  other_payload.payload = "q";
  other_type.type = "closed";
  other_version.aggregate_version = 4;
  other_id.aggregate_id = "8";
  other_aggregate.aggregate_type = "order";
  EXPECT_EQ(key_of(fact), key_of(other_payload));
  const std::set<Key> keys{key_of(fact), key_of(other_type), key_of(other_version), key_of(other_id),
                           key_of(other_aggregate)};
  EXPECT_EQ(keys.size(), 5u);

  const Envelope envelope = inbound();
  Staging of_tenant;
  of_tenant.add(cause_of(envelope), fact);
  EXPECT_FALSE(keys.contains(of_tenant.outgoing()[0].fact));
}

TEST(Staging, ACallIsKnownByItsKeyAndToldApartByItsContent) {
  Staging staging;
  staging.add(Cause{}, Call{"gateway", "capture/1", "body"});
  staging.add(Cause{}, Call{"gateway", "capture/1", "other body"});
  staging.add(Cause{}, Call{"gateway", "capture/2", "body"});
  const auto calls = staging.calls();
  EXPECT_EQ(calls[0].key, calls[1].key);
  EXPECT_NE(calls[0].request_hash, calls[1].request_hash);
  EXPECT_NE(calls[0].key, calls[2].key);
  EXPECT_EQ(calls[0].request_hash, calls[2].request_hash);
}

TEST(Staging, ACallThatAsksForApprovalIsNotTheOneThatDoesNot) {
  Staging staging;
  staging.add(Cause{}, Call{.endpoint = "gateway", .key = "capture/1", .body = "body"});
  staging.add(Cause{}, Call{.endpoint = "gateway", .key = "capture/1", .body = "body", .approval = true});
  EXPECT_NE(staging.calls()[0].request_hash, staging.calls()[1].request_hash);
}

TEST(Staging, TheOtherSideIsToldAKeyThatNoOtherCallHas) {
  EXPECT_EQ(sent_key("", "capture/1"), "capture/1");
  EXPECT_EQ(sent_key("north", "capture/1"), "@north/capture/1");
  EXPECT_EQ(sent_key("", "@north/capture/1"), "@/@north/capture/1");
  EXPECT_EQ(sent_key("a/b", "c"), "@a%2Fb/c");
  EXPECT_EQ(sent_key("a", "b/c"), "@a/b/c");
  EXPECT_EQ(sent_key("a%2Fb", "c"), "@a%252Fb/c");
  EXPECT_EQ(sent_key("a\r\nX: 1", "c"), "@a%0D%0AX: 1/c");
}

TEST(Staging, RefusesWhatNoStoreCouldWrite) {
  using namespace std::string_view_literals;
  Staging staging;
  const std::string long_name(256, 'n'), longest(255, 'n'), big((16u << 20) + 1, 'p');
  const Outgoing good{"t", "k", "p"};
  for (std::string_view Outgoing::* member :
       {&Outgoing::type, &Outgoing::key, &Outgoing::id, &Outgoing::name, &Outgoing::aggregate_type,
        &Outgoing::aggregate_id, &Outgoing::content_type}) {
    for (const std::string_view bad : {"a\0b"sv, "\xff"sv, std::string_view(long_name)}) {
      Outgoing outgoing = good;
      outgoing.*member = bad;
      EXPECT_EQ(refused(staging, outgoing), FaultCode::statement_failed);
    }
    Outgoing outgoing = good;
    outgoing.*member = longest;
    Staging().add(Cause{}, outgoing);
  }
  EXPECT_EQ(refused(staging, Outgoing{"", "k", "p"}), FaultCode::statement_failed);
  EXPECT_EQ(refused(staging, Outgoing{"t", "k", big}), FaultCode::statement_failed);
  Outgoing half_a_fact = good;
  half_a_fact.unique_fact = true;
  EXPECT_EQ(refused(staging, half_a_fact), FaultCode::statement_failed);
  EXPECT_EQ(refused(staging, Call{"gateway", "", "b"}), FaultCode::statement_failed);
  EXPECT_EQ(refused(staging, Call{"", "k", "b"}), FaultCode::statement_failed);
  EXPECT_EQ(refused(staging, Call{"gateway", long_name, "b"}), FaultCode::statement_failed);
  EXPECT_EQ(refused(staging, Call{"gateway", "k", big}), FaultCode::statement_failed);
}

TEST(Staging, RefusesHeadersPastTheirLimits) {
  using namespace std::string_view_literals;
  Staging staging;
  const auto with = [](std::span<const Header> headers) {
    return Outgoing{.type = "t", .key = "k", .payload = "p", .headers = headers};
  };
  const std::string big(16u << 10, 'v');
  std::vector<std::string> names;
  std::vector<Header> many;
  for (int i = 0; i < 65; ++i) names.push_back(std::to_string(i));
  for (const std::string& name : names) many.push_back({name, ""});
  const std::array<Header, 1> too_big{{{"n", big}}}, nul{{{"n", "\0"sv}}}, nameless{{{"", "v"}}};
  const std::array<Header, 2> twice{{{"n", "1"}, {"n", "2"}}};
  EXPECT_EQ(refused(staging, with(many)), FaultCode::statement_failed);
  EXPECT_EQ(refused(staging, with(too_big)), FaultCode::statement_failed);
  EXPECT_EQ(refused(staging, with(nul)), FaultCode::statement_failed);
  EXPECT_EQ(refused(staging, with(nameless)), FaultCode::statement_failed);
  EXPECT_EQ(refused(staging, with(twice)), FaultCode::statement_failed);
}

}  // namespace
}  // namespace onceward
