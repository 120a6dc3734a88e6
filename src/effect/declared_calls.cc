#include "src/effect/declared_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "src/common/decimal.h"
#include "src/common/stored_text.h"
#include "src/envelope/identity_text.h"

namespace onceward {
namespace {

constexpr EnvelopeLimits limits;  // of what can be staged

using declaration::message_names;

struct OfMessage {
  std::string_view (*read)(const Claimant&);
  bool may_be_empty = false;
};
// In the order of message_names.
constexpr std::array of_message{
    OfMessage{[](const Claimant& from) { return from.id.text(); }},
    OfMessage{[](const Claimant& from) { return from.envelope->fields().business_key.text(); }},
    OfMessage{[](const Claimant& from) { return from.envelope->fields().aggregate_id.text(); }},
    OfMessage{[](const Claimant& from) { return from.envelope->fields().event_type.text(); }},
    OfMessage{[](const Claimant& from) { return from.tenant.text(); }, true},
};
static_assert(of_message.size() == message_names.size());

std::optional<Refusal> flaw_in(std::string_view text, std::string_view what) {
  switch (flaw_of(text)) {
    case TextFlaw::none:
      return std::nullopt;
    case TextFlaw::nul:
      return Refusal{Reason::nul_in_text, std::string(what)};
    case TextFlaw::not_utf8:
      return Refusal{Reason::invalid_utf8, std::string(what)};
  }
  return std::nullopt;
}

// 12.340, 1.234e1 and "12.34" are one number, and must not be three keys.
std::string as_one_number(std::string_view text, int scale) {
  const Decimal read = read_decimal(text, scale);
  if (read.fault != DecimalFault::none) return std::string(text);
  const bool negative = read.minor_units < 0;
  const auto bits = static_cast<std::uint64_t>(read.minor_units);
  std::string digits = fmt::format("{:0{}}", negative ? 0 - bits : bits, scale + 1);
  if (scale > 0) digits.insert(digits.size() - static_cast<std::size_t>(scale), 1, '.');
  return negative ? "-" + digits : digits;
}

// "%" and hexadecimal digits stand for the character that ends the value, so that ("a/b", "c") and ("a", "b/c") differ.
void append_until(std::string& out, std::string_view text, char end) {
  for (const char c : text) {
    if (end != 0 && (c == end || c == '%')) {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
}

char in_lower_case(char c) { return c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

DeclaredCalls::DeclaredCalls(const Declaration& declaration) : declaration_(declaration), places_(declaration.fields) {
  for (std::size_t i = 0; i < declaration.calls.size(); ++i) {
    templates_.push_back(template_of(declaration.calls[i], i));
  }
}

DeclaredCalls::Name DeclaredCalls::name_of(std::string_view name) {
  const auto own = std::ranges::find(message_names, name);
  if (own != message_names.end()) return static_cast<Name>(own - message_names.begin());
  reads_fields_ = true;
  const auto field = std::ranges::find(declaration_.fields, name, &FieldDeclaration::name);
  return static_cast<Name>(message_names.size() + static_cast<std::size_t>(field - declaration_.fields.begin()));
}

DeclaredCalls::Text DeclaredCalls::text_of_template(const std::string& written, std::string what) {
  Text text{std::move(what), {}, {}};
  const auto read = std::get<0>(declaration::read_template(written));
  for (const declaration::TemplatePiece& piece : read) {
    text.pieces.push_back({piece.text, piece.is_name ? std::optional(name_of(piece.text)) : std::nullopt});
  }
  return text;
}

// A uuid and a boolean end where they end.
DeclaredCalls::Text DeclaredCalls::key_of_template(const std::string& written, std::string what) {
  Text key = text_of_template(written, std::move(what));
  bool another_follows = false;
  for (std::size_t i = key.pieces.size(); i-- > 0;) {
    TextPiece& piece = key.pieces[i];
    if (!piece.name) continue;
    const FieldDeclaration* const field = field_of(*piece.name);
    const bool ends_itself = field && (field->type == FieldType::uuid || field->type == FieldType::boolean);
    if (another_follows && !ends_itself) piece.ends_at = key.pieces[i + 1].text.front();
    another_follows = true;
  }
  return key;
}

DeclaredCalls::Template DeclaredCalls::template_of(const CallDeclaration& call, std::size_t index) {
  const std::string at = fmt::format("call[{}].", index);
  Template made{.declared = &call,
                .key = key_of_template(call.key, at + "key"),
                .type = text_of_template(call.type, at + "type"),
                .business_key = text_of_template(call.business_key, at + "business_key"),
                .requested_by = text_of_template(call.requested_by, at + "requested_by"),
                .body_what = at + "body",
                .body = {},
                .rendered_body = {}};
  const auto body = std::get<0>(declaration::read_body_template(call.body));
  made.payload = body.payload;
  for (const declaration::BodyPiece& piece : body.pieces) {
    const bool named = piece.kind != declaration::BodyPiece::Kind::json;
    made.body.push_back({piece.kind, piece.text, named ? name_of(piece.text) : 0});
  }
  return made;
}

std::optional<Refusal> DeclaredCalls::make(const Claimant& claimant) {
  calls_.clear();
  claimant_ = &claimant;
  if (auto refusal = find_fields(claimant)) return refusal;
  for (Template& one : templates_) {
    for (Text* text : {&one.key, &one.type, &one.business_key, &one.requested_by}) {
      if (auto refusal = render(*text)) return refusal;
    }
    if (one.key.rendered.empty()) return Refusal{Reason::missing_field, one.key.what};
    // It goes out as a header: one that cannot would be found out after the effect was committed.
    if (const auto fault = id_fault(one.key.rendered, limits.id_bytes, Reason::ill_typed_field)) {
      return Refusal{*fault, one.key.what};
    }
    if (auto refusal = render_body(one)) return refusal;
    calls_.push_back({.endpoint = one.declared->endpoint,
                      .key = one.key.rendered,
                      .body = one.payload ? claimant.envelope->fields().payload : std::string_view(one.rendered_body),
                      .type = one.type.rendered,
                      .business_key = one.business_key.rendered,
                      .approval = one.declared->approval == Approval::required,
                      .requested_by = one.requested_by.rendered});
  }
  return std::nullopt;
}

// A second look at a payload that was read for its columns: only consumers with calls pay for it.
std::optional<Refusal> DeclaredCalls::find_fields(const Claimant& claimant) {
  if (!reads_fields_) return std::nullopt;
  const auto parsed = parse_json(claimant.envelope->payload(), {declaration_.limits.depth, places_.depth()});
  if (const Reason* reason = std::get_if<Reason>(&parsed)) return Refusal{*reason, "payload"};
  document_ = std::get<JsonDocument>(parsed);
  found_places_ = places_.find(document_);
  return std::nullopt;
}

DeclaredCalls::Found DeclaredCalls::find(Name name) {
  if (name >= message_names.size()) return find_field(name - message_names.size());
  const OfMessage& own = of_message[name];
  const std::string_view text = own.read(*claimant_);
  return {.missing = text.empty() && !own.may_be_empty, .text = text};
}

DeclaredCalls::Found DeclaredCalls::find_field(std::size_t index) {
  const std::uint32_t place = found_places_[index];
  if (place == FieldPlaces::nowhere || place == FieldPlaces::ambiguous) return {.missing = true};
  const JsonNode& node = document_.nodes[place];
  if (node.kind == JsonKind::null) return {.missing = true};
  if (node.kind != JsonKind::string) return {.is_text = false, .text = document_.raw(node)};
  const std::string_view text = text_of(document_, node, scratch_);
  if (declaration_.fields[index].type != FieldType::uuid) return {.text = text};
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), in_lower_case);
  scratch_ = std::move(lower);
  return {.text = scratch_};
}

const FieldDeclaration* DeclaredCalls::field_of(Name name) const {
  return name < message_names.size() ? nullptr : &declaration_.fields[name - message_names.size()];
}

std::string_view DeclaredCalls::written_name(Name name) const {
  const FieldDeclaration* const field = field_of(name);
  return field ? std::string_view(field->name) : message_names[name];
}

std::optional<Refusal> DeclaredCalls::render(Text& text) {
  text.rendered.clear();
  for (const TextPiece& piece : text.pieces) {
    if (!piece.name) {
      text.rendered += piece.text;
      continue;
    }
    const Found found = find(*piece.name);
    if (found.missing) return Refusal{Reason::missing_field, std::string(written_name(*piece.name))};
    const FieldDeclaration* const field = field_of(*piece.name);
    const bool is_number = field && (field->type == FieldType::decimal || field->type == FieldType::int64);
    append_until(text.rendered, is_number ? as_one_number(found.text, field->scale) : std::string(found.text),
                 piece.ends_at);
  }
  if (text.rendered.size() > limits.id_bytes) return Refusal{Reason::id_too_long, text.what};
  return flaw_in(text.rendered, text.what);
}

std::optional<Refusal> DeclaredCalls::render_body(Template& one) {
  std::string& body = one.rendered_body;
  body.clear();
  for (const BodyPiece& piece : one.body) {
    if (auto refusal = append(body, piece)) return refusal;
  }
  const std::size_t bytes = one.payload ? claimant_->envelope->fields().payload.size() : body.size();
  if (bytes > limits.message_bytes) return Refusal{Reason::too_large, one.body_what};
  return std::nullopt;
}

std::optional<Refusal> DeclaredCalls::append(std::string& body, const BodyPiece& piece) {
  using Kind = declaration::BodyPiece::Kind;
  if (piece.kind == Kind::json) {
    body += piece.text;
    return std::nullopt;
  }
  const Found found = find(piece.name);
  if (auto refusal = flaw_in(found.text, piece.text)) return refusal;
  if (found.missing && piece.kind == Kind::in_text) return Refusal{Reason::missing_field, piece.text};
  if (found.missing) {
    body += "null";
  } else if (!found.is_text) {
    body += found.text;
  } else if (piece.kind == Kind::value) {
    append_json_string(body, found.text);
  } else {
    declaration::append_inside(body, found.text);
  }
  return std::nullopt;
}

}  // namespace onceward
