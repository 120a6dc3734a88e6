#include <fmt/format.h>
#include <librdkafka/rdkafka.h>

#include <array>
#include <cstdlib>
#include <map>
#include <utility>

#include "bench/broker/bare.h"
#include "bench/broker/confirms.h"
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
  using Report = void (*)(rd_kafka_t*, const rd_kafka_message_t*, void* self);
  Client(rd_kafka_type_t type, const Settings& settings, Report report = nullptr, void* self = nullptr) {
    rd_kafka_conf_t* const conf = rd_kafka_conf_new();
    rd_kafka_conf_set_opaque(conf, self);
    if (report != nullptr) rd_kafka_conf_set_dr_msg_cb(conf, report);
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
      : BareConsumer(numbers),
        client_(RD_KAFKA_CONSUMER, {{"bootstrap.servers", brokers},
                                    {"group.id", "bare-" + topic},
                                    {"auto.offset.reset", "earliest"},
                                    {"enable.auto.commit", "false"},
                                    {"enable.auto.offset.store", "false"},
                                    {"fetch.min.bytes", "1"},
                                    {"queued.min.messages", "1000000"}}),
        topic_(topic) {
    rd_kafka_poll_set_consumer(client_.get());
    rd_kafka_topic_partition_list_t* const wanted = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(wanted, topic.c_str(), RD_KAFKA_PARTITION_UA);
    if (rd_kafka_subscribe(client_.get(), wanted) != RD_KAFKA_RESP_ERR_NO_ERROR) fail("no subscription");
    rd_kafka_topic_partition_list_destroy(wanted);
  }
  ~Consumer() override { rd_kafka_consumer_close(client_.get()); }

  using BareConsumer::receive;
  void receive(const Take& take, std::size_t most) override {
    int wait_milliseconds = 20;
    for (std::size_t count = 0; count < most; ++count) {
      rd_kafka_message_t* const message = rd_kafka_consumer_poll(client_.get(), wait_milliseconds);
      if (message == nullptr) return;
      if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) fail(rd_kafka_message_errstr(message));
      take(message_of(*message));
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
  // The id is that of a CloudEvent, or the header of those that are none.
  BareMessage message_of(const rd_kafka_message_t& from) {
    BareMessage message{.key = {static_cast<const char*>(from.key), from.key_len},
                        .body = {static_cast<const char*>(from.payload), from.len}};
    headers_.clear();
    rd_kafka_headers_t* headers = nullptr;
    if (rd_kafka_message_headers(&from, &headers) != RD_KAFKA_RESP_ERR_NO_ERROR) fail("a message without headers");
    const char* name = nullptr;
    const void* value = nullptr;
    std::size_t size = 0;
    for (std::size_t i = 0; rd_kafka_header_get_all(headers, i, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR;
         ++i) {
      headers_.push_back({name, {static_cast<const char*>(value), size}});
      if (headers_.back().name == "id" || headers_.back().name == "ce_id") message.id = headers_.back().value;
    }
    message.headers = headers_;
    return message;
  }

  Client client_;
  const std::string topic_;
  std::vector<BareHeader> headers_;
  std::vector<std::pair<std::int32_t, std::int64_t>> received_;
  std::uint64_t acknowledged_ = 0;
  std::map<std::int32_t, std::int64_t> next_;
};

class Publisher final : public BarePublisher {
 public:
  Publisher(const std::string& brokers, std::string topic, std::size_t window)
      : confirms_(window),
        topic_(std::move(topic)),
        client_(
            RD_KAFKA_PRODUCER,
            {{"bootstrap.servers", brokers},
             {"enable.idempotence", "true"},
             {"queue.buffering.max.messages", std::to_string(window)},
             {"partitioner", "murmur2_random"},
             {"linger.ms", "1"}},
            [](rd_kafka_t*, const rd_kafka_message_t* message, void* self) {
              if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) fail(rd_kafka_err2str(message->err));
              static_cast<Publisher*>(self)->confirms_.confirm(reinterpret_cast<std::uintptr_t>(message->_private));
            },
            this) {}

  void publish(const BareMessage& message) override {
    while (confirms_.room() == 0) rd_kafka_poll(client_.get(), 100);
    std::array<rd_kafka_vu_t, 6> parts{};
    parts[0].vtype = RD_KAFKA_VTYPE_TOPIC;
    parts[0].u.cstr = topic_.c_str();
    parts[1].vtype = RD_KAFKA_VTYPE_MSGFLAGS;
    parts[1].u.i = RD_KAFKA_MSG_F_COPY;
    parts[2].vtype = RD_KAFKA_VTYPE_KEY;
    parts[2].u.mem = {const_cast<char*>(message.key.data()), message.key.size()};
    parts[3].vtype = RD_KAFKA_VTYPE_VALUE;
    parts[3].u.mem = {const_cast<char*>(message.body.data()), message.body.size()};
    parts[4].vtype = RD_KAFKA_VTYPE_HEADERS;
    parts[4].u.headers = headers_of(message);
    parts[5].vtype = RD_KAFKA_VTYPE_OPAQUE;
    parts[5].u.ptr = reinterpret_cast<void*>(static_cast<std::uintptr_t>(confirms_.add()));
    rd_kafka_error_t* const failed = rd_kafka_produceva(client_.get(), parts.data(), parts.size());
    if (failed != nullptr) fail(rd_kafka_error_string(failed));
    if (++since_read_ == between_reads) confirmed();
  }

  std::uint64_t confirmed() override {
    since_read_ = 0;
    rd_kafka_poll(client_.get(), 0);
    return confirms_.prefix();
  }

  // Not by rd_kafka_flush(), which would not let messages linger.
  void await_confirms() override {
    while (!confirms_.all()) rd_kafka_poll(client_.get(), 100);
  }

 private:
  static constexpr std::size_t between_reads = 128;

  static rd_kafka_headers_t* headers_of(const BareMessage& message) {
    rd_kafka_headers_t* const headers = rd_kafka_headers_new(message.headers.size());
    for (const BareHeader& header : message.headers) {
      rd_kafka_header_add(headers, header.name.data(), static_cast<ssize_t>(header.name.size()), header.value.data(),
                          static_cast<ssize_t>(header.value.size()));
    }
    return headers;
  }

  Confirms confirms_;
  const std::string topic_;
  Client client_;
  std::size_t since_read_ = 0;
};

class Kafka final : public BareBroker {
 public:
  Kafka(const std::string& url, const Workload& work)
      : BareBroker(work),
        url_(url),
        brokers_(read_kafka_source_url(url + "/t?group=g").connection.brokers),
        client_(RD_KAFKA_PRODUCER, {{"bootstrap.servers", brokers_}}) {}
  ~Kafka() override { remove(); }

  std::string name() const override { return "kafka"; }
  std::vector<std::string> settings() const override {
    return {
        fmt::format("Kafka, {} partitions, acks=all, one poll a message, a commit of offsets a batch; published with "
                    "{} or fewer unconfirmed",
                    partitions, window())};
  }

  void make() override {
    remove();
    topic_ = fmt::format("onceward_bench_{}", ++made);
    create();
  }
  std::unique_ptr<BarePublisher> open_publisher() override {
    return std::make_unique<Publisher>(brokers_, topic_, window());
  }
  std::unique_ptr<BareConsumer> consume() override { return std::make_unique<Consumer>(brokers_, topic_, numbers()); }
  std::unique_ptr<Source> open_source(std::unique_ptr<StreamKeeper> keeper) override {
    return open_kafka(read_kafka_source_url(fmt::format("{}/{}?group=onceward", url_, topic_)), silent_log(),
                      std::move(keeper));
  }
  std::string target_url() const override { return fmt::format("{}/{}", url_, topic_); }
  std::string_view attribute_prefix() const override { return "ce_"; }
  bool has_properties() const override { return false; }

 private:
  static std::size_t window() { return KafkaPublisherOptions().window; }

  void create() {
    char error[512];
    rd_kafka_NewTopic_t* topic = rd_kafka_NewTopic_new(topic_.c_str(), partitions, 1, error, sizeof error);
    rd_kafka_queue_t* const answers = rd_kafka_queue_new(client_.get());
    rd_kafka_CreateTopics(client_.get(), &topic, 1, nullptr, answers);
    rd_kafka_event_t* const event = rd_kafka_queue_poll(answers, 30'000);
    if (event == nullptr || rd_kafka_event_error(event) != RD_KAFKA_RESP_ERR_NO_ERROR) fail("no topic");
    rd_kafka_event_destroy(event);
    rd_kafka_queue_destroy(answers);
    rd_kafka_NewTopic_destroy(topic);
  }
  void remove() {
    if (topic_.empty()) return;
    rd_kafka_DeleteTopic_t* topic = rd_kafka_DeleteTopic_new(topic_.c_str());
    rd_kafka_queue_t* const answers = rd_kafka_queue_new(client_.get());
    rd_kafka_DeleteTopics(client_.get(), &topic, 1, nullptr, answers);
    if (rd_kafka_event_t* const event = rd_kafka_queue_poll(answers, 30'000)) rd_kafka_event_destroy(event);
    rd_kafka_queue_destroy(answers);
    rd_kafka_DeleteTopic_destroy(topic);
  }

  const std::string url_;
  const std::string brokers_;
  Client client_;
  std::string topic_;
  inline static int made = 0;  // topics of all
};

}  // namespace

std::unique_ptr<BareBroker> bare_kafka(const std::string& url, const Workload& work) {
  return std::make_unique<Kafka>(url, work);
}

}  // namespace onceward::bench
