#include "adapters/kafka/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace onceward {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;
using testing::UnorderedElementsAre;

// What is said about a URL that is refused.
template <class Read>
std::string refusal(Read read, FaultCode code, const std::string& url) {
  try {
    read(url);
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.fault(), code);
    return fault.what();
  }
  return "accepted";
}
std::string source_refusal(const std::string& url) {
  return refusal(read_kafka_source_url, FaultCode::source_refused, url);
}
std::string publisher_refusal(const std::string& url) {
  return refusal(read_kafka_publisher_url, FaultCode::publisher_refused, url);
}

TEST(KafkaUrl, TopicAndGroupAloneHaveTheDefaults) {
  const KafkaSourceOptions options = read_kafka_source_url("kafka://broker/orders?group=billing");
  EXPECT_EQ(options.connection.brokers, "broker:9092");
  EXPECT_TRUE(options.connection.properties.empty());
  EXPECT_EQ(options.topic, "orders");
  EXPECT_EQ(options.group, "billing");
  EXPECT_EQ(options.start, KafkaSourceOptions::Start::earliest);
  EXPECT_EQ(options.out_of_range, KafkaSourceOptions::OutOfRange::refuse);
  EXPECT_FALSE(options.cooperative);
  EXPECT_EQ(options.revoke_deadline, 10s);
  EXPECT_EQ(options.id_header, "id");
  EXPECT_EQ(options.format, WireFormat::automatic);
}

TEST(KafkaUrl, EveryOptionIsRead) {
  const KafkaSourceOptions options = read_kafka_source_url(
      "kafka://one:1,[::1]:2,three/orders.eu?group=a%20b&start=latest&out_of_range=earliest&rebalance=cooperative&format=native"
      "&revoke_deadline=3s&id_header=x-id&queued_bytes=1000000&ssl.ca.location=/ca.pem");
  EXPECT_EQ(options.connection.brokers, "one:1,[::1]:2,three:9092");
  EXPECT_THAT(options.connection.properties, UnorderedElementsAre(Pair("ssl.ca.location", "/ca.pem")));
  EXPECT_EQ(options.topic, "orders.eu");
  EXPECT_EQ(options.group, "a b");
  EXPECT_EQ(options.start, KafkaSourceOptions::Start::latest);
  EXPECT_EQ(options.out_of_range, KafkaSourceOptions::OutOfRange::earliest);
  EXPECT_TRUE(options.cooperative);
  EXPECT_EQ(options.revoke_deadline, 3s);
  EXPECT_EQ(options.id_header, "x-id");
  EXPECT_EQ(options.queued_bytes, 1'000'000u);
  EXPECT_EQ(options.format, WireFormat::native);

  const KafkaPublisherOptions publisher =
      read_kafka_publisher_url("kafka://one:1?window=7&confirm_deadline=5s&format=envelope&compression.type=lz4");
  EXPECT_EQ(publisher.connection.brokers, "one:1");
  EXPECT_THAT(publisher.connection.properties, UnorderedElementsAre(Pair("compression.type", "lz4")));
  EXPECT_EQ(publisher.window, 7u);
  EXPECT_EQ(publisher.confirm_deadline, 5s);
  EXPECT_EQ(publisher.format, WireFormat::envelope);
}

TEST(KafkaUrl, TargetNamesItsTopic) {
  const KafkaTarget target = read_kafka_target_url("kafka://one:1/orders?window=7&compression.type=lz4");
  EXPECT_EQ(target.topic, "orders");
  EXPECT_EQ(target.options.window, 7u);
  EXPECT_EQ(target.options.connection.brokers, "one:1");
  for (const char* const url : {"kafka://b", "kafka://b/a/b", "kafka://b/a%20b", "kafka://b/t?group=g"}) {
    EXPECT_NE(refusal(read_kafka_target_url, FaultCode::publisher_refused, url), "accepted") << url;
  }
}

TEST(KafkaUrl, ReaderNeedsNoGroup) {
  EXPECT_EQ(read_kafka_reader_url("kafka://b/t?start=latest").start, KafkaSourceOptions::Start::latest);
  EXPECT_NE(refusal(read_kafka_reader_url, FaultCode::source_refused, "kafka://b/a%20b"), "accepted");
}

TEST(KafkaUrl, LogInGoesOverTlsUnlessItSaysOtherwise) {
  EXPECT_THAT(read_kafka_source_url("kafka://us%40er:pa%2Fss@b/t?group=g").connection.properties,
              UnorderedElementsAre(Pair("sasl.username", "us@er"), Pair("sasl.password", "pa/ss"),
                                   Pair("security.protocol", "sasl_ssl"), Pair("sasl.mechanism", "PLAIN")));
  const auto other =
      read_kafka_publisher_url("kafka://user:pass@b?security.protocol=sasl_plaintext&sasl.mechanisms=SCRAM-SHA-512")
          .connection.properties;
  EXPECT_THAT(other, testing::Contains(Pair("security.protocol", "sasl_plaintext")));
  EXPECT_FALSE(other.contains("sasl.mechanism"));
}

TEST(KafkaUrl, WhatWouldBreakThePromiseIsRefusedWithTheReason) {
  for (const char* const option : {"enable.auto.commit=true", "enable.auto.commit=false",
                                   "enable.auto.offset.store=true", "auto.commit.interval.ms=10"}) {
    EXPECT_THAT(source_refusal("kafka://b/t?group=g&" + std::string(option)), HasSubstr("only after the effect is"))
        << option;
  }
  EXPECT_THAT(source_refusal("kafka://b/t?group=g&auto.offset.reset=latest"),
              AllOf(HasSubstr("start=earliest"), HasSubstr("out_of_range=")));
  EXPECT_THAT(source_refusal("kafka://b/t?group=g&isolation.level=read_uncommitted"), HasSubstr("must have no effect"));
  EXPECT_THAT(source_refusal("kafka://b/t?group.id=g"), HasSubstr("group=name"));
  EXPECT_THAT(source_refusal("kafka://b/t?group=g&bootstrap.servers=x"), HasSubstr("stand in the URL"));
  EXPECT_THAT(source_refusal("kafka://b/t?group=g&partition.assignment.strategy=range"), HasSubstr("rebalance="));
  EXPECT_THAT(source_refusal("kafka://b/t?group=g&plugin.library.paths=x.so"), HasSubstr("loads no code"));
  for (const char* const option : {"acks=1", "request.required.acks=1"}) {
    EXPECT_THAT(publisher_refusal("kafka://b?" + std::string(option)), HasSubstr("stays all")) << option;
  }
  EXPECT_THAT(publisher_refusal("kafka://b?enable.idempotence=false"), HasSubstr("stays on"));
  EXPECT_THAT(publisher_refusal("kafka://b?message.timeout.ms=1"), HasSubstr("confirm_deadline"));
}

TEST(KafkaUrl, PropertiesAreThoseOfTheLibrary) {
  EXPECT_THAT(source_refusal("kafka://b/t?group=g&no.such=1"), HasSubstr("no property \"no.such\""));
  EXPECT_THAT(source_refusal("kafka://b/t?group=g&security.protocol=tls"), HasSubstr("security.protocol"));
  EXPECT_THAT(source_refusal("kafka://b/t?group=g&socket.timeout.ms"), HasSubstr("socket.timeout.ms=value"));
  EXPECT_THAT(source_refusal("kafka://b/t?group=g&client.id=a&client.id=b"), HasSubstr("twice"));
}

TEST(KafkaUrl, GroupMustHaveMorePatienceThanAPartitionThatIsTakenAway) {
  EXPECT_THAT(source_refusal("kafka://b/t?group=g&max.poll.interval.ms=60000&revoke_deadline=60s"),
              AllOf(HasSubstr("revoke_deadline is 60000 ms"), HasSubstr("max.poll.interval.ms")));
  EXPECT_EQ(read_kafka_source_url("kafka://b/t?group=g&max.poll.interval.ms=60000&revoke_deadline=59s").revoke_deadline,
            std::chrono::seconds(59));
}

TEST(KafkaUrl, OtherUrlsAreRefused) {
  for (const char* const url : {"", "kafka:b/t?group=g", "rabbitmq://b/t?group=g", "b/t?group=g"}) {
    EXPECT_THAT(source_refusal(url), HasSubstr("kafka://host:9092/topic?group=name")) << url;
  }
  for (const char* const url : {"kafka://b?group=g", "kafka://b/?group=g", "kafka://b/t/u?group=g"}) {
    EXPECT_THAT(source_refusal(url), HasSubstr("one topic")) << url;
  }
  EXPECT_THAT(source_refusal("kafka://b/t"), HasSubstr("group=name"));
  EXPECT_THAT(source_refusal("kafka://b/a%20b?group=g"), HasSubstr("no name of a topic"));
  EXPECT_THAT(source_refusal("kafka://b/" + std::string(250, 'a') + "?group=g"), HasSubstr("249"));
  EXPECT_THAT(publisher_refusal("kafka://b/t"), HasSubstr("destination"));
  EXPECT_THAT(publisher_refusal("kafka://b?group=g"), HasSubstr("unknown"));
}

TEST(KafkaUrl, ValuesHaveTheirLimits) {
  EXPECT_THAT(source_refusal("kafka://b/t?group=g&revoke_deadline=5m"), HasSubstr("revoke_deadline"));
  EXPECT_THAT(source_refusal("kafka://b/t?group=g&queued_bytes=1"), HasSubstr("queued_bytes"));
  EXPECT_THAT(source_refusal("kafka://b/t?group=g&start=now"), HasSubstr("earliest, latest"));
  EXPECT_THAT(source_refusal("kafka://b/t?group=g&format=xml"), HasSubstr("native"));
  EXPECT_THAT(source_refusal("kafka://b/t?group=g&id_header="), HasSubstr("id_header"));
  EXPECT_THAT(publisher_refusal("kafka://b?window=0"), HasSubstr("window"));
  EXPECT_THAT(publisher_refusal("kafka://b?confirm_deadline=999ms"), HasSubstr("confirm_deadline"));
}

TEST(KafkaUrl, WhatTheLibrarySaysIsOneLine) {
  try {
    read_kafka_source_url("kafka://h/t?group=g&security.protocol=a%0Ab");
    FAIL();
  } catch (const Fault& fault) {
    EXPECT_THAT(fault.what(), AllOf(HasSubstr("security.protocol"), Not(HasSubstr("\n"))));
  }
}

TEST(KafkaUrl, NoMessageRepeatsASecret) {
  EXPECT_THAT(source_refusal("kafka://user:s3cret@b/t?group=g&sasl.password=s3cret&color=red"),
              Not(HasSubstr("s3cret")));
  EXPECT_THAT(source_refusal("kafka://b/t?group=g&ssl.key.pem=s3cret&ssl.keystore.password=s3cret"),
              Not(HasSubstr("s3cret")));
  EXPECT_TRUE(kafka::is_secret("sasl.password"));
  EXPECT_TRUE(kafka::is_secret("sasl.oauthbearer.client.secret"));
  EXPECT_FALSE(kafka::is_secret("sasl.username"));
}

TEST(KafkaOptions, WhatIsMadeInCodeHasTheSameLimits) {
  EXPECT_THROW(open_kafka({}), Fault);
  EXPECT_THROW(open_kafka({.connection = {"b:1", {{"enable.auto.commit", "true"}}}, .topic = "t", .group = "g"}),
               Fault);
  EXPECT_THROW(open_kafka_publisher({.connection = {"b:1", {{"acks", "1"}}}}), Fault);
  EXPECT_THROW(open_kafka_publisher({.connection = {"b:1"}, .window = 0}), Fault);
}

}  // namespace
}  // namespace onceward
