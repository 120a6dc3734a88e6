#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "onceward/adapter/embedded.h"
#include "tests/fixtures/broker_urls.h"
#include "tests/fixtures/process.h"
#include "tests/fixtures/spoken.h"

namespace onceward::cli {
namespace {

using namespace fixtures;  // NOLINT: the fixtures are the tests' vocabulary

class Send : public testing::Test {
 protected:
  static std::string message(int number) {
    const nlohmann::json line{{"messageId", "m" + std::to_string(number)},
                              {"producer", "shop"},
                              {"eventType", "counted"},
                              {"payload", {{"n", number}}}};
    return line.dump() + "\n";
  }
  std::string file(const std::string& text) const {
    std::ofstream(folder_.path() + "/messages.ndjson", std::ios::binary) << text;
    return folder_.path() + "/messages.ndjson";
  }
  Spoken send(std::vector<std::string> arguments, const std::string& input = {}) const {
    std::vector<std::string> command{ONCEWARD_BINARY, "send", url_};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return fixtures::speak(command, input);
  }
  std::int64_t queued() const {
    return static_cast<std::int64_t>(EmbeddedSender(read_embedded_url(url_)).depth().ready);
  }

  const fixtures::TemporaryDirectory folder_;
  const std::string url_ = "embedded:" + folder_.path() + "/queue.db";
};

TEST_F(Send, EachLineIsOneMessage) {
  std::string lines;
  for (int i = 0; i < 2500; ++i) lines += message(i);
  const Spoken spoken = send({file(lines + "\n  \n"), "-o", "json"});
  EXPECT_EQ(spoken.exit_code, 0) << spoken.err;
  EXPECT_EQ(nlohmann::json::parse(spoken.out).at(0).at("sent"), 2500);
  EXPECT_EQ(spoken.err, "");
  EXPECT_EQ(queued(), 2500);
}

TEST_F(Send, ReadsStandardInputAndALastLineWithoutAnEnd) {
  const std::string last = message(2);
  const Spoken spoken = send({}, message(1) + last.substr(0, last.size() - 1));
  EXPECT_EQ(spoken.exit_code, 0) << spoken.err;
  EXPECT_EQ(queued(), 2);
}

TEST_F(Send, ABatchWithMistakesIsNotSentAndEachIsShownWithItsLine) {
  const Spoken spoken = send({"-"}, message(1) + "{\"card\":\"s3cret\"\n" + message(2) + "[]\n");
  EXPECT_EQ(spoken.exit_code, 1);
  EXPECT_NE(spoken.err.find("line 2: malformed_json"), std::string::npos) << spoken.err;
  EXPECT_NE(spoken.err.find("line 4: "), std::string::npos) << spoken.err;
  EXPECT_EQ(spoken.err.find("s3cret"), std::string::npos) << spoken.err;
  EXPECT_EQ(queued(), 0);
}

TEST_F(Send, NothingBehindABatchWithMistakesIsSent) {
  std::string lines;
  for (int i = 0; i < 1000; ++i) lines += message(i);
  lines += "nonsense\n";
  for (int i = 1000; i < 3500; ++i) lines += message(i);
  const Spoken spoken = send({"-", "-o", "ndjson"}, lines);
  EXPECT_EQ(spoken.exit_code, 1);
  EXPECT_EQ(nlohmann::json::parse(spoken.out).at("sent"), 1000);
  EXPECT_EQ(queued(), 1000);
}

TEST_F(Send, SkipBadSendsTheRest) {
  const Spoken spoken = send({"-", "--skip-bad", "-o", "ndjson"}, message(1) + "nonsense\n" + message(2));
  EXPECT_EQ(spoken.exit_code, 0) << spoken.err;
  EXPECT_EQ(nlohmann::json::parse(spoken.out).at("sent"), 2);
  EXPECT_EQ(nlohmann::json::parse(spoken.out).at("refused"), 1);
  EXPECT_NE(spoken.err.find("line 2:"), std::string::npos) << spoken.err;
  EXPECT_EQ(queued(), 2);
}

TEST_F(Send, OfManyMistakesTheFirstTwentyAreShown) {
  std::string lines;
  for (int i = 0; i < 30; ++i) lines += "nonsense\n";
  const Spoken spoken = send({}, lines);
  EXPECT_NE(spoken.err.find("line 20:"), std::string::npos) << spoken.err;
  EXPECT_EQ(spoken.err.find("line 21:"), std::string::npos) << spoken.err;
  EXPECT_NE(spoken.err.find("and 10 more"), std::string::npos) << spoken.err;
}

TEST_F(Send, ALineThatIsTooLongIsRefusedAndTheNextOneIsRead) {
  const Spoken spoken =
      send({"-", "--skip-bad", "-o", "ndjson"}, std::string((16u << 20) + 1, 'x') + "\n" + message(2));
  EXPECT_EQ(spoken.exit_code, 0) << spoken.err;
  EXPECT_NE(spoken.err.find("line 1: is longer than 16 MiB"), std::string::npos) << spoken.err;
  EXPECT_EQ(queued(), 1);
}

TEST_F(Send, ADirectoryIsCalledOne) {
  const Spoken spoken = send({folder_.path()});
  EXPECT_EQ(spoken.exit_code, 2);
  EXPECT_NE(spoken.err.find("is a directory"), std::string::npos) << spoken.err;
}

TEST_F(Send, MistakesHaveTheirOwnExitCodes) {
  EXPECT_EQ(send({folder_.path() + "/nothing"}).exit_code, 2);
  EXPECT_EQ(fixtures::speak({ONCEWARD_BINARY, "send"}).exit_code, 2);
  EXPECT_EQ(fixtures::speak({ONCEWARD_BINARY, "send", "amqp1://broker/queue"}).exit_code, 2);
  EXPECT_EQ(fixtures::speak({ONCEWARD_BINARY, "send", "kafka://broker"}).exit_code, 2);
  EXPECT_EQ(fixtures::speak({ONCEWARD_BINARY, "send", "embedded:" + folder_.path() + "/no/such/queue.db"}).exit_code,
            5);
}

// --- to brokers

class SendToBroker : public Send {
 protected:
  static Spoken send_to(const std::string& url, const std::string& input, std::vector<std::string> more = {}) {
    std::vector<std::string> command{ONCEWARD_BINARY, "send", url, "-", "-o", "ndjson"};
    command.insert(command.end(), more.begin(), more.end());
    return fixtures::speak(command, input);
  }
  static void expect_counts(const Spoken& spoken, int sent, int refused, int unconfirmed) {
    const auto row = nlohmann::json::parse(spoken.out);
    EXPECT_EQ(row.at("sent"), sent) << spoken.err;
    EXPECT_EQ(row.at("refused"), refused) << spoken.err;
    EXPECT_EQ(row.at("unconfirmed"), unconfirmed) << spoken.err;
  }
  static std::string messages(int count) {
    std::string lines;
    for (int i = 0; i < count; ++i) lines += message(i);
    return lines;
  }
};

TEST_F(SendToBroker, QueueOfRabbitmqByItsName) {
  fixtures::RabbitmqQueue queue;
  const Spoken spoken = send_to(rabbitmq_url(queue.name()), messages(2500));
  EXPECT_EQ(spoken.exit_code, 0) << spoken.err;
  expect_counts(spoken, 2500, 0, 0);
  EXPECT_EQ(queue.depth(), 2500u);
  const auto first = queue.client().take(queue.name());
  EXPECT_EQ(first->message_id, "m0");
  EXPECT_EQ(first->app_id, "shop");
  EXPECT_EQ(first->body, R"({"n":0})");
}

TEST_F(SendToBroker, ExchangeWithARoutingKey) {
  fixtures::RabbitmqQueue queue;
  const std::string exchange = fixtures::unique_name();
  queue.client().declare_exchange(exchange);
  queue.client().bind(queue.name(), exchange, "paid");
  std::string url = rabbitmq_url("x");
  url.replace(url.find("queue=x"), 7, "exchange=" + exchange + "&routing_key=");
  const Spoken spoken = send_to(url + "paid", messages(3));
  EXPECT_EQ(spoken.exit_code, 0) << spoken.err;
  EXPECT_EQ(queue.depth(), 3u);

  const Spoken lost = send_to(url + "nobody-listens", messages(2));
  EXPECT_EQ(lost.exit_code, 1) << lost.err;
  expect_counts(lost, 0, 2, 0);
  EXPECT_NE(lost.err.find("line 1: "), std::string::npos) << lost.err;
  queue.client().delete_exchange(exchange);

  const Spoken none = send_to(url + "paid", messages(2));
  EXPECT_EQ(none.exit_code, 5) << none.err;
  EXPECT_NE(none.err.find("there is no exchange"), std::string::npos) << none.err;
}

TEST_F(SendToBroker, WhatAFullQueueDoesNotTakeIsCounted) {
  fixtures::RabbitmqQueue queue({.quorum = false, .most_messages = 3});
  const Spoken spoken = send_to(rabbitmq_url(queue.name()), messages(5));
  EXPECT_EQ(spoken.exit_code, 5) << spoken.err;
  expect_counts(spoken, 3, 0, 2);
  EXPECT_NE(spoken.err.find("2 message(s) were not confirmed"), std::string::npos) << spoken.err;
}

TEST_F(SendToBroker, EndsWhenSomethingIsUnconfirmedThoughMoreMayCome) {
  fixtures::RabbitmqQueue queue({.quorum = false, .most_messages = 3});
  std::string lines;  // a batch, and short enough for a pipe that nobody reads yet
  for (int i = 0; i < 1000; ++i)
    lines += R"({"messageId":")" + std::to_string(i) +
             R"(","producer":"shop","payload":{}})"
             "\n";
  const std::string pipe = folder_.path() + "/pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const int both_ends = ::open(pipe.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(::write(both_ends, lines.data(), lines.size()), static_cast<ssize_t>(lines.size()));
  const Spoken spoken = fixtures::speak({"/bin/sh", "-c", R"(exec "$@" <"$0")", pipe, ONCEWARD_BINARY, "send",
                                         rabbitmq_url(queue.name()), "-", "-o", "ndjson"});
  ::close(both_ends);
  EXPECT_EQ(spoken.exit_code, 5) << spoken.err;
  expect_counts(spoken, 3, 0, 997);
  EXPECT_NE(spoken.err.find("the first of them in line 4,"), std::string::npos) << spoken.err;
}

// RabbitMQ closes the channel over it, and does not say over which.
TEST_F(SendToBroker, LineThatTheBrokerRefusesAmongOthersIsNamedAndTheOthersAreSent) {
  fixtures::RabbitmqQueue queue;
  const std::string poison =
      R"({"messageId":"p","producer":"shop","eventType":"counted","headers":{"CC":"somebody"},"payload":{}})";
  const Spoken spoken = send_to(rabbitmq_url(queue.name()), message(1) + poison + "\n" + message(2));
  EXPECT_EQ(spoken.exit_code, 1) << spoken.err;
  expect_counts(spoken, 2, 1, 0);
  EXPECT_NE(spoken.err.find("line 2: "), std::string::npos) << spoken.err;
  EXPECT_GE(queue.depth(), 2u);
}

TEST_F(SendToBroker, TopicThatIsTooSmallForABatchGetsEachMessage) {
  const fixtures::KafkaTopic topic(1, fixtures::kafka_brokers(), 1, {{"max.message.bytes", "20000"}});
  const Spoken spoken = send_to(kafka_url(topic.name()), messages(500));
  EXPECT_EQ(spoken.exit_code, 0) << spoken.err;
  expect_counts(spoken, 500, 0, 0);
  EXPECT_EQ(topic.read().size(), 500u);
}

TEST_F(SendToBroker, TopicOfKafkaKeyedByTheAggregate) {
  const fixtures::KafkaTopic topic(3);
  const std::string with_aggregate =
      R"({"messageId":"a","producer":"shop","aggregateType":"order","aggregateId":"o-7","payload":{}})";
  const std::string with_partition_key =
      R"({"messageId":"b","producer":"shop","aggregateId":"o-7","partitionKey":"eu","payload":{}})";
  const Spoken spoken =
      send_to(kafka_url(topic.name()), with_aggregate + "\n" + with_partition_key + "\n" + messages(1500));
  EXPECT_EQ(spoken.exit_code, 0) << spoken.err;
  expect_counts(spoken, 1502, 0, 0);
  std::set<std::string> keys;
  const auto records = topic.read();
  for (const fixtures::KafkaRecord& record : records) keys.insert(record.key.value_or("none"));
  EXPECT_EQ(records.size(), 1502u);
  EXPECT_EQ(keys, (std::set<std::string>{"eu", "none", "o-7"}));
}

// Whoever receives it by the format that it was sent by can read it, or it is not sent.
TEST_F(SendToBroker, LineThatIsTooLittleForACloudEventIsReadAllTheSame) {
  const std::string line = R"({"messageId":"m0","producer":"shop","payload":{}})";
  fixtures::RabbitmqQueue queue;
  const fixtures::KafkaTopic topic;
  for (const std::string& url : {rabbitmq_url(queue.name()), kafka_url(topic.name()) + "?format=auto"}) {
    EXPECT_EQ(send_to(url, line).exit_code, 0) << url;
    const std::string from = url.substr(0, url.find("?format"));
    const Spoken seen = fixtures::speak({ONCEWARD_BINARY, "tail", from, "-n", "1"});
    const auto envelope = nlohmann::json::parse(seen.out);
    EXPECT_EQ(envelope.count("refused"), 0u) << seen.out;
    EXPECT_EQ(envelope.at("messageId"), "m0") << seen.out;
  }
  const Spoken refused = send_to(kafka_url(topic.name()) + "?format=cloudevents-binary", line);
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_NE(refused.err.find("eventType is missing"), std::string::npos) << refused.err;
}

TEST_F(SendToBroker, PasswordComesFromTheEnvironment) {
  fixtures::RabbitmqQueue queue;
  ::setenv("ONCEWARD_TEST_PASSWORD", "guest", 1);
  const Spoken spoken = send_to(rabbitmq_url(queue.name(), "guest:${ONCEWARD_TEST_PASSWORD}"), messages(1));
  ::unsetenv("ONCEWARD_TEST_PASSWORD");
  EXPECT_EQ(spoken.exit_code, 0) << spoken.err;
}

// With signs in it that mean something in a URL.
TEST_F(SendToBroker, PasswordOfKafkaComesFromTheEnvironment) {
  const fixtures::KafkaTopic topic;
  ::setenv("ONCEWARD_TEST_PASSWORD", "once@ward/1", 1);
  const Spoken spoken = send_to(kafka_with_login(topic.name(), "${ONCEWARD_TEST_PASSWORD}"), messages(1));
  ::unsetenv("ONCEWARD_TEST_PASSWORD");
  EXPECT_EQ(spoken.exit_code, 0) << spoken.err;
  EXPECT_EQ(topic.read().size(), 1u);
}

TEST_F(SendToBroker, WhatIsWrongIsSaidInOneLine) {
  fixtures::RabbitmqQueue queue;
  const fixtures::KafkaTopic topic;
  for (const Hopeless& hopeless : hopeless_urls(queue.name(), topic.name())) {
    const Spoken spoken = send_to(hopeless.url, messages(1));
    EXPECT_EQ(spoken.exit_code, 5) << hopeless.url << spoken.err;
    EXPECT_NE(spoken.err.find(hopeless.says), std::string::npos) << hopeless.url << spoken.err;
    EXPECT_EQ(lines_in(spoken.err), 1u) << spoken.err;
    EXPECT_EQ(spoken.err.find("hunter2"), std::string::npos) << spoken.err;
    EXPECT_EQ(spoken.out, "");
  }
}

}  // namespace
}  // namespace onceward::cli
