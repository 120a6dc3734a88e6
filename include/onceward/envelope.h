// A message as Onceward sees it: its identities kept apart, its payload untouched.
//
// An Envelope is a value. Copies share the bytes they were read from (their owners are the delivery that brought
// them and every copy of the envelope), so copying never copies the payload.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "onceward/identity.h"
#include "onceward/refusal.h"

namespace onceward {

enum class Mode : std::uint8_t { live, replay, backfill, rebuild, forensic, repair };

std::string_view name(Mode mode);
std::optional<Mode> mode_named(std::string_view name);

struct Header {
  std::string_view name;
  std::string_view value;
  friend bool operator==(const Header&, const Header&) = default;
};

// Everything an envelope says. What a message does not carry is empty.
struct EnvelopeFields {
  Tenant tenant;
  Producer producer;
  std::string_view source;  // the system a fact came from, where it is not the producer; never a queue or topic
  MessageId message_id;
  EventId event_id;
  CommandId command_id;
  EventType event_type;
  std::optional<std::int64_t> event_version;
  std::optional<std::int64_t> schema_version;
  std::string_view data_schema;  // CloudEvents dataschema
  std::string_view content_type;
  AggregateType aggregate_type;
  AggregateId aggregate_id;
  std::optional<std::int64_t> aggregate_version;
  CorrelationId correlation_id;
  CausationId causation_id;
  IdempotencyKey idempotency_key;
  BusinessKey business_key;
  std::string_view partition_key;
  std::string_view trace_parent;
  std::optional<Timestamp> occurred_at;
  Mode mode = Mode::live;
  std::span<const Header> headers;
  std::string_view payload;  // bytes; text only where the content type says so
  // Why it could not be read. Then the payload is the whole body, what else was found is for people, and no policy gives
  // it an identity.
  std::optional<Reason> unread;
};

class Envelope {
 public:
  Envelope() = default;
  // Every view in `fields` must point into what `storage` keeps alive.
  Envelope(const EnvelopeFields& fields, std::shared_ptr<const void> storage)
      : fields_(fields), storage_(std::move(storage)) {}
  // Copies every field, payload and headers included, into storage of its own.
  static Envelope copy_of(const EnvelopeFields& fields);

  const EnvelopeFields& fields() const { return fields_; }
  Tenant tenant() const { return fields_.tenant; }
  Producer producer() const { return fields_.producer; }
  MessageId message_id() const { return fields_.message_id; }
  EventId event_id() const { return fields_.event_id; }
  CommandId command_id() const { return fields_.command_id; }
  EventType event_type() const { return fields_.event_type; }
  std::optional<std::int64_t> event_version() const { return fields_.event_version; }
  std::optional<std::int64_t> schema_version() const { return fields_.schema_version; }
  AggregateType aggregate_type() const { return fields_.aggregate_type; }
  AggregateId aggregate_id() const { return fields_.aggregate_id; }
  std::optional<std::int64_t> aggregate_version() const { return fields_.aggregate_version; }
  CorrelationId correlation_id() const { return fields_.correlation_id; }
  CausationId causation_id() const { return fields_.causation_id; }
  IdempotencyKey idempotency_key() const { return fields_.idempotency_key; }
  BusinessKey business_key() const { return fields_.business_key; }
  std::optional<Timestamp> occurred_at() const { return fields_.occurred_at; }
  Mode mode() const { return fields_.mode; }
  std::span<const Header> headers() const { return fields_.headers; }
  // The first header of that name (exact bytes), or nothing.
  std::optional<std::string_view> header(std::string_view name) const;
  std::string_view payload() const { return fields_.payload; }

  // Whether both say the same, byte for byte.
  friend bool operator==(const Envelope& a, const Envelope& b);

 private:
  EnvelopeFields fields_;
  std::shared_ptr<const void> storage_;
};

// Received bytes, immutable and shared, followed by the slack that the JSON parser reads past their end.
class Bytes {
 public:
  Bytes() = default;
  static Bytes copy_of(std::string_view bytes);
  std::string_view view() const { return {data_.get(), size_}; }
  const std::shared_ptr<const char[]>& owner() const { return data_; }

 private:
  std::shared_ptr<const char[]> data_;
  std::size_t size_ = 0;
};

// What a parser accepts. A message past a limit is refused, never truncated.
struct EnvelopeLimits {
  std::size_t message_bytes = 16u << 20;
  std::size_t id_bytes = 255;  // each identity, and each name of a type or producer
  std::size_t header_count = 64;
  std::size_t header_bytes = 16u << 10;  // names and values together
  std::size_t depth = 32;                // of a JSON text, the payload in it counted; at most 512 whatever is said here
  friend bool operator==(const EnvelopeLimits&, const EnvelopeLimits&) = default;
};

using ReadEnvelope = std::variant<Envelope, Refusal>;

// Reading never throws what a message could cause, and borrows from `bytes` what it can. Writing is its inverse for every
// envelope that the format can carry; docs/reference/envelope.md says what it cannot.

// Our JSON envelope. The payload is the exact bytes of its `payload` member, never re-serialised.
ReadEnvelope read_json_envelope(const Bytes& bytes, const EnvelopeLimits& limits = {});
std::string write_json_envelope(const Envelope& envelope);

// CloudEvents 1.0 in structured mode (application/cloudevents+json).
ReadEnvelope read_cloudevent(const Bytes& bytes, const EnvelopeLimits& limits = {});
std::string write_cloudevent(const Envelope& envelope);

// Either of the two: an object with a member `specversion` is a CloudEvent, anything else is taken for ours.
ReadEnvelope read_envelope(const Bytes& bytes, const EnvelopeLimits& limits = {});

// CloudEvents 1.0 in binary mode: attributes in headers under the binding's prefix ("ce_" on Kafka, "ce-" on HTTP,
// "cloudEvents_" or "cloudEvents:" on AMQP), the payload beside them. Other headers are kept as headers.
struct BinaryMessage {
  std::span<const Header> headers;
  std::string_view content_type;
  Bytes payload;
};
ReadEnvelope read_cloudevent(const BinaryMessage& message, std::string_view prefix, const EnvelopeLimits& limits = {});
struct BinaryAttribute {
  std::string name;
  std::string value;
  friend bool operator==(const BinaryAttribute&, const BinaryAttribute&) = default;
};
std::vector<BinaryAttribute> cloudevent_attributes(const Envelope& envelope, std::string_view prefix);

}  // namespace onceward
