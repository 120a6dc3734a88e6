// A row of the outbox as a message, by hand: byte for byte what Onceward's relay makes of the work's rows, and nothing that
// those rows do not have.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/broker/bare.h"

namespace onceward::bench {

// Every row was staged at this moment, so that the same message is always the same bytes.
inline constexpr std::uint64_t staged_seconds = 1'760'000'000;
inline constexpr std::string_view staged_time = "2025-10-09T08:53:20Z";
inline constexpr std::string_view aggregate_type = "account";

// The attributes of a CloudEvent, or only what the broker has its own place for.
enum class Attributes : std::uint8_t { cloudevent, native };

struct OutgoingRow {
  std::string_view id, type, key, aggregate_type, aggregate_id, correlation_id, causation_id, content_type, payload;
  std::int64_t version = 0;
};
// As it is staged: caused by the message that has its id.
OutgoingRow row_of(const Message& message);

class Composer {
 public:
  Composer(const BareBroker& broker, Attributes attributes);
  // Borrows the row; valid until the next call.
  const BareMessage& compose(const OutgoingRow& row);

 private:
  struct Named {
    std::string name;
    std::string_view OutgoingRow::* value;
  };
  const bool has_properties_;
  const Attributes attributes_;
  std::vector<Named> texts_;
  const std::string specversion_, source_, version_, time_;
  std::string number_;
  std::vector<BareHeader> headers_;
  BareMessage message_;
};

}  // namespace onceward::bench
