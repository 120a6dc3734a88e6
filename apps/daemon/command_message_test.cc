// What a request at the front door becomes, and what is refused there since the consumer would refuse it later.
#include "apps/daemon/command_message.h"

#include "apps/daemon/suite.h"

namespace onceward::daemon {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string id_in(const HttpAnswer& answer) { return nlohmann::json::parse(answer.body).at("messageId"); }

class RunningCommands : public RunningIngress {
 protected:
  void expect_refused(const Posted& posted, int status, const std::string& code, const std::string& said = {}) const {
    const HttpAnswer answer = post(posted);
    EXPECT_EQ(answer.status, status) << answer.body;
    EXPECT_EQ(code_in(answer), code);
    EXPECT_THAT(answer.body, HasSubstr(said));
  }
  bool absorbed(int times) const {
    return get(port_, "/metrics")
               .body.find("onceward_consumer_deliveries_total{consumer=\"captures\",verdict=\"duplicate\"} " +
                          std::to_string(times)) != std::string::npos;
  }
};
INSTANTIATE_TEST_SUITE_P(Store, RunningCommands, testing::Values("sqlite", "postgres"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(RunningCommands, UnderAKeyThatWasForgottenAreAcceptedAndAppliedUnlessTheyAreTheSame) {
  const auto process = open_door();
  const std::string first = id_in(post());
  fixtures::await("it is applied", [&] { return effects() == 1; });

  let_answers_expire();
  const HttpAnswer again = post();
  EXPECT_EQ(again.status, 202);
  EXPECT_THAT(again.headers, Not(HasSubstr("Idempotency-Replayed")));
  EXPECT_EQ(id_in(again), first);
  fixtures::await("the inbox absorbs it", [&] { return absorbed(1); });
  EXPECT_EQ(effects(), 1);

  let_answers_expire();
  const std::string other = id_in(post({.body = R"({"amount":2})"}));
  EXPECT_NE(other, first);
  fixtures::await("another is applied", [&] { return effects() == 2; });
  let_answers_expire();
  EXPECT_NE(id_in(post({.body = R"({"amount":2})", .more = "Onceward-Type: other\r\n"})), other);
  fixtures::await("so is one of another type", [&] { return effects() == 3; });
  EXPECT_EQ(parked(), 0);
}

TEST_P(RunningCommands, ThatTheInboxKnowsWithAnotherContentAreRefusedAndLeaveTheKeyFree) {
  add_to_file("[consumer.identity]\noperation = { name = \"capture\" }\n");
  const auto process = open_door();
  EXPECT_EQ(post().status, 202);
  fixtures::await("it is applied", [&] { return effects() == 1; });
  let_answers_expire();
  for (int i = 0; i < 2; ++i) expect_refused({.body = R"({"amount":2})"}, 422, "command_conflict");
  EXPECT_EQ(answered("refused"), 2);
  EXPECT_EQ(post().status, 202) << "the one that was carried out may be repeated";
  fixtures::await("the inbox absorbs it", [&] { return absorbed(1); });
  EXPECT_EQ(effects(), 1);
  EXPECT_EQ(parked(), 0);
}

TEST_P(RunningCommands, ThatHaveTheIdOfAnotherAreRefused) {
  add_to_file("[consumer.identity]\nmessage_id = { pointer = \"/order\" }\n");
  const auto process = open_door();
  EXPECT_EQ(post({.body = R"({"order":"o1","amount":1})"}).status, 202);
  fixtures::await("it is applied", [&] { return effects() == 1; });
  expect_refused({.key = "k2", .body = R"({"order":"o1","amount":2})"}, 422, "command_conflict");
  EXPECT_EQ(post({.key = "k2", .body = R"({"order":"o1","amount":1})"}).status, 202) << "a repeat under another key";
  fixtures::await("the inbox absorbs it", [&] { return absorbed(1); });
  EXPECT_EQ(effects(), 1);
  EXPECT_EQ(parked(), 0);
}

TEST_P(RunningCommands, OfTwoTenantsHaveKeysOfTheirOwn) {
  add_to_file("[consumer.identity]\ntenant = { header = \"X-Tenant\" }\n");
  const auto process = open_door();
  const HttpAnswer first = post({.more = "X-Tenant: a\r\n"});
  const HttpAnswer other = post({.body = R"({"amount":2})", .more = "x-tenant: b\r\n"});
  EXPECT_EQ(first.status, 202);
  EXPECT_EQ(other.status, 202) << other.body;
  EXPECT_NE(id_in(first), id_in(other));
  EXPECT_EQ(post({.body = R"({"amount":2})", .more = "X-Tenant: a\r\n"}).status, 422);
  EXPECT_EQ(post({.more = "X-Tenant: a\r\n"}).body, first.body);
  EXPECT_NE(id_in(post({.more = "X-Tenant: c\r\n"})), id_in(first)) << "the same of another tenant is another";
  fixtures::await("each has its own", [&] { return effects() == 3; });
  expect_refused({}, 400, "command_refused", "missing_field");
  expect_refused({.more = "X-Tenant: " + std::string(256, 'a') + "\r\n"}, 400, "request_malformed");
}

TEST_P(RunningCommands, WhoseFieldsTheConsumerWouldRefuseAreRefusedAtOnce) {
  add_to_file(
      "[consumer.fields]\ninvoice = { pointer = \"/invoice\" }\n"
      "amount = { pointer = \"/amount\", type = \"decimal(2)\" }\nnote = { pointer = \"/note\", optional = true }\n");
  const auto process = open_door();
  expect_refused({.body = R"({"invoice":"I-7"})"}, 400, "command_refused", "missing_field amount");
  expect_refused({.body = R"({"invoice":"I-7","amount":"secret"})"}, 400, "command_refused", "ill_typed_field amount");
  expect_refused({.body = R"({"invoice":"I-7","amount":1.234})"}, 400, "command_refused", "number_out_of_range amount");
  expect_refused({.body = R"([])"}, 400, "command_refused", "missing_field invoice");
  expect_refused({.body = "text", .content_type = "text/plain"}, 400, "command_refused", "malformed_json payload");
  EXPECT_THAT(post({.body = R"({"invoice":"I-7","amount":"secret"})"}).body, Not(HasSubstr("secret")));
  EXPECT_EQ(post({.body = R"({"invoice":"I-7","amount":1.23})"}).status, 202) << "a refusal uses up no key";
  fixtures::await("it is applied", [&] { return effects() == 1; });
  EXPECT_EQ(answered("refused"), 6);
  EXPECT_EQ(parked(), 0);
}

TEST_P(RunningCommands, WhoseCallsCannotBeMadeAreRefusedAtOnce) {
  add_to_file(
      "[consumer.fields]\ninvoice = { pointer = \"/invoice\" }\n[[consumer.call]]\nendpoint = \"gateway\"\n"
      "key = \"capture/{invoice}\"\nbody = \"{payload}\"\n");
  const auto process = open_door();
  expect_refused({.body = "{\"invoice\":\"" + std::string(250, 'i') + "\"}"}, 400, "command_refused", "id_too_long");
  expect_refused({.body = R"({"invoice":"I\n7"})"}, 400, "command_refused", "ill_typed_field call[0].key");
  EXPECT_EQ(post({.body = R"({"invoice":"I-7"})"}).status, 202);
  fixtures::await("it is applied", [&] { return effects() == 1; });
  EXPECT_EQ(reader_->number("SELECT count(*) FROM " + table("ledger")), 1);
  EXPECT_EQ(parked(), 0);
}

// --- of one consumer, without a daemon

TEST(CommandWriter, RefusesWhatNoQueueTakes) {
  Declaration consumer;
  consumer.name = "captures";
  consumer.limits.message_bytes = 256u << 20;
  CommandWriter writer(consumer);
  // An empty array: what is inside need not be looked at character by character.
  Request request{"POST", "/ingress/captures", {{"content-type", "application/json"}, {"idempotency-key", "k"}}};
  request.body = '[' + std::string(EmbeddedOptions::most_message_bytes - 12, ' ') + ']';
  const auto refused = std::get<CommandRefusal>(writer.write(request, ""));
  EXPECT_EQ(refused.status, 413u);
  EXPECT_EQ(refused.code, "body_too_large");
}

TEST(CommandWriter, GivesTheSameIdToTheSameCommandOnly) {
  Declaration consumer;
  consumer.name = "captures";
  CommandWriter writer(consumer);
  const Request request{
      "POST", "/ingress/captures", {{"content-type", "text/plain"}, {"idempotency-key", "k"}}, false, "b"};
  const auto id = [&](const Request& asked, std::string_view principal = "p") {
    return std::get<CommandMessage>(writer.write(asked, principal)).id;
  };
  const auto with = [&](const std::string& name, const std::string& value) {
    Request other = request;
    other.headers[name] = value;
    return other;
  };
  EXPECT_EQ(id(request), id(request));
  EXPECT_EQ(id(with("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")), id(request));
  EXPECT_NE(id(request, "q"), id(request));
  for (const char* name : {"idempotency-key", "onceward-type", "onceward-key", "onceward-correlation-id"}) {
    EXPECT_NE(id(with(name, "other")), id(request)) << name;
  }
  EXPECT_NE(id(with("content-type", "text/html")), id(request));
  Request other = request;
  other.body = "c";
  EXPECT_NE(id(other), id(request));
  other = request;
  other.path = "/ingress/refunds";
  EXPECT_NE(id(other), id(request));
}

}  // namespace
}  // namespace onceward::daemon
