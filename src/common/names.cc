// The stable names of every closed set that operators see: in rows, metrics, logs and the command line.
#include "onceward/claim.h"
#include "onceward/envelope.h"
#include "onceward/fault.h"
#include "onceward/identity.h"
#include "onceward/outcome.h"
#include "onceward/refusal.h"
#include "onceward/wire_format.h"
#include "src/common/hex.h"

namespace onceward {

std::string to_string(const Key& key) { return to_uuid(key.bytes); }

std::string_view name(Mode mode) {
  switch (mode) {
    case Mode::live:
      return "live";
    case Mode::replay:
      return "replay";
    case Mode::backfill:
      return "backfill";
    case Mode::rebuild:
      return "rebuild";
    case Mode::forensic:
      return "forensic";
    case Mode::repair:
      return "repair";
  }
  return "";
}

std::optional<Mode> mode_named(std::string_view text) {
  for (const Mode mode : {Mode::live, Mode::replay, Mode::backfill, Mode::rebuild, Mode::forensic, Mode::repair}) {
    if (name(mode) == text) return mode;
  }
  return std::nullopt;
}

std::string_view name(WireFormat format) {
  switch (format) {
    case WireFormat::automatic:
      return "auto";
    case WireFormat::native:
      return "native";
    case WireFormat::envelope:
      return "envelope";
    case WireFormat::structured:
      return "cloudevents";
    case WireFormat::binary:
      return "cloudevents-binary";
  }
  return "";
}

std::optional<WireFormat> wire_format_named(std::string_view text) {
  for (const WireFormat format :
       {WireFormat::automatic, WireFormat::native, WireFormat::envelope, WireFormat::structured, WireFormat::binary}) {
    if (name(format) == text) return format;
  }
  return std::nullopt;
}

std::string_view name(State state) {
  switch (state) {
    case State::received:
      return "RECEIVED";
    case State::claimed:
      return "CLAIMED";
    case State::processed:
      return "PROCESSED";
    case State::duplicate:
      return "DUPLICATE";
    case State::retryable_failed:
      return "RETRYABLE_FAILED";
    case State::quarantined:
      return "QUARANTINED";
    case State::ignored:
      return "IGNORED";
    case State::superseded:
      return "SUPERSEDED";
    case State::rejected:
      return "REJECTED";
    case State::waiting_gap:
      return "WAITING_GAP";
  }
  return "";
}

State state_of(const Outcome& outcome) {
  struct Visitor {
    State operator()(const Done&) const { return State::processed; }
    State operator()(const Ignored&) const { return State::ignored; }
    State operator()(const Rejected&) const { return State::rejected; }
    State operator()(const Retry&) const { return State::retryable_failed; }
    State operator()(const Failed&) const { return State::quarantined; }
    State operator()(const Unknown&) const { return State::quarantined; }
  };
  return std::visit(Visitor{}, outcome);
}

std::string_view name(Verdict verdict) {
  switch (verdict) {
    case Verdict::first:
      return "first";
    case Verdict::duplicate:
      return "duplicate";
    case Verdict::conflict:
      return "conflict";
    case Verdict::held:
      return "held";
    case Verdict::fenced:
      return "fenced";
  }
  return "";
}

std::string_view code(Reason reason) {
  switch (reason) {
    case Reason::malformed_json:
      return "malformed_json";
    case Reason::too_deep:
      return "too_deep";
    case Reason::too_large:
      return "too_large";
    case Reason::invalid_utf8:
      return "invalid_utf8";
    case Reason::nul_in_text:
      return "nul_in_text";
    case Reason::duplicate_field:
      return "duplicate_field";
    case Reason::ill_typed_field:
      return "ill_typed_field";
    case Reason::missing_field:
      return "missing_field";
    case Reason::malformed_time:
      return "malformed_time";
    case Reason::too_many_headers:
      return "too_many_headers";
    case Reason::headers_too_large:
      return "headers_too_large";
    case Reason::unsupported_specversion:
      return "unsupported_specversion";
    case Reason::missing_message_id:
      return "missing_message_id";
    case Reason::malformed_message_id:
      return "malformed_message_id";
    case Reason::id_too_long:
      return "id_too_long";
    case Reason::id_time_out_of_range:
      return "id_time_out_of_range";
    case Reason::missing_producer:
      return "missing_producer";
    case Reason::missing_operation_key:
      return "missing_operation_key";
    case Reason::malformed_operation_key:
      return "malformed_operation_key";
    case Reason::unsupported_schema_version:
      return "unsupported_schema_version";
    case Reason::unsupported_event_version:
      return "unsupported_event_version";
    case Reason::mode_not_accepted:
      return "mode_not_accepted";
    case Reason::number_out_of_range:
      return "number_out_of_range";
  }
  return "";
}

std::optional<Reason> reason_named(std::string_view named) {
  for (int i = 0; i <= static_cast<int>(Reason::number_out_of_range); ++i) {
    if (code(static_cast<Reason>(i)) == named) return static_cast<Reason>(i);
  }
  return std::nullopt;
}

std::string_view code(FaultCode fault) {
  switch (fault) {
    case FaultCode::lost_race:
      return "lost_race";
    case FaultCode::busy:
      return "busy";
    case FaultCode::timed_out:
      return "timed_out";
    case FaultCode::store_unavailable:
      return "store_unavailable";
    case FaultCode::store_full:
      return "store_full";
    case FaultCode::store_refused:
      return "store_refused";
    case FaultCode::store_read_only:
      return "store_read_only";
    case FaultCode::store_corrupt:
      return "store_corrupt";
    case FaultCode::schema_missing:
      return "schema_missing";
    case FaultCode::schema_newer:
      return "schema_newer";
    case FaultCode::scheme_changed:
      return "scheme_changed";
    case FaultCode::version_affected:
      return "version_affected";
    case FaultCode::constraint_violated:
      return "constraint_violated";
    case FaultCode::fact_exists:
      return "fact_exists";
    case FaultCode::call_conflict:
      return "call_conflict";
    case FaultCode::statement_failed:
      return "statement_failed";
    case FaultCode::source_unavailable:
      return "source_unavailable";
    case FaultCode::source_refused:
      return "source_refused";
    case FaultCode::publisher_unavailable:
      return "publisher_unavailable";
    case FaultCode::publisher_refused:
      return "publisher_refused";
    case FaultCode::endpoint_unavailable:
      return "endpoint_unavailable";
    case FaultCode::endpoint_refused:
      return "endpoint_refused";
    case FaultCode::transaction_failed:
      return "transaction_failed";
  }
  return "";
}

}  // namespace onceward
