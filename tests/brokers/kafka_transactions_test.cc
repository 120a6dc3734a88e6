// What a producer takes back is never received, though it stands in the log.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <librdkafka/rdkafka.h>

#include "tests/fixtures/kafka.h"
#include "tests/fixtures/receiving.h"

namespace onceward {
namespace {

using namespace fixtures;  // NOLINT: the fixtures are the tests' vocabulary
using testing::ElementsAre;

class TransactionalProducer {
 public:
  explicit TransactionalProducer(const KafkaTopic& topic) : topic_(topic), producer_(nullptr, rd_kafka_destroy) {
    rd_kafka_conf_t* const conf = rd_kafka_conf_new();
    rd_kafka_conf_set(conf, "bootstrap.servers", topic.brokers().c_str(), nullptr, 0);
    rd_kafka_conf_set(conf, "transactional.id", topic.name().c_str(), nullptr, 0);
    producer_.reset(rd_kafka_new(RD_KAFKA_PRODUCER, conf, nullptr, 0));
    require(rd_kafka_init_transactions(producer_.get(), patience_ms));
  }
  // On return all of them are in the log.
  void send(const std::vector<std::string>& payloads, bool commit) {
    require(rd_kafka_begin_transaction(producer_.get()));
    const std::unique_ptr<rd_kafka_topic_t, decltype(&rd_kafka_topic_destroy)> topic(
        rd_kafka_topic_new(producer_.get(), topic_.name().c_str(), nullptr), rd_kafka_topic_destroy);
    for (std::string payload : payloads) {
      EXPECT_EQ(
          rd_kafka_produce(topic.get(), 0, RD_KAFKA_MSG_F_COPY, payload.data(), payload.size(), nullptr, 0, nullptr),
          0);
    }
    EXPECT_EQ(rd_kafka_flush(producer_.get(), patience_ms), RD_KAFKA_RESP_ERR_NO_ERROR);
    require(commit ? rd_kafka_commit_transaction(producer_.get(), patience_ms)
                   : rd_kafka_abort_transaction(producer_.get(), patience_ms));
  }
  std::int64_t end() const {
    std::int64_t low = 0, high = 0;
    rd_kafka_query_watermark_offsets(producer_.get(), topic_.name().c_str(), 0, &low, &high, patience_ms);
    return high;
  }

 private:
  static constexpr int patience_ms = 30'000;
  static void require(rd_kafka_error_t* error) {
    EXPECT_EQ(error, nullptr) << rd_kafka_error_string(error);
    if (error != nullptr) rd_kafka_error_destroy(error);
  }

  const KafkaTopic& topic_;
  std::unique_ptr<rd_kafka_t, decltype(&rd_kafka_destroy)> producer_;
};

TEST(KafkaTransactions, WhatIsAbortedIsNeverReceived) {
  KafkaTopic topic;
  TransactionalProducer producer(topic);
  producer.send({"kept"}, true);
  producer.send({"taken back", "that too"}, false);
  producer.send({"kept as well"}, true);
  await("all are in the log, and each transaction's end", [&] { return producer.end() == 7; });
  const auto source = open_kafka(topic.source());
  EXPECT_THAT(payloads_of(receive_all(*source, 2)), ElementsAre("kept", "kept as well"));
  const auto reader = open_kafka_reader(topic.source());
  EXPECT_THAT(payloads_of(receive_all(*reader, 2)), ElementsAre("kept", "kept as well"));
}

}  // namespace
}  // namespace onceward
