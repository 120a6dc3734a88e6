#include "adapters/kafka/publisher.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "adapters/kafka/options.h"
#include "adapters/kafka/produce.h"
#include "adapters/kafka/record.h"
#include "adapters/kafka/reports.h"
#include "src/common/limits.h"

namespace onceward {
namespace kafka {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using namespace std::chrono_literals;

Properties properties_of(const KafkaPublisherOptions& options) {
  Properties properties{
      {"enable.idempotence", "true"},
      {"acks", "all"},
      {"message.timeout.ms", std::to_string(options.confirm_deadline.count())},
      {"queue.buffering.max.messages", std::to_string(options.window)},
  };
  const auto unless_said = [&](const char* name, const char* value) {
    if (!options.connection.properties.contains(name)) properties.emplace_back(name, value);
  };
  unless_said("linger.ms", "1");                             // whole batches come at once
  unless_said("partitioner", "murmur2_random");              // a key goes where the Java client sends it
  unless_said("topic.metadata.propagation.max.ms", "3000");  // so long a topic may be unknown before it is missing
  return properties;
}

}  // namespace

KafkaPublisher::KafkaPublisher(const KafkaPublisherOptions& options, Log& log) : options_(options), log_(log) {
  check(options_);
  connect();
}
KafkaPublisher::~KafkaPublisher() {
  if (client_) rd_kafka_purge(client_->get(), RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
}

std::size_t KafkaPublisher::room() const {
  const std::size_t most = one_by_one_ > 0 ? 1 : options_.window;
  return most - std::min(most, outstanding());
}

void KafkaPublisher::publish(std::span<const Publication> publications) {
  const OwnerThread::Turn turn(owner_);
  serve();
  if (!client_) {
    connect();
    ++counters_.reconnects;
    if (const std::string why = std::exchange(denied_, {}); !why.empty()) throw client_->refused(why);
  } else if (client_->down()) {
    client_->reach("", again_deadline, FaultCode::publisher_unavailable);
    ++counters_.reconnects;
  }
  for (const Publication& publication : publications) send(publication);
  counters_.published += publications.size();
}

void KafkaPublisher::collect(std::vector<Receipt>& into, milliseconds wait) {
  const OwnerThread::Turn turn(owner_);
  const auto end = steady_clock::now() + std::clamp(wait, 0ms, longest_wait);
  for (;;) {
    serve();
    if (!receipts_.empty() || outstanding() == 0) break;
    if (bell_.wait(end) || steady_clock::now() >= end) break;
  }
  if (receipts_.empty()) serve();
  for (Receipt& receipt : receipts_) into.push_back(std::move(receipt));
  receipts_.clear();
}

std::string KafkaPublisher::describe() const { return fmt::format("kafka://{}", options_.connection.brokers); }

void KafkaPublisher::connect() {
  auto client = std::make_unique<Client>(
      RD_KAFKA_PRODUCER, options_.connection, properties_of(options_), publisher_faults,
      ClientCallbacks{.report = [this](const rd_kafka_message_t& message) { report(message); }}, bell_, log_);
  client->reach("", reach_deadline, FaultCode::publisher_unavailable);
  client_ = std::move(client);
}

// Who asks as a producer may make the topic.
void KafkaPublisher::require_topic(const std::string& topic) {
  Client(RD_KAFKA_CONSUMER, options_.connection, {}, publisher_faults, {}, bell_, silent_log())
      .reach(topic, reach_deadline, FaultCode::publisher_refused);
}

// Calls report() for what was answered. An instance that has ended for good leaves everything in doubt.
void KafkaPublisher::serve() {
  if (!client_) return;
  client_->serve();
  if (!client_->fatal()) return;
  const std::string why = *client_->fatal();
  if (rd_kafka_fatal_error(client_->get(), nullptr, 0) == RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED) {
    denied_ = why + "; grant the user IdempotentWrite on the cluster, or Write on its topics";
  }
  client_->say(LogLevel::warn, fmt::format("the producer ended, and is made anew: {}", why));
  while (!sent_.empty()) receive({sent_.release_oldest(), Receipt::Kind::in_doubt, why});
  client_.reset();
}

void KafkaPublisher::send(const Publication& publication) {
  const auto refuse = [&](std::string why) { receive({publication.tag, Receipt::Kind::refused, std::move(why)}); };
  if (publication.destination.empty()) return refuse("no topic is named");
  const WrittenRecord record = write_record(publication.envelope, options_.format);
  if (!record.written.wrong.empty()) return refuse(record.written.wrong);
  Headers headers(rd_kafka_headers_new(record.written.headers.size()));
  for (const BinaryAttribute& header : record.written.headers) add_header(*headers, header.name, header.value);
  const std::string topic(publication.destination);
  const std::uint64_t number = sent_.add(publication.tag);
  ProducedRecord made{topic, std::nullopt, std::nullopt, std::move(headers), number};
  if (!publication.key.empty()) made.key = publication.key;
  if (!record.tombstone) made.value = record.written.body();
  const auto error = produce(client_->get(), std::move(made));
  if (error == RD_KAFKA_RESP_ERR_NO_ERROR) {
    alone_ = sent_.size() == 1 ? number : 0;
    return;
  }
  sent_.release(number);
  receive({publication.tag, kind_of(error, RD_KAFKA_MSG_STATUS_NOT_PERSISTED, true), rd_kafka_err2str(error)});
}

void KafkaPublisher::report(const rd_kafka_message_t& message) {
  const std::uint64_t number = number_of(message);
  const auto tag = sent_.release(number);
  if (!tag) return;
  const bool alone = number == alone_;
  Receipt receipt{*tag, kind_of(message.err, rd_kafka_message_status(&message), alone), {}};
  if (alone && one_by_one_ > 0) --one_by_one_;
  if (!alone && is_of_the_batch(message.err)) one_by_one_ = std::min(one_by_one_ + 1, options_.window);
  // Not rd_kafka_message_errstr(): of a report it gives the payload.
  if (receipt.kind != Receipt::Kind::confirmed) receipt.why = rd_kafka_err2str(message.err);
  receive(std::move(receipt));
}

void KafkaPublisher::receive(Receipt receipt) {
  switch (receipt.kind) {
    case Receipt::Kind::confirmed:
      ++counters_.confirmed;
      break;
    case Receipt::Kind::refused:
      ++counters_.refused;
      break;
    case Receipt::Kind::put_off:
      ++counters_.put_off;
      break;
    case Receipt::Kind::in_doubt:
      ++counters_.in_doubt;
      break;
  }
  receipts_.push_back(std::move(receipt));
}

}  // namespace kafka

std::unique_ptr<Publisher> open_kafka_publisher(const KafkaPublisherOptions& options, Log& log) {
  return std::make_unique<kafka::KafkaPublisher>(options, log);
}

std::unique_ptr<Publisher> open_kafka_target(const KafkaTarget& target, Log& log) {
  kafka::check(target);
  auto publisher = std::make_unique<kafka::KafkaPublisher>(target.options, log);
  publisher->require_topic(target.topic);
  return publisher;
}

}  // namespace onceward
