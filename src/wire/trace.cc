#include "src/wire/trace.h"

#include <algorithm>

#include "src/envelope/payload.h"

namespace onceward {
namespace {

constexpr std::size_t most_trace_bytes = 512;  // of which everybody carries that much, by W3C's word

bool is_trace_state(const Header& header) {
  return header.name == trace_state_name && header.value.size() <= most_trace_bytes && is_text(header.value);
}

}  // namespace

bool is_trace_parent(const Header& header) {
  return header.name == trace_parent_name && header.value.size() <= most_trace_bytes && is_text(header.value);
}

bool is_attribute(std::string_view header, std::string_view attribute, std::string_view prefix) {
  if (!header.ends_with(attribute)) return false;
  const std::string_view before = header.substr(0, header.size() - attribute.size());
  return before == prefix || (prefix == "cloudEvents_" && before == "cloudEvents:");
}

TracedHeaders::TracedHeaders(std::span<const Header> headers, std::string_view prefix) : given_(headers) {
  if (std::ranges::none_of(headers, [](const Header& one) { return is_trace_parent(one) || is_trace_state(one); }))
    return;
  bool traced = std::ranges::any_of(headers, [&](const Header& header) {
    return is_attribute(header.name, trace_parent_name, prefix) || is_attribute(header.name, trace_state_name, prefix);
  });
  const bool has_own = traced;
  name_ = std::string(prefix) + std::string(trace_parent_name);
  for (const Header& header : headers) {
    if (is_trace_parent(header)) {
      if (!traced) changed_.push_back({name_, header.value});
      traced = true;
    } else if (!has_own || !is_trace_state(header)) {
      changed_.push_back(header);
    }
  }
}

ReadEnvelope with_trace(ReadEnvelope read, std::span<const Header> beside, const EnvelopeLimits& limits) {
  Envelope* const envelope = std::get_if<Envelope>(&read);
  const auto parent = std::ranges::find_if(beside, is_trace_parent);
  if (envelope == nullptr || parent == beside.end() || !envelope->fields().trace_parent.empty()) return read;
  struct Kept {
    Envelope envelope;
    std::string parent, state;
    std::vector<Header> headers;
  };
  auto kept = std::make_shared<Kept>(Kept{*envelope, std::string(parent->value), {}, {}});
  EnvelopeFields fields = envelope->fields();
  fields.trace_parent = kept->parent;
  const auto state = std::ranges::find_if(beside, is_trace_state);
  if (state != beside.end() && !envelope->header(trace_state_name) && fields.headers.size() < limits.header_count) {
    kept->state = state->value;
    kept->headers.assign(fields.headers.begin(), fields.headers.end());
    kept->headers.push_back({trace_state_name, kept->state});
    fields.headers = kept->headers;
  }
  return Envelope(fields, std::move(kept));
}

void add_trace(std::vector<BinaryAttribute>& headers, const Envelope& envelope) {
  if (envelope.fields().trace_parent.empty()) return;
  const auto add = [&](std::string_view name, std::string_view value) {
    std::erase_if(headers, [&](const BinaryAttribute& header) { return header.name == name; });
    headers.push_back({std::string(name), std::string(value)});
  };
  add(trace_parent_name, envelope.fields().trace_parent);
  if (const auto state = envelope.header(trace_state_name)) add(trace_state_name, *state);
}

}  // namespace onceward
