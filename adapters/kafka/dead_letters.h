// Copies of parked records in another topic, each confirmed before its original is committed. Belongs to one thread.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "adapters/kafka/client.h"

namespace onceward::kafka {

class DeadLetters {
 public:
  // Throws as Source::receive().
  DeadLetters(const KafkaSourceOptions& options, const Bell& bell, Log& log);
  ~DeadLetters();

  // Copies the records with their key, value and headers, and where they came from; of each whether that is confirmed.
  // Never throws: what is wrong goes to the log.
  std::vector<bool> copy(const std::vector<const rd_kafka_message_t*>& records, std::chrono::milliseconds wait);

 private:
  bool send(const rd_kafka_message_t& record, std::size_t number);

  const std::string topic_;
  std::vector<bool> confirmed_;  // by number
  std::size_t outstanding_ = 0;
  Client client_;
};

}  // namespace onceward::kafka
