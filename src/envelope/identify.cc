// Applies a consumer's identity policy to a message: from an envelope to what will be claimed, or to why not.
#include <fmt/format.h>

#include "onceward/claim.h"
#include "src/common/json_pointer.h"
#include "src/common/sha256.h"
#include "src/envelope/canonical_json.h"
#include "src/envelope/identity_text.h"
#include "src/envelope/key.h"

namespace onceward {
namespace {

// An identity as a source gave it: its text, nothing where the message does not carry it, or why it cannot be read.
using Found = std::variant<IdText, std::monostate, Refusal>;

struct Reasons {
  Reason missing;
  Reason malformed;
};

Found text_or_nothing(std::string_view text) {
  if (text.empty()) return std::monostate{};
  return IdText(text);
}

std::string describe(const IdentitySource& source) {
  struct Visitor {
    std::string operator()(const FromEnvelope& from) const {
      switch (from.member) {
        case FromEnvelope::Member::message_id:
          return "messageId";
        case FromEnvelope::Member::event_id:
          return "eventId";
        case FromEnvelope::Member::command_id:
          return "commandId";
        case FromEnvelope::Member::idempotency_key:
          return "idempotencyKey";
        case FromEnvelope::Member::business_key:
          return "businessKey";
      }
      return "";
    }
    std::string operator()(const FromHeader& from) const { return "header " + from.name; }
    std::string operator()(const FromPayload& from) const { return "payload " + from.pointer; }
    std::string operator()(const FromAggregate&) const { return "aggregateType, aggregateId and aggregateVersion"; }
  };
  return std::visit(Visitor{}, source);
}

// Colons separate, so a colon inside is escaped: ("a:b", "c") and ("a", "b:c") are two aggregates.
void append_part(std::string& out, std::string_view text) {
  for (const char c : text) {
    if (c == ':') {
      out += "%3A";
    } else if (c == '%') {
      out += "%25";
    } else {
      out += c;
    }
  }
}

class Identification {
 public:
  Identification(const Envelope& envelope, const Declaration& declaration, const Position* position)
      : envelope_(envelope), declaration_(declaration), policy_(declaration.identity), position_(position) {}

  std::variant<Claimant, Refusal> run() {
    if (const auto why = envelope_.fields().unread) return Refusal{*why, "it could not be read"};
    std::optional<Refusal> refusal;
    if ((refusal = accept_mode()) || (refusal = accept_versions()) || (refusal = take_tenant()) ||
        (refusal = take_producer()) || (refusal = take_operation()) || (refusal = take_id()) ||
        (refusal = take_hash())) {
      return std::move(*refusal);
    }
    claimant_.envelope = &envelope_;
    claimant_.position = position_;
    return std::move(claimant_);
  }

 private:
  std::optional<Refusal> accept_mode() {
    if (declaration_.modes.contains(envelope_.mode())) return std::nullopt;
    return Refusal{Reason::mode_not_accepted, std::string(name(envelope_.mode()))};
  }

  std::optional<Refusal> accept_versions() {
    if (auto refusal = accept_version(envelope_.schema_version(), declaration_.schema_versions,
                                      Reason::unsupported_schema_version, "schemaVersion")) {
      return refusal;
    }
    return accept_version(envelope_.event_version(), declaration_.event_versions, Reason::unsupported_event_version,
                          "eventVersion");
  }

  static std::optional<Refusal> accept_version(std::optional<std::int64_t> version, const VersionRange& range,
                                               Reason reason, std::string_view field) {
    if (version ? range.holds(*version) : !range.required) return std::nullopt;
    if (!version) return Refusal{reason, fmt::format("{} is missing", field)};
    return Refusal{reason, fmt::format("{} {} is not in {}..{}", field, *version, range.lowest, range.highest)};
  }

  std::optional<Refusal> take_tenant() {
    claimant_.tenant = Tenant(policy_.tenant);
    if (policy_.tenant_header.empty()) return std::nullopt;
    const std::string detail = "header " + policy_.tenant_header;
    if (is_ambiguous(policy_.tenant_header)) return Refusal{Reason::duplicate_field, detail};
    const auto header = envelope_.header(policy_.tenant_header);
    if (!header || header->empty()) return Refusal{Reason::missing_field, detail};
    if (const auto fault = id_fault(*header, declaration_.limits.id_bytes, Reason::ill_typed_field)) {
      return Refusal{*fault, detail};
    }
    claimant_.tenant = Tenant(*header);
    return std::nullopt;
  }

  std::optional<Refusal> take_producer() {
    claimant_.producer = policy_.producer.empty() ? envelope_.producer() : Producer(policy_.producer);
    if (claimant_.producer.empty()) return Refusal{Reason::missing_producer, "producer"};
    if (const auto fault = id_fault(claimant_.producer.text(), declaration_.limits.id_bytes, Reason::ill_typed_field)) {
      return Refusal{*fault, "producer"};
    }
    return std::nullopt;
  }

  std::optional<Refusal> take_operation() {
    if (!policy_.operation) return std::nullopt;
    auto text = checked(policy_.operation->key, {Reason::missing_operation_key, Reason::malformed_operation_key});
    if (Refusal* refusal = std::get_if<Refusal>(&text)) return std::move(*refusal);
    IdText& key = std::get<IdText>(text);
    claimant_.operation.emplace();
    claimant_.operation->key = operation_key(claimant_.tenant, declaration_.name, policy_.operation->name, key);
    claimant_.operation->text = std::move(key);
    return std::nullopt;
  }

  std::optional<Refusal> take_id() {
    auto id = checked(policy_.message_id, {Reason::missing_message_id, Reason::malformed_message_id});
    if (Refusal* refusal = std::get_if<Refusal>(&id)) {
      if (refusal->reason != Reason::missing_message_id || !policy_.missing_id_uses_operation || !claimant_.operation) {
        return std::move(*refusal);
      }
      claimant_.id = claimant_.operation->text;
      claimant_.key = unnamed_key(claimant_.tenant, declaration_.name, claimant_.producer, policy_.operation->name,
                                  claimant_.operation->text);
      return std::nullopt;
    }
    claimant_.id = std::move(std::get<IdText>(id));
    if (position_ != nullptr) {
      claimant_.key = position_key(declaration_.name, *position_);
      return std::nullopt;
    }
    const auto key = message_key(policy_.scheme, claimant_.tenant, declaration_.name, claimant_.producer, claimant_.id);
    if (const Reason* reason = std::get_if<Reason>(&key)) return Refusal{*reason, describe(policy_.message_id)};
    claimant_.key = std::get<Key>(key);
    return std::nullopt;
  }

  std::optional<Refusal> take_hash() {
    if (!policy_.hash.canonical_json || envelope_.payload().empty()) {
      claimant_.payload_hash.bytes = sha256(envelope_.payload());
      return std::nullopt;
    }
    const auto parsed = payload();
    if (const Reason* reason = std::get_if<Reason>(&parsed)) return Refusal{*reason, "payload"};
    const auto canonical = canonical_json(std::get<JsonDocument>(parsed), policy_.hash.volatile_fields);
    if (const Reason* reason = std::get_if<Reason>(&canonical)) return Refusal{*reason, "payload"};
    claimant_.payload_hash.bytes = sha256(std::get<std::string>(canonical));
    return std::nullopt;
  }

  // The identity from its source, held to what an id must be.
  std::variant<IdText, Refusal> checked(const IdentitySource& source, const Reasons& reasons) {
    Found found = std::visit([&](const auto& from) { return read(from, reasons); }, source);
    if (Refusal* refusal = std::get_if<Refusal>(&found)) return std::move(*refusal);
    IdText* text = std::get_if<IdText>(&found);
    if (!text) return Refusal{reasons.missing, describe(source)};
    if (const auto fault = id_fault(*text, declaration_.limits.id_bytes, reasons.malformed)) {
      return Refusal{*fault, describe(source)};
    }
    return std::move(*text);
  }

  Found read(const FromEnvelope& from, const Reasons&) {
    switch (from.member) {
      case FromEnvelope::Member::message_id:
        return text_or_nothing(envelope_.message_id().text());
      case FromEnvelope::Member::event_id:
        return text_or_nothing(envelope_.event_id().text());
      case FromEnvelope::Member::command_id:
        return text_or_nothing(envelope_.command_id().text());
      case FromEnvelope::Member::idempotency_key:
        return text_or_nothing(envelope_.idempotency_key().text());
      case FromEnvelope::Member::business_key:
        return text_or_nothing(envelope_.business_key().text());
    }
    return std::monostate{};
  }

  Found read(const FromHeader& from, const Reasons&) {
    if (is_ambiguous(from.name)) return Refusal{Reason::duplicate_field, describe(from)};
    return text_or_nothing(envelope_.header(from.name).value_or(""));
  }

  Found read(const FromPayload& from, const Reasons& reasons) {
    if (envelope_.payload().empty()) return std::monostate{};
    const auto parsed = payload();
    if (const Reason* reason = std::get_if<Reason>(&parsed)) return Refusal{*reason, "payload"};
    const JsonDocument& document = std::get<JsonDocument>(parsed);
    const auto tokens = pointer_tokens(from.pointer);
    if (!tokens) return std::monostate{};
    const auto found = find(document, *tokens);
    if (const Reason* reason = std::get_if<Reason>(&found)) return Refusal{*reason, describe(from)};
    if (std::holds_alternative<NoSuchNode>(found)) return std::monostate{};
    const JsonNode& node = *std::get<const JsonNode*>(found);
    if (node.kind == JsonKind::null) return std::monostate{};
    std::string scratch;
    if (node.kind == JsonKind::string) {
      const std::string_view text = text_of(document, node, scratch);
      if (text.empty()) return std::monostate{};
      return IdText::owning(std::string(text));
    }
    if (node.kind == JsonKind::number && is_whole(document.raw(node))) {
      return IdText::owning(std::string(document.raw(node)));
    }
    return Refusal{reasons.malformed, describe(from)};
  }

  Found read(const FromAggregate&, const Reasons&) {
    if (envelope_.aggregate_type().empty() || envelope_.aggregate_id().empty() || !envelope_.aggregate_version()) {
      return std::monostate{};
    }
    std::string id;
    append_part(id, envelope_.aggregate_type().text());
    id += ':';
    append_part(id, envelope_.aggregate_id().text());
    id += ':';
    id += std::to_string(*envelope_.aggregate_version());
    return IdText::owning(std::move(id));
  }

  // 1.0 and 1e0 are spellings of 1, and -0 of 0; only the plain one is an id.
  static bool is_whole(std::string_view number) {
    return number != "-0" && number.find_first_of(".eE") == std::string_view::npos;
  }

  // A header that is there twice with two values names no one.
  bool is_ambiguous(std::string_view header_name) const {
    const auto first = envelope_.header(header_name);
    for (const Header& header : envelope_.headers()) {
      if (header.name == header_name && header.value != *first) return true;
    }
    return false;
  }

  // Parsed once, however many of the policies look into it.
  const std::variant<JsonDocument, Reason>& payload() {
    if (!payload_) payload_ = parse_json(envelope_.payload(), {.limit = declaration_.limits.depth});
    return *payload_;
  }

  const Envelope& envelope_;
  const Declaration& declaration_;
  const IdentityPolicy& policy_;
  const Position* const position_;
  std::optional<std::variant<JsonDocument, Reason>> payload_;
  Claimant claimant_;
};

}  // namespace

std::variant<Claimant, Refusal> identify(const Envelope& envelope, const Declaration& declaration,
                                         const Position* position) {
  return Identification(envelope, declaration, position).run();
}

}  // namespace onceward
