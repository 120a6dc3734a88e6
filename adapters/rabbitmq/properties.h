// Messages of AMQP 0-9-1, to and from envelopes. docs/reference/sources.md has the table of what becomes what.
#pragma once

#include <amqp.h>

#include <deque>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "onceward/port/source.h"
#include "onceward/wire_format.h"
#include "src/wire/wire.h"

namespace onceward::rabbitmq {

inline constexpr std::string_view cloudevent_prefix = "cloudEvents_";

// A value of a header table as text: numbers in digits, times in RFC 3339, tables and arrays as JSON.
std::string text_of(const amqp_field_value_t& value);

class MessageReader {
 public:
  MessageReader(WireFormat format, const EnvelopeLimits& limits) : format_(format), limits_(limits) {}

  // A delivery without a tag. Its `deliveries` is one more than the broker's x-delivery-count, 0 without one.
  Delivery read(const amqp_basic_properties_t& properties, const Bytes& body);

 private:
  void take_headers(const amqp_table_t& table);
  ReadEnvelope read_native(const amqp_basic_properties_t& properties, const Bytes& body) const;
  // All of it, for a message that was refused.
  Envelope kept_native(const amqp_basic_properties_t& properties, const Bytes& body) const;

  const WireFormat format_;
  const EnvelopeLimits limits_;
  // Of the message that is read.
  std::vector<Header> headers_;
  std::deque<std::string> texts_;
  std::uint32_t deliveries_ = 0;
};

class MessageWriter {
 public:
  explicit MessageWriter(WireFormat format) : format_(format) {}

  // Stands until the next one is written, and no longer than the envelope.
  struct Message {
    const amqp_basic_properties_t* properties = nullptr;
    std::string_view body;
    std::size_t header_bytes = 0;  // about
  };
  // Else why AMQP cannot carry it.
  std::variant<Message, std::string> write(const Envelope& envelope);

 private:
  void set(std::string_view text, amqp_bytes_t amqp_basic_properties_t::* member, amqp_flags_t flag);

  const WireFormat format_;
  Written written_;
  std::vector<amqp_table_entry_t> headers_;
  amqp_basic_properties_t properties_{};
};

}  // namespace onceward::rabbitmq
