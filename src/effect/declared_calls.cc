#include "src/effect/declared_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "src/common/stored_text.h"
#include "src/declaration/text.h"

namespace onceward {
namespace {

constexpr EnvelopeLimits limits;  // of what can be staged

struct MessageName {
  std::string_view name;
  std::string_view (*read)(const Claimant&);
  bool may_be_empty = false;
};
constexpr std::array message_names{
    MessageName{"message_id", [](const Claimant& from) { return from.id.text(); }},
    MessageName{"business_key", [](const Claimant& from) { return from.envelope->fields().business_key.text(); }},
    MessageName{"aggregate_id", [](const Claimant& from) { return from.envelope->fields().aggregate_id.text(); }},
    MessageName{"type", [](const Claimant& from) { return from.envelope->fields().event_type.text(); }},
    MessageName{"tenant", [](const Claimant& from) { return from.tenant.text(); }, true},
};

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

char in_lower_case(char c) { return c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

DeclaredCalls::DeclaredCalls(const Declaration& declaration) : declaration_(declaration), places_(declaration.fields) {
  for (std::size_t i = 0; i < declaration.calls.size(); ++i) {
    templates_.push_back(template_of(declaration.calls[i], i));
  }
}

DeclaredCalls::Name DeclaredCalls::name_of(std::string_view name) {
  const auto own = std::ranges::find(message_names, name, &MessageName::name);
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

DeclaredCalls::Template DeclaredCalls::template_of(const CallDeclaration& call, std::size_t index) {
  const std::string at = fmt::format("call[{}].", index);
  Template made{.declared = &call,
                .key = text_of_template(call.key, at + "key"),
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
    if (declaration::wrong_with_text(one.key.rendered, limits.id_bytes)) {
      return Refusal{Reason::ill_typed_field,
                     one.key.what};  // no header could carry it, and its call would fail for ever
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
  const MessageName& own = message_names[name];
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

std::string_view DeclaredCalls::written_name(Name name) const {
  return name < message_names.size() ? message_names[name].name
                                     : std::string_view(declaration_.fields[name - message_names.size()].name);
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
    text.rendered += found.text;
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
