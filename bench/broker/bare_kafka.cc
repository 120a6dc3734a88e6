#include <fmt/format.h>
#include <librdkafka/rdkafka.h>

#include <array>
#include <cstdlib>
#include <map>
#include <utility>

#include "bench/broker/bare.h"
#include "onceward/adapter/kafka.h"

namespace onceward::bench {
namespace {

constexpr int partitions = 4;

[[noreturn]] void fail(std::string_view doing) {
  fmt::print(stderr, "bench: {}\n", doing);
  std::abort();
}

using Settings = std::map<std::string, std::string>;

class Client {
 public:
  Client(rd_kafka_type_t type, const Settings& settings) {
    rd_kafka_conf_t* const conf = rd_kafka_conf_new();
    char error[512];
    for (const auto& [name, value] : settings) {
      if (rd_kafka_conf_set(conf, name.c_str(), value.c_str(), error, sizeof error) != RD_KAFKA_CONF_OK) fail(error);
    }
    rd_kafka_conf_set_log_cb(conf, [](const rd_kafka_t*, int, const char*, const char*) {});
    handle_ = rd_kafka_new(type, conf, error, sizeof error);
    if (handle_ == nullptr) fail(error);
  }
  ~Client() { rd_kafka_destroy(handle_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  rd_kafka_t* get() const { return handle_; }

 private:
  rd_kafka_t* handle_;
};

class Consumer final : public BareConsumer {
 public:
  Consumer(const std::string& brokers, const std::string& topic, const Numbers& numbers)
      : client_(RD_KAFKA_CONSUMER, {{"bootstrap.servers", brokers},
                                    {"group.id", "bare-" + topic},
                                    {"auto.offset.reset", "earliest"},
                                    {"enable.auto.commit", "false"},
                                    {"enable.auto.offset.store", "false"},
                                    {"fetch.min.bytes", "1"}}),
        topic_(topic),
        numbers_(numbers) {
    rd_kafka_poll_set_consumer(client_.get());
    rd_kafka_topic_partition_list_t* const wanted = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(wanted, topic.c_str(), RD_KAFKA_PARTITION_UA);
    if (rd_kafka_subscribe(client_.get(), wanted) != RD_KAFKA_RESP_ERR_NO_ERROR) fail("no subscription");
    rd_kafka_topic_partition_list_destroy(wanted);
  }
  ~Consumer() override { rd_kafka_consumer_close(client_.get()); }

  void receive(std::vector<Index>& into, std::size_t most) override {
    int wait_milliseconds = 20;
    for (std::size_t count = 0; count < most; ++count) {
      rd_kafka_message_t* const message = rd_kafka_consumer_poll(client_.get(), wait_milliseconds);
      if (message == nullptr) return;
      if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) fail(rd_kafka_message_errstr(message));
      rd_kafka_headers_t* headers = nullptr;
      const void* id = nullptr;
      std::size_t size = 0;
      if (rd_kafka_message_headers(message, &headers) != RD_KAFKA_RESP_ERR_NO_ERROR ||
          rd_kafka_header_get_last(headers, "id", &id, &size) != RD_KAFKA_RESP_ERR_NO_ERROR) {
        fail("a message without an id");
      }
      into.push_back(numbers_.of({static_cast<const char*>(id), size}));
      received_.push_back({message->partition, message->offset});
      rd_kafka_message_destroy(message);
      wait_milliseconds = 0;
    }
  }

  void acknowledge(std::uint64_t count) override {
    for (; acknowledged_ < count; ++acknowledged_) {
      const auto [partition, offset] = received_[acknowledged_];
      next_[partition] = offset + 1;
    }
    rd_kafka_topic_partition_list_t* const offsets = rd_kafka_topic_partition_list_new(partitions);
    for (const auto& [partition, next] : next_) {
      rd_kafka_topic_partition_list_add(offsets, topic_.c_str(), partition)->offset = next;
    }
    if (rd_kafka_commit(client_.get(), offsets, 1) != RD_KAFKA_RESP_ERR_NO_ERROR) fail("no commit");
    rd_kafka_topic_partition_list_destroy(offsets);
  }

 private:
  Client client_;
  const std::string topic_;
  const Numbers& numbers_;
  std::vector<std::pair<std::int32_t, std::int64_t>> received_;
  std::uint64_t acknowledged_ = 0;
  std::map<std::int32_t, std::int64_t> next_;
};

class Kafka final : public BareBroker {
 public:
  Kafka(const std::string& url, const Workload& work)
      : url_(url),
        brokers_(read_kafka_source_url(url + "/t?group=g").connection.brokers),
        work_(work),
        numbers_(work),
        producer_(RD_KAFKA_PRODUCER, {{"bootstrap.servers", brokers_},
                                      {"enable.idempotence", "true"},
                                      {"queue.buffering.max.messages", "100000"},
                                      {"linger.ms", "1"}}) {}
  ~Kafka() override { remove(); }

  std::string name() const override { return "kafka"; }
  std::vector<std::string> settings() const override {
    return {fmt::format("Kafka, {} partitions, acks=all, one poll a message, a commit of offsets a batch", partitions)};
  }

  void fill(std::span<const Index> deliveries) override {
    remove();
    topic_ = fmt::format("onceward_bench_{}", ++made);
    make();
    for (const Index index : deliveries) publish(index);
    if (rd_kafka_flush(producer_.get(), 120'000) != RD_KAFKA_RESP_ERR_NO_ERROR) fail("not all was published");
  }

  std::unique_ptr<BareConsumer> consume() override { return std::make_unique<Consumer>(brokers_, topic_, numbers_); }
  std::size_t most_consumers() const override { return partitions; }
  std::unique_ptr<Source> open_source(std::unique_ptr<StreamKeeper> keeper) override {
    return open_kafka(read_kafka_source_url(fmt::format("{}/{}?group=onceward", url_, topic_)), silent_log(),
                      std::move(keeper));
  }

  void publish(Index index) override {
    const Message& message = work_.messages[index];
    std::array<rd_kafka_vu_t, 5> parts{};
    parts[0].vtype = RD_KAFKA_VTYPE_TOPIC;
    parts[0].u.cstr = topic_.c_str();
    parts[1].vtype = RD_KAFKA_VTYPE_MSGFLAGS;
    parts[1].u.i = RD_KAFKA_MSG_F_COPY;
    parts[2].vtype = RD_KAFKA_VTYPE_KEY;
    parts[2].u.mem = {const_cast<char*>(message.account_key.data()), message.account_key.size()};
    parts[3].vtype = RD_KAFKA_VTYPE_VALUE;
    parts[3].u.mem = {const_cast<char*>(message.payload.data()), message.payload.size()};
    parts[4].vtype = RD_KAFKA_VTYPE_HEADER;
    parts[4].u.header = {"id", message.id.data(), static_cast<ssize_t>(message.id.size())};
    const auto produce = [&] {
      rd_kafka_error_t* const failed = rd_kafka_produceva(producer_.get(), parts.data(), parts.size());
      const rd_kafka_resp_err_t code = rd_kafka_error_code(failed);
      rd_kafka_error_destroy(failed);
      return code;
    };
    rd_kafka_resp_err_t error = produce();
    while (error == RD_KAFKA_RESP_ERR__QUEUE_FULL) {
      rd_kafka_poll(producer_.get(), 10);
      error = produce();
    }
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) fail(rd_kafka_err2str(error));
    rd_kafka_poll(producer_.get(), 0);
  }

 private:
  void make() {
    char error[512];
    rd_kafka_NewTopic_t* topic = rd_kafka_NewTopic_new(topic_.c_str(), partitions, 1, error, sizeof error);
    rd_kafka_queue_t* const answers = rd_kafka_queue_new(producer_.get());
    rd_kafka_CreateTopics(producer_.get(), &topic, 1, nullptr, answers);
    rd_kafka_event_t* const event = rd_kafka_queue_poll(answers, 30'000);
    if (event == nullptr || rd_kafka_event_error(event) != RD_KAFKA_RESP_ERR_NO_ERROR) fail("no topic");
    rd_kafka_event_destroy(event);
    rd_kafka_queue_destroy(answers);
    rd_kafka_NewTopic_destroy(topic);
  }
  void remove() {
    if (topic_.empty()) return;
    rd_kafka_DeleteTopic_t* topic = rd_kafka_DeleteTopic_new(topic_.c_str());
    rd_kafka_queue_t* const answers = rd_kafka_queue_new(producer_.get());
    rd_kafka_DeleteTopics(producer_.get(), &topic, 1, nullptr, answers);
    if (rd_kafka_event_t* const event = rd_kafka_queue_poll(answers, 30'000)) rd_kafka_event_destroy(event);
    rd_kafka_queue_destroy(answers);
    rd_kafka_DeleteTopic_destroy(topic);
  }

  const std::string url_;
  const std::string brokers_;
  const Workload& work_;
  const Numbers numbers_;
  Client producer_;
  std::string topic_;
  inline static int made = 0;  // topics of all
};

}  // namespace

std::unique_ptr<BareBroker> bare_kafka(const std::string& url, const Workload& work) {
  return std::make_unique<Kafka>(url, work);
}

}  // namespace onceward::bench
