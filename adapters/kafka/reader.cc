// Reads a topic as a bystander: no group, no commits. Everything but wake() belongs to one thread.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "adapters/kafka/client.h"
#include "adapters/kafka/options.h"
#include "adapters/kafka/record.h"
#include "src/common/limits.h"
#include "src/common/owner_thread.h"

namespace onceward {
namespace kafka {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr milliseconds reader_deadline = 10s;

Properties reader_properties(const KafkaSourceOptions& options) {
  return {
      {"enable.auto.commit", "false"},
      {"enable.auto.offset.store", "false"},
      {"enable.partition.eof", "false"},
      {"isolation.level", "read_committed"},
      {"auto.offset.reset", options.start == KafkaSourceOptions::Start::earliest ? "earliest" : "latest"},
      {"queued.max.messages.kbytes", std::to_string(options.queued_bytes / 1024)},
  };
}

class KafkaReader final : public Source {
 public:
  KafkaReader(const KafkaSourceOptions& options, Log& log)
      : options_(options),
        client_(RD_KAFKA_CONSUMER, options.connection, reader_properties(options), source_faults, {}, bell_, log) {
    client_.reach(options.topic, reader_deadline, FaultCode::source_refused);
    messages_.reset(rd_kafka_queue_new(client_.get()));
    bell_.listen(messages_.get());
    topic_.reset(rd_kafka_topic_new(client_.get(), options.topic.c_str(), nullptr));
    const bool earliest = options.start == KafkaSourceOptions::Start::earliest;
    for (const std::int32_t partition : client_.partitions(options.topic, reader_deadline)) {
      const std::int64_t from = earliest ? RD_KAFKA_OFFSET_BEGINNING : RD_KAFKA_OFFSET_END;
      if (rd_kafka_consume_start_queue(topic_.get(), partition, from, messages_.get()) != 0) {
        throw client_.refused(rd_kafka_err2str(rd_kafka_last_error()));
      }
      partitions_.push_back(partition);
    }
  }
  ~KafkaReader() override {
    for (const std::int32_t partition : partitions_) rd_kafka_consume_stop(topic_.get(), partition);
  }

  void receive(std::vector<Delivery>& into, std::size_t most, milliseconds wait) override {
    const OwnerThread::Turn turn(owner_);
    const auto end = steady_clock::now() + std::clamp(wait, 0ms, longest_wait);
    for (;;) {
      client_.serve();
      if (client_.fatal()) throw client_.unavailable(*client_.fatal());
      if (client_.down()) client_.reach(options_.topic, 1s, FaultCode::source_unavailable);
      if (most == 0 || take(into, most)) return;
      if (bell_.wait(end) || steady_clock::now() >= end) return;
    }
  }

  void settle(std::span<const Settlement> settlements) override { counters_.settled += settlements.size(); }
  void wake() noexcept override { bell_.wake(); }
  std::optional<milliseconds> ack_timeout() const override { return std::nullopt; }
  SourceCounters counters() const override { return counters_; }
  std::string describe() const override {
    return fmt::format("kafka://{}/{}", options_.connection.brokers, options_.topic);
  }

 private:
  bool take(std::vector<Delivery>& into, std::size_t most) {
    const Reading how{options_.format, options_.id_header, options_.limits};
    const std::size_t before = into.size();
    while (into.size() - before < most) {
      const Message message(rd_kafka_consume_queue(messages_.get(), 0));
      if (!message) break;
      if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
        trouble_ = client_.trouble(message->err, rd_kafka_message_errstr(message.get()));
        break;
      }
      Delivery& delivery = into.emplace_back(read_record(record_of(*message), how));
      delivery.tag = ++counters_.received;
      delivery.redelivered = true;  // who knows
      delivery.partition = message->partition;
    }
    if (into.size() == before && trouble_) throw client_.fault(*std::exchange(trouble_, std::nullopt));
    return into.size() > before;
  }

  const KafkaSourceOptions options_;
  Bell bell_;
  OwnerThread owner_;

  // Of the one thread.
  Client client_;
  Queue messages_;
  Topic topic_;
  std::vector<std::int32_t> partitions_;
  std::optional<Trouble> trouble_;  // that came behind messages
  SourceCounters counters_;
};

}  // namespace
}  // namespace kafka

std::unique_ptr<Source> open_kafka_reader(const KafkaSourceOptions& options, Log& log) {
  kafka::check_reader(options);
  return std::make_unique<kafka::KafkaReader>(options, log);
}

}  // namespace onceward
