// Other people's clients and ours, through real brokers. A file of tests/golden/brokers begins with the client and its
// version: what it writes is read by us as the one file says, and what we write is read by it as the other says.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "tests/fixtures/kafka.h"
#include "tests/fixtures/process.h"
#include "tests/fixtures/rabbitmq.h"
#include "tests/fixtures/receiving.h"
#include "tests/fixtures/shown.h"

namespace onceward {
namespace {

using namespace fixtures;  // NOLINT: the fixtures are the tests' vocabulary
using namespace std::chrono_literals;

constexpr const char* root = ONCEWARD_SOURCE_DIRECTORY;

std::string content_of(const std::string& file) {
  std::ostringstream text;
  text << std::ifstream(fmt::format("{}/{}", root, file), std::ios::binary).rdbuf();
  return text.str();
}
std::string golden(const std::string& name) { return content_of("tests/golden/brokers/" + name); }

// Kafka's own, of the version that the tests run against.
std::string kafka_jars() {
  const std::string pin = content_of("scripts/setup/kafka.pin");
  const std::string name = "\nKAFKA_VERSION=";
  const std::size_t begin = pin.find(name) + name.size();
  return fmt::format("{}/.deps/kafka/{}/*", root, pin.substr(begin, pin.find('\n', begin) - begin));
}

std::string by_pika(const std::string& action, const RabbitmqQueue& queue, std::size_t count = 0) {
  // Debian's own, for which its pika is installed.
  std::vector<std::string> command{"/usr/bin/python3", fmt::format("{}/tests/brokers/clients/pika_client.py", root),
                                   action, std::to_string(rabbitmq_server().hosts.front().port), queue.name()};
  if (count > 0) command.push_back(std::to_string(count));
  return run_well(command);
}
std::string by_java(const std::string& action, const KafkaTopic& topic, std::size_t count = 0) {
  std::vector<std::string> command{"java",
                                   "-XX:TieredStopAtLevel=1",
                                   "-Dorg.slf4j.simpleLogger.defaultLogLevel=off",
                                   "-cp",
                                   kafka_jars(),
                                   fmt::format("{}/tests/brokers/clients/kafka_client.java", root),
                                   action,
                                   topic.brokers(),
                                   topic.name()};
  if (count > 0) command.push_back(std::to_string(count));
  return run_well(command);
}

// What the client has said (itself, and the names of its messages) with what we have received, as a golden file has it.
std::string read_by_us(Source& source, const std::string& said) {
  std::istringstream lines(said);
  std::string line, text;
  std::getline(lines, text);
  text += '\n';
  while (std::getline(lines, line)) {
    const Delivery delivery = receive_all(source, 1).at(0);
    settle(source, delivery);
    text += fmt::format("--- {}\n", line);
    if (delivery.refusal)
      text += fmt::format("refused: {} {}\n", code(delivery.refusal->reason), delivery.refusal->detail);
    text += shown(delivery.envelope) + '\n';
  }
  return text;
}

struct Written {
  std::string name;
  WireFormat format;
};
const std::vector<Written> every_format{{"native", WireFormat::native},
                                        {"envelope", WireFormat::envelope},
                                        {"structured", WireFormat::structured},
                                        {"binary", WireFormat::binary},
                                        {"automatic", WireFormat::automatic}};

// With everything that other people's conventions have a place for.
Envelope everything(const std::string& id, std::string_view payload = R"({ "amount": 1.50, "name": "ä" })") {
  const Header headers[] = {{"tracestate", "congo=t61rcWkgMzE"}, {"sequence", "17"}, {"X-Other", "grün"}};
  EnvelopeFields fields;
  fields.message_id = MessageId(id);
  fields.producer = Producer("/shop");
  fields.event_type = EventType("order.paid");
  fields.aggregate_id = AggregateId("order-7");
  fields.correlation_id = CorrelationId("c-1");
  fields.causation_id = CausationId("c-0");
  fields.partition_key = "p-7";
  fields.event_version = 2;
  fields.content_type = "application/json";
  fields.data_schema = "https://shop.example/order-paid";
  fields.trace_parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  fields.occurred_at = Timestamp(std::chrono::milliseconds(1'721'035'800'250));
  fields.headers = headers;
  fields.payload = payload;
  return Envelope::copy_of(fields);
}

Envelope tombstone(const std::string& id) {
  const Header headers[] = {{kafka_tombstone_header, "true"}};
  EnvelopeFields fields;
  fields.message_id = MessageId(id);
  fields.producer = Producer("/shop");
  fields.event_type = EventType("order.gone");
  fields.headers = headers;
  return Envelope::copy_of(fields);
}

void publish(Publisher& publisher, Publication publication) {
  const Receipt receipt = publish_all(publisher, {&publication, 1}, generous).at(0);
  ASSERT_EQ(receipt.kind, Receipt::Kind::confirmed) << receipt.why;
}

TEST(ForeignClients, WhatPikaWritesIsReadAsItsConventionsSay) {
  RabbitmqQueue queue;
  const std::string said = by_pika("write", queue);
  RabbitmqSourceOptions options;
  options.connection = rabbitmq_server();
  options.queue = queue.name();
  EXPECT_EQ(read_by_us(*open_rabbitmq(options), said), golden("written_by_pika.txt"));
}

TEST(ForeignClients, PikaReadsWhatWePublish) {
  RabbitmqQueue queue;
  RabbitmqPublisherOptions options;
  options.connection = rabbitmq_server();
  for (const auto& [name, format] : every_format) {
    options.format = format;
    publish(*open_rabbitmq_publisher(options), {.key = queue.name(), .envelope = everything(name)});
  }
  EXPECT_EQ(by_pika("read", queue, every_format.size()), golden("read_by_pika.txt"));
}

TEST(ForeignClients, WhatKafkasClientWritesIsReadAsItsConventionsSay) {
  KafkaTopic topic;
  const std::string said = by_java("write", topic);
  EXPECT_EQ(read_by_us(*open_kafka(topic.source()), said), golden("written_by_kafka_clients.txt"));
}

TEST(ForeignClients, KafkasClientReadsWhatWePublish) {
  KafkaTopic topic;
  KafkaPublisherOptions options = topic.publisher();
  for (const auto& [name, format] : every_format) {
    options.format = format;
    const auto publisher = open_kafka_publisher(options);
    publish(*publisher, {.destination = topic.name(), .key = name, .envelope = everything(name)});
    publish(*publisher, {.destination = topic.name(), .key = name + " tombstone", .envelope = tombstone(name)});
  }
  EXPECT_EQ(by_java("read", topic, every_format.size() * 2), golden("read_by_kafka_clients.txt"));
}

}  // namespace
}  // namespace onceward
