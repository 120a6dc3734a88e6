#include "adapters/kafka/dead_letters.h"

#include <fmt/format.h>

#include "adapters/kafka/produce.h"

namespace onceward::kafka {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::string_view message_deadline_ms = "10000";

}  // namespace

DeadLetters::DeadLetters(const KafkaSourceOptions& options, const Bell& bell, Log& log)
    : topic_(options.dead_letter_topic),
      client_(
          RD_KAFKA_PRODUCER, options.connection,
          {{"enable.idempotence", "true"}, {"acks", "all"}, {"message.timeout.ms", std::string(message_deadline_ms)}},
          source_faults,
          {.report =
               [this](const rd_kafka_message_t& record) {
                 --outstanding_;
                 const auto number = number_of(record);
                 // One that was given up by an earlier call has no place here any more.
                 if (number < confirmed_.size()) confirmed_[number] = record.err == RD_KAFKA_RESP_ERR_NO_ERROR;
                 if (record.err != RD_KAFKA_RESP_ERR_NO_ERROR) {
                   client_.say(LogLevel::warn, fmt::format("no copy in {}: {}", topic_, rd_kafka_err2str(record.err)));
                 }
               }},
          bell, log) {
  client_.reach(topic_, reach_deadline, FaultCode::source_refused);
}

DeadLetters::~DeadLetters() = default;

bool DeadLetters::send(const rd_kafka_message_t& record, std::size_t number) {
  rd_kafka_headers_t* original = nullptr;
  rd_kafka_message_headers(&record, &original);
  Headers headers(original == nullptr ? rd_kafka_headers_new(3) : rd_kafka_headers_copy(original));
  add_header(*headers, "onceward-topic", rd_kafka_topic_name(record.rkt));
  add_header(*headers, "onceward-partition", std::to_string(record.partition));
  add_header(*headers, "onceward-offset", std::to_string(record.offset));
  ProducedRecord made{topic_, std::nullopt, std::nullopt, std::move(headers), number};
  const auto bytes = [](const void* data, std::size_t size) {
    return std::string_view(static_cast<const char*>(data), size);
  };
  if (record.key != nullptr) made.key = bytes(record.key, record.key_len);
  if (record.payload != nullptr) made.value = bytes(record.payload, record.len);
  const auto error = produce(client_.get(), std::move(made));
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) {
    client_.say(LogLevel::warn, fmt::format("no copy in {}: {}", topic_, rd_kafka_err2str(error)));
    return false;
  }
  ++outstanding_;
  return true;
}

std::vector<bool> DeadLetters::copy(const std::vector<const rd_kafka_message_t*>& records, milliseconds wait) {
  const auto end = steady_clock::now() + wait;
  const auto serve_until = [&](auto done) {
    while (!done() && steady_clock::now() < end) rd_kafka_poll(client_.get(), 50);
  };
  serve_until([&] { return outstanding_ == 0; });
  std::vector<bool> none(records.size(), false);
  if (outstanding_ > 0) return none;
  confirmed_ = none;
  for (std::size_t at = 0; at < records.size(); ++at) send(*records[at], at);
  serve_until([&] { return outstanding_ == 0; });
  return outstanding_ == 0 ? confirmed_ : none;
}

}  // namespace onceward::kafka
