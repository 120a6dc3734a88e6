#include "src/outbox/staging.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "onceward/fault.h"
#include "src/common/json.h"
#include "src/common/sha256.h"
#include "src/common/stored_text.h"
#include "src/envelope/key.h"
#include "src/wire/trace.h"

namespace onceward {
namespace {

constexpr EnvelopeLimits limits;

// `what` names the member, never its value.
[[noreturn]] void refuse(std::string_view what, std::string_view why) {
  throw Fault(FaultCode::statement_failed, Poisons::transaction, fmt::format("cannot stage: {} {}", what, why));
}

void check_text(std::string_view what, std::string_view text) {
  if (const TextFlaw flaw = flaw_of(text); flaw != TextFlaw::none) refuse(what, describe(flaw));
}

// A name or id that may be left out.
void check_name(std::string_view what, std::string_view text) {
  if (text.empty()) return;
  if (text.size() > limits.id_bytes) refuse(what, fmt::format("is longer than {} bytes", limits.id_bytes));
  check_text(what, text);
}

void check_required(std::string_view what, std::string_view text) {
  if (text.empty()) refuse(what, "is empty");
  check_name(what, text);
}

// One that was accepted before needs no second look; most rows of a batch repeat their neighbour's names.
void check_unless(std::string_view known, std::string_view what, std::string_view text) {
  if (text != known) check_name(what, text);
}

void check_bytes(std::string_view what, std::string_view bytes) {
  if (bytes.size() > limits.message_bytes) refuse(what, fmt::format("is longer than {} bytes", limits.message_bytes));
}

void check_headers(std::span<const Header> headers) {
  if (headers.size() > limits.header_count) refuse("headers", fmt::format("are more than {}", limits.header_count));
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < headers.size(); ++i) {
    check_required("a header's name", headers[i].name);
    check_text("a header's value", headers[i].value);
    bytes += headers[i].name.size() + headers[i].value.size();
    for (std::size_t other = 0; other < i; ++other) {
      if (headers[other].name == headers[i].name) refuse("headers", "hold one name twice");
    }
  }
  if (bytes > limits.header_bytes) refuse("headers", fmt::format("are longer than {} bytes", limits.header_bytes));
}

void check(const Outgoing& outgoing, const Outgoing& last) {
  if (outgoing.type.empty()) refuse("the type of an outgoing message", "is empty");
  check_unless(last.type, "the type of an outgoing message", outgoing.type);
  check_name("the key of an outgoing message", outgoing.key);
  check_name("the id of an outgoing message", outgoing.id);
  check_unless(last.name, "the name of an outgoing message", outgoing.name);
  check_unless(last.aggregate_type, "the aggregate type of an outgoing message", outgoing.aggregate_type);
  check_unless(outgoing.key, "the aggregate id of an outgoing message", outgoing.aggregate_id);
  check_unless(last.content_type, "the content type of an outgoing message", outgoing.content_type);
  if (outgoing.content_type == dead_letter_content_type) refuse("the content type of an outgoing message", "is ours");
  check_bytes("the payload of an outgoing message", outgoing.payload);
  if (!outgoing.headers.empty()) check_headers(outgoing.headers);
  const bool whole_fact =
      !outgoing.aggregate_type.empty() && !outgoing.aggregate_id.empty() && outgoing.aggregate_version;
  if (outgoing.unique_fact && !whole_fact) {
    refuse("a unique fact", "needs its aggregate type, aggregate id, aggregate version and type");
  }
}

void check(const Call& call) {
  check_call_name(call.endpoint, call.key);
  check_name("the requester of a call", call.requested_by);
  check_name("the type of a call", call.type);
  check_name("the business key of a call", call.business_key);
  check_bytes("the body of a call", call.body);
}

// With the state of the cause's trace, where there is one.
std::string headers_text(std::span<const Header> headers, std::string_view trace_state) {
  std::string object = "{";
  const auto append = [&](std::string_view name, std::string_view value) {
    if (object.size() > 1) object += ',';
    append_json_string(object, name);
    object += ':';
    append_json_string(object, value);
  };
  for (const Header& header : headers) append(header.name, header.value);
  if (!trace_state.empty()) append(trace_state_name, trace_state);
  return object + '}';
}

// Rows are large and a batch has many: four times the room copies a third of what twice would.
template <class Row>
void make_room(std::vector<Row>& rows) {
  if (rows.size() == rows.capacity()) rows.reserve(std::max<std::size_t>(64, 4 * rows.size()));
}

// What is taken over from the cause; views into its envelope.
struct Inherited {
  std::string_view tenant, correlation_id, causation_id, trace_parent;
};

// An identity was checked when it was claimed, by limits that may be wider than ours; the rest only has to be text.
Inherited inherited(const Cause& cause) {
  if (cause.claimant == nullptr) return {};
  const EnvelopeFields& fields = cause.claimant->envelope->fields();
  Inherited from{cause.claimant->tenant.text(), fields.correlation_id.text(), cause.claimant->id, fields.trace_parent};
  if (from.correlation_id.empty()) from.correlation_id = from.causation_id;
  check_text("the correlation id of the cause", from.correlation_id);
  if (!from.trace_parent.empty()) check_text("the trace parent of the cause", from.trace_parent);
  return from;
}

// It goes with the trace parent, unless the message has its own. One for which there is no room, or that could not be stored,
// is left out, as W3C allows.
std::string_view inherited_trace_state(const Cause& cause, std::span<const Header> own) {
  if (cause.claimant == nullptr || cause.claimant->envelope->fields().trace_parent.empty()) return {};
  const std::span<const Header> headers = cause.claimant->envelope->headers();
  const auto state = std::ranges::find(headers, trace_state_name, &Header::name);
  if (state == headers.end() || flaw_of(state->value) != TextFlaw::none) return {};
  std::size_t bytes = state->name.size() + state->value.size();
  for (const Header& header : own) {
    if (header.name == trace_state_name) return {};
    bytes += header.name.size() + header.value.size();
  }
  return own.size() < limits.header_count && bytes <= limits.header_bytes ? state->value : std::string_view();
}

}  // namespace

void check_call_name(std::string_view endpoint, std::string_view key) {
  check_required("the endpoint of a call", endpoint);
  check_required("the key of a call", key);
}

Key call_key(std::string_view tenant, std::string_view endpoint, std::string_view key) {
  return key_of_fields({"onceward/call/1", tenant, endpoint, key});
}

std::string sent_key(std::string_view tenant, std::string_view key) {
  if (tenant.empty() && !key.starts_with('@')) return std::string(key);
  std::string sent = "@";
  for (const char c : tenant) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '/' || c == '%' || byte < 0x20 || byte == 0x7f) {
      sent += fmt::format("%{:02X}", byte);
    } else {
      sent += c;
    }
  }
  return sent + '/' + std::string(key);
}

std::string_view Staging::keep(std::string_view text) {
  if (text.empty()) return {};
  char* const bytes = static_cast<char*>(arena_.allocate(text.size(), 1));
  std::memcpy(bytes, text.data(), text.size());
  return {bytes, text.size()};
}

std::string_view Staging::keep(std::string_view text, std::string_view like) {
  return text == like ? like : keep(text);
}

std::uint32_t Staging::next_ordinal(std::uint32_t cause, std::string_view type, std::string_view name) {
  // Handlers run in the order of the batch, so the place is nearly always the end.
  auto place = ordinals_.end();
  while (place != ordinals_.begin() && std::prev(place)->cause > cause) --place;
  for (auto ordinal = place; ordinal != ordinals_.begin() && std::prev(ordinal)->cause == cause;) {
    --ordinal;
    if (ordinal->type == type && ordinal->name == name) return ordinal->count++;
  }
  ordinals_.insert(place, {cause, 1, type, name});
  return 0;
}

const IdMask& Staging::mask_of(std::string_view consumer, const Outgoing& kept, std::uint32_t ordinal) {
  for (const Series& known : series_) {
    if (known.ordinal == ordinal && known.type == kept.type && known.name == kept.name && known.consumer == consumer) {
      return known.mask;
    }
  }
  Series& fresh = series_[next_series_++ % series_.size()];
  fresh = {consumer, kept.type, kept.name, ordinal, {}};
  // Neither holds a NUL, so no type alone reads like a type and a name.
  fresh.mask = kept.name.empty() ? id_mask(consumer, kept.type, ordinal)
                                 : id_mask(consumer, fmt::format("{}{}{}", kept.type, '\0', kept.name), ordinal);
  return fresh.mask;
}

std::string_view Staging::id_of(const Cause& cause, const Outgoing& kept) {
  if (cause.index == no_cause) return keep(fresh_id());
  const std::uint32_t ordinal = next_ordinal(cause.index, kept.type, kept.name);
  const UuidText id = derived_id(mask_of(cause.consumer, kept, ordinal), cause.key());
  return keep({id.data(), id.size()});
}

void Staging::add(const Cause& cause, const Outgoing& outgoing) {
  static constexpr Outgoing none;
  make_room(outgoing_);
  const Outgoing& last = outgoing_.empty() ? none : outgoing_.back().message;
  check(outgoing, last);
  const Inherited from = inherited(cause);

  StagedOutgoing staged{};
  staged.cause = cause.index;
  staged.cause_key = cause.key();
  staged.message = outgoing;
  Outgoing& kept = staged.message;
  kept.type = keep(outgoing.type, last.type);
  kept.key = keep(outgoing.key);
  kept.payload = keep(outgoing.payload);
  kept.name = keep(outgoing.name, last.name);
  kept.aggregate_type = keep(outgoing.aggregate_type, last.aggregate_type);
  kept.aggregate_id = keep(outgoing.aggregate_id, kept.key);
  kept.content_type = keep(outgoing.content_type, last.content_type);
  kept.headers = {};
  const std::string_view trace_state = inherited_trace_state(cause, outgoing.headers);
  if (!outgoing.headers.empty() || !trace_state.empty()) {
    staged.headers_json = keep(headers_text(outgoing.headers, trace_state));
  }
  kept.id = outgoing.id.empty() ? id_of(cause, kept) : keep(outgoing.id);
  staged.numbered = outgoing.id.empty() && cause.index != no_cause;
  staged.tenant = from.tenant;
  staged.correlation_id = from.correlation_id;
  staged.causation_id = from.causation_id;
  staged.trace_parent = from.trace_parent;
  if (kept.unique_fact) {
    staged.fact = key_of_fields({"onceward/fact/1", from.tenant, kept.aggregate_type, kept.aggregate_id,
                                 fmt::format_int(*kept.aggregate_version).c_str(), kept.type});
  }
  outgoing_.push_back(staged);
}

void Staging::add(const Cause& cause, const Call& call, std::string_view asker) {
  check(call);
  const Inherited from = inherited(cause);
  const Call last = calls_.empty() ? Call{} : calls_.back().call;

  StagedCall staged{};
  staged.cause = cause.index;
  staged.cause_key = cause.key();
  staged.call = call;
  staged.call.endpoint = keep(call.endpoint, last.endpoint);
  staged.call.key = keep(call.key);
  staged.call.body = keep(call.body);
  staged.call.type = keep(call.type, last.type);
  staged.call.business_key = keep(call.business_key);
  staged.call.requested_by = keep(call.requested_by.empty() ? asker : call.requested_by, last.requested_by);
  staged.tenant = from.tenant;
  staged.correlation_id = from.correlation_id;
  staged.trace_parent = from.trace_parent;
  staged.key = call_key(from.tenant, call.endpoint, call.key);
  // Whoever asks for approval has not asked for the same.
  const std::string_view domain = call.approval ? "onceward/approved-request/1" : "onceward/request/1";
  staged.request_hash.bytes = sha256_of_fields({domain, call.type, call.body});
  calls_.push_back(staged);
}

void Staging::forget(std::uint32_t cause) {
  const auto caused = [&](const auto& row) { return row.cause == cause; };
  std::erase_if(outgoing_, caused);
  std::erase_if(calls_, caused);
  std::erase_if(ordinals_, caused);
}

void Staging::written() {
  outgoing_written_ = outgoing_.size();
  calls_written_ = calls_.size();
}

void Staging::give_back_ordinal(const StagedOutgoing& row) {
  const auto of_row = [&](const Ordinal& ordinal) {
    return ordinal.cause == row.cause && ordinal.type == row.message.type && ordinal.name == row.message.name;
  };
  const auto found = std::find_if(ordinals_.rbegin(), ordinals_.rend(), of_row);
  if (found != ordinals_.rend() && --found->count == 0) ordinals_.erase(std::next(found).base());
}

void Staging::back_to(const Place& place) {
  for (; outgoing_.size() > place.outgoing; outgoing_.pop_back()) {
    if (outgoing_.back().numbered) give_back_ordinal(outgoing_.back());
  }
  calls_.resize(place.calls);
  outgoing_written_ = place.outgoing_written;
  calls_written_ = place.calls_written;
}

std::uint32_t Staging::cause_of(const Key& row) const {
  for (std::size_t at = outgoing_.size(); at-- > 0;) {
    if (outgoing_[at].message.unique_fact && outgoing_[at].fact == row) return outgoing_[at].cause;
  }
  const StagedCall* first = nullptr;
  std::uint32_t last = no_cause;
  for (const StagedCall& call : calls_) {
    if (call.key != row) continue;
    if (first == nullptr) first = &call;
    if (call.request_hash != first->request_hash) return call.cause;
    last = call.cause;
  }
  return last;
}

std::string_view Staging::endpoint_of(const Key& call) const {
  const auto found = std::ranges::find(calls_, call, &StagedCall::key);
  return found == calls_.end() ? std::string_view() : found->call.endpoint;
}

const StagedCall* Staging::of_other_content() const {
  std::map<Key, PayloadHash> seen;
  for (const StagedCall& call : calls_) {
    if (seen.emplace(call.key, call.request_hash).first->second != call.request_hash) return &call;
  }
  return nullptr;
}

std::uint32_t Staging::cause_of_other_content() const {
  const StagedCall* const call = of_other_content();
  return call == nullptr ? no_cause : call->cause;
}

std::string_view Staging::endpoint_of_other_content() const {
  const StagedCall* const call = of_other_content();
  return call == nullptr ? std::string_view() : call->call.endpoint;
}

}  // namespace onceward
