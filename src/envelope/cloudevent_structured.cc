// CloudEvents in structured mode: the JSON event format.
#include <algorithm>

#include "onceward/envelope.h"
#include "src/common/base64.h"
#include "src/common/json.h"
#include "src/envelope/carried_headers.h"
#include "src/envelope/cloudevent.h"
#include "src/envelope/payload.h"
#include "src/envelope/refused.h"

namespace onceward {
namespace {

class StructuredReader {
 public:
  StructuredReader(const JsonDocument& document, const Bytes& bytes, const EnvelopeLimits& limits)
      : document_(document), event_(EnvelopeBuilder(bytes, limits)) {}

  ReadEnvelope read() {
    if (document_.nodes[0].kind != JsonKind::object) return refused(Reason::malformed_json, "event");
    for (std::uint32_t at = 1; at < document_.nodes.size(); at = document_.nodes[at + 1].next) {
      if (auto refusal = member(document_.nodes[at], document_.nodes[at + 1])) return std::move(*refusal);
    }
    if (auto refusal = refuse_repeated_extension()) return std::move(*refusal);
    if (auto refusal = set_payload()) return std::move(*refusal);
    return std::move(event_).finish();
  }

 private:
  std::optional<Refusal> member(const JsonNode& key, const JsonNode& value) {
    const std::string_view name = kept(key);
    if (name == "data" || name == "data_base64") {
      // Mutually exclusive, says the format.
      if (data_) return refused(Reason::duplicate_field, "data");
      data_ = &value;
      is_base64_ = name == "data_base64";
      return std::nullopt;
    }
    if (value.kind == JsonKind::object || value.kind == JsonKind::array) return ill_typed(name);
    if (value.kind == JsonKind::null) {
      unset_.push_back(name);
      return event_.unset(name);
    }
    if (value.kind == JsonKind::string) return event_.attribute(name, kept(value));
    // Numbers and booleans stand for themselves in extensions; those we know are text, except the versions.
    if (CloudEventReader::known(name) && (value.kind == JsonKind::boolean || !name.ends_with("version"))) {
      return ill_typed(name);
    }
    if (name == "specversion") return ill_typed(name);
    return event_.attribute(name, document_.raw(value));
  }

  static Refusal ill_typed(std::string_view name) {
    return refused(Reason::ill_typed_field, CloudEventReader::known(name) ? name : "extension");
  }

  std::string_view kept(const JsonNode& node) {
    if (!node.escaped) return document_.inside(node);
    std::string text;
    append_unescaped(text, document_.inside(node));
    return event_.builder().keep(std::move(text));
  }

  std::optional<Refusal> refuse_repeated_extension() {
    std::vector<std::string_view> names = unset_;
    for (const Header& header : event_.builder().headers()) names.push_back(header.name);
    std::sort(names.begin(), names.end());
    if (std::adjacent_find(names.begin(), names.end()) == names.end()) return std::nullopt;
    return refused(Reason::duplicate_field, "extension");
  }

  std::optional<Refusal> set_payload() {
    if (!data_) return std::nullopt;
    EnvelopeFields& fields = event_.builder().fields;
    if (is_base64_) {
      if (data_->kind == JsonKind::null) return std::nullopt;
      auto decoded = data_->kind == JsonKind::string ? from_base64(kept(*data_)) : std::nullopt;
      if (!decoded) return refused(Reason::ill_typed_field, "data_base64");
      fields.payload = event_.builder().keep(std::move(*decoded));
    } else if (declares_json(fields.content_type)) {
      fields.payload = document_.raw(*data_);
    } else {
      if (data_->kind != JsonKind::string) return refused(Reason::ill_typed_field, "data");
      fields.payload = kept(*data_);
    }
    return std::nullopt;
  }

  const JsonDocument& document_;
  CloudEventReader event_;
  const JsonNode* data_ = nullptr;
  bool is_base64_ = false;
  std::vector<std::string_view> unset_;
};

void append_member(std::string& out, std::string_view name) {
  if (out.size() > 1) out += ',';
  append_json_string(out, name);
  out += ':';
}

void append_data(std::string& out, const EnvelopeFields& fields) {
  const std::string_view payload = fields.payload;
  if (payload.empty()) return;
  if (declares_json(fields.content_type) && is_embeddable_json(payload)) {
    append_member(out, "data");
    out += payload;
  } else if (!declares_json(fields.content_type) && is_text(payload)) {
    append_member(out, "data");
    append_json_string(out, payload);
  } else {
    append_member(out, "data_base64");
    append_json_string(out, to_base64(payload));
  }
}

}  // namespace

ReadEnvelope read_cloudevent(const Bytes& bytes, const EnvelopeLimits& limits) {
  if (bytes.view().size() > limits.message_bytes) return refused(Reason::too_large, "message_bytes");
  const auto parsed = parse_json(bytes, {.limit = limits.depth, .recorded = 1});
  if (const Reason* reason = std::get_if<Reason>(&parsed)) return refused(*reason, "event");
  return StructuredReader(std::get<JsonDocument>(parsed), bytes, limits).read();
}

std::string write_cloudevent(const Envelope& envelope) {
  const EnvelopeFields& fields = envelope.fields();
  std::string out = "{";
  for (const CloudEventAttribute& attribute : attributes_of(fields)) {
    append_member(out, attribute.name);
    if (attribute.number) {
      out += attribute.text;
    } else {
      append_json_string(out, attribute.text);
    }
  }
  for (const Header& header : carried_headers(fields.headers, is_extension)) {
    append_member(out, header.name);
    append_json_string(out, header.value);
  }
  if (!fields.content_type.empty()) {
    append_member(out, "datacontenttype");
    append_json_string(out, fields.content_type);
  }
  append_data(out, fields);
  return out + '}';
}

}  // namespace onceward
