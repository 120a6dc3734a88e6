// Our own JSON envelope; docs/reference/envelope.md describes it to users.
#include <fmt/format.h>

#include <algorithm>

#include "onceward/envelope.h"
#include "src/common/base64.h"
#include "src/common/json.h"
#include "src/common/timestamp.h"
#include "src/envelope/builder.h"
#include "src/envelope/carried_headers.h"
#include "src/envelope/members.h"
#include "src/envelope/payload.h"
#include "src/envelope/refused.h"

namespace onceward {
namespace {

// Members are numbered to see a repeated one: the texts, the numbers, then these.
enum Special : std::size_t { occurred_at, mode, headers, payload, payload_base64, special_end };
constexpr std::array<std::string_view, special_end> kSpecial{"occurredAt", "mode", "headers", "payload",
                                                             "payloadBase64"};
constexpr std::size_t kFirstNumber = kTextMembers.size();
constexpr std::size_t kFirstSpecial = kFirstNumber + kNumberMembers.size();
constexpr std::size_t kUnknown = kFirstSpecial + special_end;
static_assert(kUnknown < 64);

std::size_t number_of(std::string_view name) {
  for (std::size_t i = 0; i < kTextMembers.size(); ++i) {
    if (kTextMembers[i].json == name) return i;
  }
  for (std::size_t i = 0; i < kNumberMembers.size(); ++i) {
    if (kNumberMembers[i].json == name) return kFirstNumber + i;
  }
  for (std::size_t i = 0; i < kSpecial.size(); ++i) {
    if (kSpecial[i] == name) return kFirstSpecial + i;
  }
  return kUnknown;
}

class NativeReader {
 public:
  NativeReader(const JsonDocument& document, const Bytes& bytes, const EnvelopeLimits& limits)
      : document_(document), builder_(bytes, limits) {}

  ReadEnvelope read() {
    if (document_.nodes[0].kind != JsonKind::object) return refused(Reason::malformed_json, "envelope");
    for (std::uint32_t at = 1; at < document_.nodes.size(); at = document_.nodes[at + 1].next) {
      if (auto refusal = member(document_.nodes[at], at + 1)) return std::move(*refusal);
    }
    return std::move(builder_).finish();
  }

 private:
  std::optional<Refusal> member(const JsonNode& key, std::uint32_t value_at) {
    std::string scratch;
    const std::size_t number = number_of(text_of(document_, key, scratch));
    if (number == kUnknown) return std::nullopt;
    if (seen_ >> number & 1) return refused(Reason::duplicate_field, name_of(number));
    seen_ |= std::uint64_t{1} << number;
    const JsonNode& value = document_.nodes[value_at];
    if (number == kFirstSpecial + payload) return set_payload(value);
    if (value.kind == JsonKind::null) return std::nullopt;
    if (number < kFirstNumber) return text(kTextMembers[number], value);
    if (number < kFirstSpecial) return integer(kNumberMembers[number - kFirstNumber], value);
    if (number == kFirstSpecial + headers) return header_members(value_at);
    if (value.kind != JsonKind::string) return refused(Reason::ill_typed_field, name_of(number));
    return special(number - kFirstSpecial, kept(value));
  }

  static std::string_view name_of(std::size_t number) {
    if (number < kFirstNumber) return kTextMembers[number].json;
    if (number < kFirstSpecial) return kNumberMembers[number - kFirstNumber].json;
    return kSpecial[number - kFirstSpecial];
  }

  std::string_view kept(const JsonNode& node) {
    if (!node.escaped) return document_.inside(node);
    std::string text;
    append_unescaped(text, document_.inside(node));
    return builder_.keep(std::move(text));
  }

  std::optional<Refusal> text(const TextMember& target, const JsonNode& value) {
    if (value.kind != JsonKind::string) return refused(Reason::ill_typed_field, target.json);
    return builder_.set(target, target.json, kept(value));
  }

  std::optional<Refusal> integer(const NumberMember& target, const JsonNode& value) {
    const auto number = value.kind == JsonKind::number ? read_integer(document_.raw(value)) : std::nullopt;
    if (!number) return refused(Reason::ill_typed_field, target.json);
    builder_.fields.*target.member = *number;
    return std::nullopt;
  }

  std::optional<Refusal> special(std::size_t which, std::string_view text) {
    if (which == occurred_at) {
      builder_.fields.occurred_at = read_timestamp(text);
      if (!builder_.fields.occurred_at) return refused(Reason::malformed_time, kSpecial[which]);
    } else if (which == mode) {
      const auto named = mode_named(text);
      if (!named) return refused(Reason::ill_typed_field, kSpecial[which]);
      builder_.fields.mode = *named;
    } else {
      auto decoded = from_base64(text);
      if (!decoded) return refused(Reason::ill_typed_field, kSpecial[which]);
      if (has_payload_) return refused(Reason::duplicate_field, kSpecial[payload]);
      has_payload_ = true;
      builder_.fields.payload = builder_.keep(std::move(*decoded));
    }
    return std::nullopt;
  }

  std::optional<Refusal> set_payload(const JsonNode& value) {
    if (has_payload_) return refused(Reason::duplicate_field, kSpecial[payload]);
    has_payload_ = true;
    builder_.fields.payload = document_.raw(value);
    return std::nullopt;
  }

  std::optional<Refusal> header_members(std::uint32_t object_at) {
    const JsonNode& object = document_.nodes[object_at];
    if (object.kind != JsonKind::object) return refused(Reason::ill_typed_field, kSpecial[headers]);
    std::vector<std::string_view> names;
    for (std::uint32_t at = object_at + 1; at < object.next; at = document_.nodes[at + 1].next) {
      const JsonNode& value = document_.nodes[at + 1];
      if (value.kind != JsonKind::string) return refused(Reason::ill_typed_field, kSpecial[headers]);
      const Header header{kept(document_.nodes[at]), kept(value)};
      if (header.name.find('\0') != std::string_view::npos || header.value.find('\0') != std::string_view::npos) {
        return refused(Reason::nul_in_text, kSpecial[headers]);
      }
      if (auto refusal = builder_.add_header(header.name, header.value)) return refusal;
      names.push_back(header.name);
    }
    std::sort(names.begin(), names.end());
    if (std::adjacent_find(names.begin(), names.end()) != names.end()) {
      return refused(Reason::duplicate_field, kSpecial[headers]);
    }
    return std::nullopt;
  }

  const JsonDocument& document_;
  EnvelopeBuilder builder_;
  std::uint64_t seen_ = 0;
  bool has_payload_ = false;
};

void append_name(std::string& out, std::string_view name) {
  if (out.size() > 1) out += ',';
  append_json_string(out, name);
  out += ':';
}

void append_headers(std::string& out, std::span<const Header> all) {
  std::string members = "{";
  const auto are_text = [](const Header& header) { return is_text(header.name) && is_text(header.value); };
  for (const Header& header : carried_headers(all, are_text)) {
    append_name(members, header.name);
    append_json_string(members, header.value);
  }
  if (members.size() == 1) return;
  append_name(out, kSpecial[headers]);
  out += members + '}';
}

}  // namespace

ReadEnvelope read_json_envelope(const Bytes& bytes, const EnvelopeLimits& limits) {
  if (bytes.view().size() > limits.message_bytes) return refused(Reason::too_large, "message_bytes");
  const auto parsed = parse_json(bytes, {.limit = limits.depth, .recorded = 2});
  if (const Reason* reason = std::get_if<Reason>(&parsed)) return refused(*reason, "envelope");
  return NativeReader(std::get<JsonDocument>(parsed), bytes, limits).read();
}

std::string write_json_envelope(const Envelope& envelope) {
  const EnvelopeFields& fields = envelope.fields();
  std::string out = "{";
  out.reserve(512 + fields.payload.size());
  for (const TextMember& member : kTextMembers) {
    const std::string_view text = member.get(fields);
    if (text.empty()) continue;
    append_name(out, member.json);
    append_json_string(out, text);
  }
  for (const NumberMember& member : kNumberMembers) {
    if (!(fields.*member.member)) continue;
    append_name(out, member.json);
    out += std::to_string(*(fields.*member.member));
  }
  if (fields.occurred_at && writable(*fields.occurred_at)) {
    append_name(out, kSpecial[occurred_at]);
    append_json_string(out, write_timestamp(*fields.occurred_at));
  }
  if (fields.mode != Mode::live) {
    append_name(out, kSpecial[mode]);
    append_json_string(out, name(fields.mode));
  }
  append_headers(out, fields.headers);
  if (is_embeddable_json(fields.payload)) {
    append_name(out, kSpecial[payload]);
    out += fields.payload;
  } else if (!fields.payload.empty()) {
    append_name(out, kSpecial[payload_base64]);
    append_json_string(out, to_base64(fields.payload));
  }
  return out + '}';
}

}  // namespace onceward
