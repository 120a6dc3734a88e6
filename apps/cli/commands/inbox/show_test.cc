#include "apps/cli/suite.h"

namespace onceward::cli {
namespace {

class InboxShow : public CommandOnStore {
 protected:
  void receive(const fixtures::Message& message, const fixtures::Handler& handler = fixtures::insert_effect) {
    apply(fixtures::Inbound(declaration_, {message}), handler);
  }
};

TEST_P(InboxShow, TellsWhatBecameOfAMessageAndWhatItCaused) {
  receive({.id = "m", .payload = "s3cret", .idempotency_key = "capture-7"},
          [](const Envelope&, Transaction& transaction) {
            transaction.stage(Outgoing{"payment.captured", "invoice-7", "s3cret", "out-1"});
            transaction.stage(Call{"gateway", "capture/7", "s3cret", "capture"});
            return Done{"12345"};
          });
  const auto message = json({"inbox", "show", "--consumer", "billing", "--id", "m"});
  EXPECT_EQ(message.at("state"), "PROCESSED");
  EXPECT_EQ(message.at("result_bytes"), 5);
  EXPECT_EQ(message.at("operation"), "capture-7");
  EXPECT_EQ(message.at("outgoing").at(0).at("id"), "out-1");
  EXPECT_EQ(message.at("calls").at(0).at("endpoint"), "gateway");
  EXPECT_EQ(message.at("attempts").size(), 0u);
  EXPECT_EQ(message.at("kept_payload_bytes"), nullptr);
  const auto by_key = say({"inbox", "show", message.at("key").get<std::string>()});
  EXPECT_EQ(by_key.exit_code, 0) << by_key.err;
  EXPECT_TRUE(has(by_key.out, "payment.captured")) << by_key.out;
  EXPECT_FALSE(has(by_key.out, "s3cret")) << by_key.out;
}

TEST_P(InboxShow, ThePayloadIsShownOnlyWhenItIsAskedFor) {
  receive({.id = "m", .payload = R"({"card":"s3cret"})", .idempotency_key = "k"},
          [](const Envelope&, Transaction&) { return Retry{"later", std::chrono::minutes(5)}; });
  const std::vector<std::string> show{"inbox", "show", "--consumer", "billing", "--id", "m", "-o", "json"};
  const auto without = say(show);
  EXPECT_FALSE(has(without.out + without.err, "s3cret")) << without.out;
  EXPECT_EQ(nlohmann::json::parse(without.out).at("kept_payload_bytes"), 17);
  auto asking = show;
  asking.push_back("--payload");
  const auto with = nlohmann::json::parse(say(asking).out);
  EXPECT_EQ(with.at("payload"), R"({"card":"s3cret"})");
  EXPECT_EQ(with.at("envelope").at("messageId"), "m");
}

TEST_P(InboxShow, BytesThatAreNoTextAreShownAsBase64) {
  receive({.id = "m", .payload = std::string("\x00\xff", 2), .idempotency_key = "k"},
          [](const Envelope&, Transaction&) { return Retry{"later", std::chrono::minutes(5)}; });
  EXPECT_EQ(json({"inbox", "show", "--consumer", "billing", "--id", "m", "--payload"}).at("payload_base64"), "AP8=");
}

TEST_P(InboxShow, OneIdOfSeveralProducersNeedsToBeSaidWhich) {
  receive({.id = "m", .producer = "shop", .idempotency_key = "k1"});
  receive({.id = "m", .producer = "mail", .idempotency_key = "k2"});
  const auto which = say({"inbox", "show", "--consumer", "billing", "--id", "m"});
  EXPECT_EQ(which.exit_code, 4);
  EXPECT_TRUE(has(which.err, "mail")) << which.err;
  EXPECT_EQ(json({"inbox", "show", "--consumer", "billing", "--id", "m", "--producer", "mail"}).at("producer"), "mail");
}

TEST_P(InboxShow, MistakesHaveTheirOwnExitCodes) {
  EXPECT_EQ(say({"inbox", "show", "--consumer", "billing", "--id", "nobody"}).exit_code, 3);
  EXPECT_EQ(say({"inbox", "show", "--consumer", "nobody", "--id", "m"}).exit_code, 3);
  EXPECT_EQ(say({"inbox", "show", "80000000-0000-4000-8000-000000000001"}).exit_code, 3);
  EXPECT_EQ(say({"inbox", "show", "m"}).exit_code, 2);
  EXPECT_EQ(say({"inbox", "show", "--id", "m"}).exit_code, 2);
}

ONCEWARD_ON_SQLITE_AND_POSTGRES(InboxShow);

}  // namespace
}  // namespace onceward::cli
