// Why a message is refused before any processing. The codes are stable: operators, metrics and quarantine rows name
// them, and docs/reference/reasons.md has a line for each.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace onceward {

enum class Reason : std::uint8_t {
  malformed_json,
  too_deep,
  too_large,
  invalid_utf8,
  nul_in_text,
  duplicate_field,
  ill_typed_field,
  missing_field,
  malformed_time,
  too_many_headers,
  headers_too_large,
  unsupported_specversion,
  missing_message_id,
  malformed_message_id,
  id_too_long,
  id_time_out_of_range,
  missing_producer,
  missing_operation_key,
  malformed_operation_key,
  unsupported_schema_version,
  unsupported_event_version,
  mode_not_accepted,
  number_out_of_range,
};

std::string_view code(Reason reason);
std::optional<Reason> reason_named(std::string_view code);

// `detail` names the field or limit, never the payload.
struct Refusal {
  Reason reason;
  std::string detail;
  friend bool operator==(const Refusal&, const Refusal&) = default;
};

}  // namespace onceward
