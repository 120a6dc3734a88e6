#include "src/quarantine/kept_envelope.h"

#include <algorithm>
#include <charconv>
#include <deque>
#include <set>

#include "src/common/base64.h"
#include "src/common/json.h"
#include "src/common/stored_text.h"
#include "src/common/timestamp.h"
#include "src/envelope/builder.h"
#include "src/envelope/members.h"
#include "src/wire/wire.h"

namespace onceward {
namespace {

constexpr std::string_view exact_name = "exact";
constexpr std::string_view headers_name = "headers";
constexpr std::string_view time_name = "occurredAt";
constexpr std::string_view unread_name = "unread";

bool is_flawed(std::string_view text) { return flaw_of(text) != TextFlaw::none; }

bool carries(std::span<const Header> headers) {
  std::set<std::string_view> names;
  return std::all_of(headers.begin(), headers.end(), [&](const Header& header) {
    return !is_flawed(header.name) && !is_flawed(header.value) && names.insert(header.name).second;
  });
}

void append_name(std::string& out, std::string_view name) {
  if (out.size() > 1) out += ',';
  append_json_string(out, name);
  out += ':';
}

void append_headers(std::string& out, std::span<const Header> headers) {
  append_name(out, headers_name);
  char before = '[';
  for (const Header& header : headers) {
    for (const std::string_view text : {header.name, header.value}) {
      out += before;
      append_json_string(out, to_base64(text));
      before = ',';
    }
  }
  out += ']';
}

// Leaves in `fields` what the JSON envelope can carry, with texts that stand in `texts`.
std::string take_out_exact(EnvelopeFields& fields, std::deque<std::string>& texts) {
  std::string exact = "{";
  for (const TextMember& member : kTextMembers) {
    const std::string_view text = member.get(fields);
    if (!is_flawed(text)) continue;
    append_name(exact, member.json);
    append_json_string(exact, to_base64(text));
    member.set(fields, texts.emplace_back(storable(text)));
  }
  if (!carries(fields.headers)) {
    append_headers(exact, fields.headers);
    fields.headers = {};
  }
  if (fields.occurred_at && !writable(*fields.occurred_at)) {
    append_name(exact, time_name);
    append_json_string(exact, std::to_string(fields.occurred_at->time_since_epoch().count()));
    fields.occurred_at.reset();
  }
  return exact + '}';
}

// What "exact" holds, put into fields whose texts then stand in `texts`.
class ExactReader {
 public:
  ExactReader(const JsonDocument& document, EnvelopeFields& fields) : document_(document), fields_(fields) {}

  void read(std::uint32_t object_at) {
    const JsonNode& object = document_.nodes[object_at];
    for (std::uint32_t at = object_at + 1; at < object.next; at = document_.nodes[at + 1].next) member(at);
    if (!headers_.empty()) fields_.headers = headers_;
  }

 private:
  // Nothing that another hand has written there is more than no text.
  std::string_view decoded(const JsonNode& node) {
    if (node.kind != JsonKind::string) return {};
    return texts_.emplace_back(from_base64(document_.inside(node)).value_or(std::string()));
  }

  void read_headers(std::uint32_t at, std::uint32_t end) {
    while (at < end && document_.nodes[at].next < end) {
      const std::uint32_t value = document_.nodes[at].next;
      const std::string_view name = decoded(document_.nodes[at]);
      headers_.push_back({name, decoded(document_.nodes[value])});
      at = document_.nodes[value].next;
    }
  }

  void member(std::uint32_t at) {
    const std::string_view name = document_.inside(document_.nodes[at]);
    const JsonNode& value = document_.nodes[at + 1];
    if (name == headers_name) {
      read_headers(at + 2, value.next);
    } else if (name == time_name && value.kind == JsonKind::string) {
      const std::string_view digits = document_.inside(value);
      std::int64_t micros = 0;
      std::from_chars(digits.data(), digits.data() + digits.size(), micros);
      fields_.occurred_at = Timestamp(std::chrono::microseconds(micros));
    } else {
      for (const TextMember& text : kTextMembers) {
        if (text.json == name) text.set(fields_, decoded(value));
      }
    }
  }

  const JsonDocument& document_;
  EnvelopeFields& fields_;
  std::deque<std::string> texts_;
  std::vector<Header> headers_;
};

// Whoever sends it again has seen what was wrong: by now a limit may be higher, or this program may know more.
Envelope read_again(const EnvelopeFields& fields) {
  const Bytes body = Bytes::copy_of(fields.payload);
  ReadEnvelope read = Refusal{*fields.unread, {}};
  if (fields.content_type == envelope_content_type) read = read_envelope(body, kNoLimits);
  if (fields.content_type == cloudevent_content_type) read = read_cloudevent(body, kNoLimits);
  auto* const envelope = std::get_if<Envelope>(&read);
  return envelope ? std::move(*envelope) : Envelope::copy_of(fields);
}

}  // namespace

std::string kept_envelope(const Envelope& envelope) {
  EnvelopeFields fields = envelope.fields();
  fields.payload = {};
  std::deque<std::string> texts;
  const std::string exact = take_out_exact(fields, texts);
  std::string kept = write_json_envelope(Envelope(fields, nullptr));
  kept.pop_back();
  if (fields.unread) {
    append_name(kept, unread_name);
    append_json_string(kept, code(*fields.unread));
  }
  if (exact.size() > 2) {
    append_name(kept, exact_name);
    kept += exact;
  }
  return kept + '}';
}

Envelope as_kept(std::string_view kept, std::string_view payload) {
  EnvelopeFields fields;
  const ReadEnvelope read = read_json_envelope(Bytes::copy_of(kept), kNoLimits);  // a source's limits were asked before
  if (const auto* const envelope = std::get_if<Envelope>(&read)) fields = envelope->fields();
  fields.payload = payload;
  const auto parsed = parse_json(kept, {});
  const auto* const document = std::get_if<JsonDocument>(&parsed);
  if (document == nullptr || document->nodes[0].kind != JsonKind::object) return Envelope::copy_of(fields);
  ExactReader exact(*document, fields);
  for (std::uint32_t at = 1; at < document->nodes.size(); at = document->nodes[at + 1].next) {
    const std::string_view name = document->inside(document->nodes[at]);
    const JsonNode& value = document->nodes[at + 1];
    if (name == exact_name && value.kind == JsonKind::object) exact.read(at + 1);
    if (name == unread_name && value.kind == JsonKind::string) fields.unread = reason_named(document->inside(value));
  }
  return Envelope::copy_of(fields);
}

Envelope read_kept(std::string_view kept, std::string_view payload) {
  Envelope envelope = as_kept(kept, payload);
  return envelope.fields().unread ? read_again(envelope.fields()) : envelope;
}

}  // namespace onceward
