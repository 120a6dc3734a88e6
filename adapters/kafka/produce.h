#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "adapters/kafka/handle.h"

namespace onceward::kafka {

struct ProducedRecord {
  const std::string& topic;
  std::optional<std::string_view> key;
  std::optional<std::string_view> value;
  Headers headers;
  std::uint64_t number;  // comes back with the report
};
// Copies it into the producer's queue.
rd_kafka_resp_err_t produce(rd_kafka_t* producer, ProducedRecord record);
std::uint64_t number_of(const rd_kafka_message_t& report);

void add_header(rd_kafka_headers_t& headers, std::string_view name, std::string_view value);

}  // namespace onceward::kafka
