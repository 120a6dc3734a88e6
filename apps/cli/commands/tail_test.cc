#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "onceward/adapter/embedded.h"
#include "tests/fixtures/broker_urls.h"
#include "tests/fixtures/receiving.h"

namespace onceward::cli {
namespace {

using namespace fixtures;  // NOLINT: the fixtures are the tests' vocabulary

Spoken tail_of(const std::string& url, std::vector<std::string> more = {}, const std::string& wait = "2s") {
  std::vector<std::string> command{ONCEWARD_BINARY, "tail", url, "--wait", wait};
  command.insert(command.end(), more.begin(), more.end());
  return fixtures::speak(command);
}

std::vector<nlohmann::json> shown_in(const Spoken& spoken) {
  std::vector<nlohmann::json> shown;
  std::istringstream lines(spoken.out);
  for (std::string line; std::getline(lines, line);) shown.push_back(nlohmann::json::parse(line));
  return shown;
}

std::vector<fixtures::RawMessage> raw_messages(int count) {
  std::vector<fixtures::RawMessage> made;
  for (int i = 0; i < count; ++i) {
    made.push_back({.body = "{\n\"n\":" + std::to_string(i) + "}", .message_id = std::to_string(i), .app_id = "shop"});
  }
  return made;
}

TEST(Tail, ShowsMessagesOfRabbitmqAndGivesThemBack) {
  for (const bool quorum : {false, true}) {
    fixtures::RabbitmqQueue queue({.quorum = quorum});
    queue.send(raw_messages(5));
    const Spoken spoken = tail_of(rabbitmq_url(queue.name()), {"-n", "3"});
    EXPECT_EQ(spoken.exit_code, 0) << spoken.err;
    const auto shown = shown_in(spoken);
    ASSERT_EQ(shown.size(), 3u) << spoken.out;
    EXPECT_EQ(shown[0].at("messageId"), "0");
    EXPECT_EQ(shown[2].at("payload").at("n"), 2);
    EXPECT_NE(spoken.err.find("given back to the queue"), std::string::npos) << spoken.err;
    fixtures::await("all are back", [&] { return queue.depth() == 5; });
  }
}

TEST(Tail, CostsEachMessageOneDeliveryAndKeepsTheirOrder) {
  fixtures::RabbitmqQueue queue({.quorum = true});
  queue.send(raw_messages(5));
  EXPECT_EQ(shown_in(tail_of(rabbitmq_url(queue.name()), {"-n", "3"})).size(), 3u);
  fixtures::await("all are back", [&] { return queue.depth() == 5; });
  const auto source = open_rabbitmq(read_rabbitmq_source_url(rabbitmq_url(queue.name())));
  std::vector<std::pair<std::string, std::uint32_t>> came;
  for (const Delivery& delivery : fixtures::receive_all(*source, 5)) {
    came.emplace_back(delivery.envelope.message_id().text(), delivery.deliveries);
  }
  EXPECT_EQ(came, (decltype(came){{"0", 2}, {"1", 2}, {"2", 2}, {"3", 1}, {"4", 1}}));
}

TEST(Tail, EndsWhenNothingComes) {
  fixtures::RabbitmqQueue queue;
  queue.send(raw_messages(2));
  const Spoken spoken = tail_of(rabbitmq_url(queue.name()));
  EXPECT_EQ(spoken.exit_code, 0) << spoken.err;
  EXPECT_EQ(shown_in(spoken).size(), 2u);
  fixtures::await("all are back", [&] { return queue.depth() == 2; });
}

TEST(Tail, TableIsShortAndHasNoPayload) {
  fixtures::RabbitmqQueue queue;
  queue.send(raw_messages(2));
  const Spoken spoken = tail_of(rabbitmq_url(queue.name()), {"-n", "2", "-o", "table"});
  EXPECT_EQ(spoken.exit_code, 0) << spoken.err;
  EXPECT_EQ(spoken.out.substr(0, 2), "ID") << spoken.out;
  EXPECT_EQ(spoken.out.find("\"n\""), std::string::npos) << spoken.out;
  EXPECT_NE(spoken.out.find("shop"), std::string::npos) << spoken.out;
}

TEST(Tail, WhatIsNoMessageIsShownWithTheReason) {
  fixtures::RabbitmqQueue queue;
  queue.send({{.body = "nonsense", .content_type = "application/cloudevents+json"}});
  const auto shown = shown_in(tail_of(rabbitmq_url(queue.name()), {"-n", "1"}));
  ASSERT_EQ(shown.size(), 1u);
  EXPECT_EQ(shown[0].at("refused"), "malformed_json");
  EXPECT_EQ(shown[0].at("payload"), "nonsense");
}

TEST(Tail, EmbeddedQueueKeepsItsMessages) {
  const fixtures::TemporaryDirectory folder;
  const std::string url = "embedded:" + folder.path() + "/queue.db";
  const std::string_view message = R"({"messageId":"1","producer":"shop","payload":{}})";
  EmbeddedSender(read_embedded_url(url)).send({&message, 1});
  const Spoken spoken = tail_of(url, {"-n", "1"});
  EXPECT_EQ(spoken.exit_code, 0) << spoken.err;
  EXPECT_EQ(shown_in(spoken).at(0).at("messageId"), "1");
  EXPECT_EQ(EmbeddedSender(read_embedded_url(url)).depth().ready, 1u);
}

TEST(Tail, KafkaIsReadWithoutAGroup) {
  const fixtures::KafkaTopic topic(2);
  topic.send({{.value = "{}", .headers = {{"id", "a"}}, .partition = 0},
              {.value = "{}", .headers = {{"id", "b"}}, .partition = 1},
              {.value = "{}", .headers = {{"id", "c"}}, .partition = 1}});
  for (const std::string& url : {kafka_url(topic.name()), topic.url()}) {
    const Spoken spoken = tail_of(url, {"-n", "3"}, "30s");
    EXPECT_EQ(spoken.exit_code, 0) << spoken.err;
    std::set<std::string> ids;
    for (const auto& shown : shown_in(spoken)) ids.insert(shown.at("messageId"));
    EXPECT_EQ(ids, (std::set<std::string>{"a", "b", "c"}));
    EXPECT_NE(spoken.err.find("without a group"), std::string::npos) << spoken.err;
  }
  EXPECT_TRUE(topic.committed().empty());
  EXPECT_EQ(tail_of(kafka_url(topic.name()), {"--from", "latest"}).out, "");
}

TEST(Tail, FromTheEndOfATopicShowsWhatComes) {
  const fixtures::KafkaTopic topic;
  topic.send({{.value = "{}", .headers = {{"id", "old"}}}});
  fixtures::Process process(
      {ONCEWARD_BINARY, "tail", kafka_url(topic.name()), "--from", "latest", "-n", "1", "--wait", "60s"});
  fixtures::await("it is shown", [&] {
    topic.send({{.value = "{}", .headers = {{"id", "new"}}}});
    return !process.running();
  });
  EXPECT_EQ(process.wait(), 0) << process.output();
  EXPECT_NE(process.output().find("\"new\""), std::string::npos) << process.output();
  EXPECT_EQ(process.output().find("\"old\""), std::string::npos) << process.output();
}

TEST(Tail, MisuseIsExitCode2) {
  EXPECT_EQ(tail_of("kafka://broker").exit_code, 2);
  EXPECT_EQ(tail_of("rabbitmq://broker/shop").exit_code, 2);
  EXPECT_EQ(tail_of("rabbitmq://broker/shop?queue=q", {"--from", "latest"}).exit_code, 2);
  EXPECT_EQ(tail_of("kafka://broker/topic", {"-n", "0"}).exit_code, 2);
  EXPECT_EQ(tail_of("kafka://broker/topic", {}, "soon").exit_code, 2);
}

TEST(Tail, WhatIsWrongIsSaidInOneLine) {
  fixtures::RabbitmqQueue queue;
  const fixtures::KafkaTopic topic;
  for (const Hopeless& hopeless : hopeless_urls(queue.name(), topic.name())) {
    const Spoken spoken = tail_of(hopeless.url);
    EXPECT_EQ(spoken.exit_code, 5) << hopeless.url << spoken.err;
    EXPECT_NE(spoken.err.find(hopeless.says), std::string::npos) << hopeless.url << spoken.err;
    EXPECT_EQ(lines_in(spoken.err), 1u) << spoken.err;
    EXPECT_EQ(spoken.err.find("declare="), std::string::npos) << "it makes no queue: " << spoken.err;
    EXPECT_EQ(spoken.err.find("hunter2"), std::string::npos) << spoken.err;
  }
}

}  // namespace
}  // namespace onceward::cli
