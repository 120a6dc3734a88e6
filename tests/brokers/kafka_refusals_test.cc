// What is said when it does not work from the beginning: one line that names the host and what to do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/fixtures/kafka.h"
#include "tests/fixtures/kept_log.h"
#include "tests/fixtures/process.h"

namespace onceward {
namespace {

using namespace fixtures;  // NOLINT: the fixtures are the tests' vocabulary
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

struct Said {
  FaultCode code;
  std::string text;
};
Said said_by_source(const std::string& url, Log& log = silent_log()) {
  try {
    open_kafka(read_kafka_source_url(url), log);
  } catch (const Fault& fault) {
    EXPECT_THAT(fault.what(), Not(HasSubstr("\n")));
    return {fault.fault(), fault.what()};
  }
  throw std::runtime_error("it was opened");
}
Said said_by_publisher(const std::string& url) {
  try {
    open_kafka_publisher(read_kafka_publisher_url(url));
  } catch (const Fault& fault) {
    return {fault.fault(), fault.what()};
  }
  throw std::runtime_error("it was opened");
}

// kafka://user:password@host:port of the listener with TLS and log-in; `password` in place of its own.
std::string sasl_url(const std::string& password = "") {
  std::string url = environment("ONCEWARD_TEST_KAFKA_SASL_SSL");
  if (password.empty()) return url;
  const std::size_t begin = url.find(':', std::string("kafka://").size()) + 1;
  return url.replace(begin, url.rfind('@') - begin, password);
}
std::string tls_brokers() { return sasl_url().substr(sasl_url().rfind('@') + 1); }
std::string ca() { return environment("ONCEWARD_TEST_KAFKA_CA"); }

TEST(KafkaRefusals, NobodyListens) {
  const std::string brokers = "127.0.0.1:" + std::to_string(free_port());
  const Said source = said_by_source("kafka://" + brokers + "/t?group=g");
  EXPECT_EQ(source.code, FaultCode::source_unavailable);
  EXPECT_THAT(source.text, AllOf(HasSubstr("kafka " + brokers), HasSubstr("Connection refused")));
  const Said publisher = said_by_publisher("kafka://" + brokers);
  EXPECT_EQ(publisher.code, FaultCode::publisher_unavailable);
  EXPECT_THAT(publisher.text, AllOf(HasSubstr("kafka " + brokers), HasSubstr("Connection refused")));
}

TEST(KafkaRefusals, HostIsUnknown) {
  const Said source = said_by_source("kafka://no-such-host.invalid:9092/t?group=g");
  EXPECT_EQ(source.code, FaultCode::source_unavailable);
  EXPECT_THAT(source.text, AllOf(HasSubstr("no-such-host.invalid"), HasSubstr("resolve")));
}

TEST(KafkaRefusals, TopicIsMissing) {
  const Said source = said_by_source("kafka://" + kafka_brokers() + "/no-such-topic?group=g");
  EXPECT_EQ(source.code, FaultCode::source_refused);
  EXPECT_THAT(source.text, AllOf(HasSubstr(kafka_brokers()), HasSubstr("there is no topic no-such-topic")));
}

TEST(KafkaRefusals, PasswordIsWrong) {
  KeptLog log;
  const Said source = said_by_source(sasl_url("wr0ng-s3cret") + "/t?group=g&ssl.ca.location=" + ca(), log);
  EXPECT_EQ(source.code, FaultCode::source_refused);
  EXPECT_THAT(source.text, AllOf(HasSubstr("the log-in was refused"), HasSubstr("password"), HasSubstr(tls_brokers())));
  EXPECT_THAT(source.text + log.text(), Not(HasSubstr("wr0ng-s3cret")));
  EXPECT_EQ(said_by_publisher(sasl_url("wr0ng-s3cret") + "?ssl.ca.location=" + ca()).code,
            FaultCode::publisher_refused);
}

TEST(KafkaRefusals, ListenerWantsTls) {
  const Said source = said_by_source("kafka://" + tls_brokers() + "/t?group=g");
  EXPECT_EQ(source.code, FaultCode::source_refused);
  EXPECT_THAT(source.text,
              AllOf(HasSubstr("no TLS connection"), HasSubstr("security.protocol"), HasSubstr(tls_brokers())));
}

TEST(KafkaRefusals, ListenerHasNoTls) {
  const Said source = said_by_source("kafka://" + kafka_brokers() + "/t?group=g&security.protocol=ssl");
  EXPECT_EQ(source.code, FaultCode::source_refused);
  EXPECT_THAT(source.text, AllOf(HasSubstr("no TLS connection"), HasSubstr(kafka_brokers())));
}

TEST(KafkaRefusals, CertificateIsOfNobodyWeKnow) {
  const Said source = said_by_source(sasl_url() + "/t?group=g");
  EXPECT_EQ(source.code, FaultCode::source_refused);
  EXPECT_THAT(source.text, AllOf(HasSubstr("certificate"), HasSubstr("ssl.ca.location")));
}

TEST(KafkaRefusals, GroupSharesItsPartitionsInAnotherWay) {
  KafkaTopic topic;
  const auto source = open_kafka(read_kafka_source_url(topic.url() + "&rebalance=cooperative"));
  const Said other = said_by_source(topic.url() + "&rebalance=eager");
  EXPECT_EQ(other.code, FaultCode::source_refused);
  EXPECT_THAT(other.text, AllOf(HasSubstr("in another way"), HasSubstr("rebalance=")));
}

TEST(KafkaRefusals, NothingIsSaidWhenItWorks) {
  KafkaTopic topic;
  KeptLog log;
  const auto source = open_kafka(
      read_kafka_source_url(sasl_url() + "/" + topic.name() + "?group=" + topic.group() + "&ssl.ca.location=" + ca()),
      log);
  EXPECT_EQ(log.text(), "");
  EXPECT_THAT(source->describe(), AllOf(HasSubstr(topic.name()), Not(HasSubstr("once@ward"))));
}

}  // namespace
}  // namespace onceward
