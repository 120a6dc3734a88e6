#include <librdkafka/rdkafka.h>

#include <array>
#include <map>

#include "apps/demo/tutorial/tutorial.h"
#include "src/wire/wire.h"

namespace onceward::demo {
namespace {

[[noreturn]] void fail(const std::string& why) {
  throw Fault(FaultCode::source_unavailable, Poisons::connection, "kafka: " + why);
}

struct Place {
  std::int32_t partition = 0;
  std::int64_t offset = 0;
};
using PartitionList = std::unique_ptr<rd_kafka_topic_partition_list_t, void (*)(rd_kafka_topic_partition_list_t*)>;
PartitionList partition_list() { return {rd_kafka_topic_partition_list_new(4), rd_kafka_topic_partition_list_destroy}; }

class KafkaTutorial final : public Source {
 public:
  explicit KafkaTutorial(const KafkaSourceOptions& options) : topic_(options.topic) {
    auto properties = options.connection.properties;
    properties["bootstrap.servers"] = options.connection.brokers;
    properties["group.id"] = options.group;
    properties["auto.offset.reset"] = "earliest";
    properties["enable.auto.commit"] = "false";
    properties["log_level"] = "0";
    rd_kafka_conf_t* const conf = rd_kafka_conf_new();
    std::array<char, 512> why{};
    for (const auto& [name, value] : properties) {
      if (rd_kafka_conf_set(conf, name.c_str(), value.c_str(), why.data(), why.size()) != RD_KAFKA_CONF_OK) {
        fail(why.data());
      }
    }
    client_ = rd_kafka_new(RD_KAFKA_CONSUMER, conf, why.data(), why.size());
    if (client_ == nullptr) fail(why.data());
    rd_kafka_poll_set_consumer(client_);
    const PartitionList wanted = partition_list();
    rd_kafka_topic_partition_list_add(wanted.get(), topic_.c_str(), RD_KAFKA_PARTITION_UA);
    rd_kafka_subscribe(client_, wanted.get());
  }
  ~KafkaTutorial() override {
    rd_kafka_consumer_close(client_);
    rd_kafka_destroy(client_);
  }
  KafkaTutorial(const KafkaTutorial&) = delete;
  KafkaTutorial& operator=(const KafkaTutorial&) = delete;

  // Errors are the client's to get over, as its documentation says.
  void receive(std::vector<Delivery>& into, std::size_t most, std::chrono::milliseconds wait) override {
    int wait_ms = static_cast<int>(wait.count());
    for (std::size_t i = 0; i < most; ++i, wait_ms = 0) {
      const std::unique_ptr<rd_kafka_message_t, decltype(&rd_kafka_message_destroy)> message(
          rd_kafka_consumer_poll(client_, wait_ms), rd_kafka_message_destroy);
      if (!message) return;
      if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) continue;
      const Bytes bytes = Bytes::copy_of({static_cast<const char*>(message->payload), message->len});
      Delivery& delivery = into.emplace_back(delivery_of(read_envelope(bytes), bytes));
      delivery.tag = ++last_tag_;
      places_[delivery.tag] = {message->partition, message->offset};
    }
  }

  void settle(std::span<const Settlement> settlements) override {
    std::map<std::int32_t, std::int64_t> next;
    for (const auto& [tag, how] : settlements) {
      const Place place = places_.at(tag);
      if (how != Settle::redeliver) next[place.partition] = place.offset + 1;
      places_.erase(tag);
    }
    const PartitionList offsets = partition_list();
    for (const auto& [partition, offset] : next) {
      rd_kafka_topic_partition_list_add(offsets.get(), topic_.c_str(), partition)->offset = offset;
    }
    if (!next.empty()) rd_kafka_commit(client_, offsets.get(), 0);  // what is not committed comes again
  }

  void wake() noexcept override {}
  std::optional<std::chrono::milliseconds> ack_timeout() const override { return std::nullopt; }
  SourceCounters counters() const override { return {}; }
  std::string describe() const override { return "kafka, by librdkafka alone"; }

 private:
  const std::string topic_;
  rd_kafka_t* client_ = nullptr;
  std::uint64_t last_tag_ = 0;
  std::map<std::uint64_t, Place> places_;
};

}  // namespace

std::unique_ptr<Source> open_tutorial(const KafkaSourceOptions& options) {
  return std::make_unique<KafkaTutorial>(options);
}

}  // namespace onceward::demo
