// A record of Kafka's to and from an envelope. docs/reference/sources.md says how.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/kafka/handle.h"
#include "onceward/adapter/kafka.h"
#include "src/wire/wire.h"

namespace onceward::kafka {

inline constexpr std::string_view attribute_prefix = "ce_";  // of CloudEvents on Kafka
inline constexpr std::string_view default_id_header = "id";

// Borrowed from the message.
struct Record {
  std::string_view key{};
  std::optional<std::string_view> value{};  // nothing: a tombstone
  std::vector<Header> headers{};
};
Record record_of(const rd_kafka_message_t& message);

struct Reading {
  WireFormat format = WireFormat::automatic;
  std::string_view id_header = default_id_header;
  const EnvelopeLimits& limits;
  std::string_view missing_id{};  // what stands for the id of a native message that has none
};
// Without a tag. Copies what it keeps.
Delivery read_record(const Record& record, const Reading& how);

// What is sent of an envelope; the payload is borrowed from it.
struct WrittenRecord {
  Written written;
  bool tombstone = false;
};
WrittenRecord write_record(const Envelope& envelope, WireFormat format);

}  // namespace onceward::kafka
