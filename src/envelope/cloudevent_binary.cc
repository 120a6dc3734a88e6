// CloudEvents in binary mode: attributes in the transport's headers, the data beside them.
#include <algorithm>
#include <vector>

#include "onceward/envelope.h"
#include "src/common/hex.h"
#include "src/envelope/cloudevent.h"
#include "src/envelope/payload.h"
#include "src/envelope/refused.h"

namespace onceward {
namespace {

constexpr std::string_view kHttpPrefix = "ce-";

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

// The attribute that a header carries, or nothing. AMQP has two prefixes; a reader takes both. HTTP's names have no case.
std::optional<std::string> attribute_name(std::string_view header, std::string_view prefix) {
  const auto after = [&](std::string_view wanted) -> std::optional<std::string> {
    if (!header.starts_with(wanted)) return std::nullopt;
    return std::string(header.substr(wanted.size()));
  };
  if (prefix == kHttpPrefix) {
    if (lower(header.substr(0, prefix.size())) != prefix) return std::nullopt;
    return lower(header.substr(prefix.size()));
  }
  if (prefix == "cloudEvents_" || prefix == "cloudEvents:") {
    auto name = after("cloudEvents_");
    return name ? name : after("cloudEvents:");
  }
  return after(prefix);
}

// RFC 7230's quoted string, as older writers of the HTTP binding used it.
std::optional<std::string> unquoted(std::string_view value) {
  if (!value.starts_with('"')) return std::string(value);
  std::string result;
  for (std::size_t at = 1; at < value.size(); ++at) {
    if (value[at] == '"') return at + 1 == value.size() ? std::optional(result) : std::nullopt;
    if (value[at] == '\\' && ++at == value.size()) return std::nullopt;
    result += value[at];
  }
  return std::nullopt;
}

std::optional<std::string> from_http(std::string_view value) {
  const auto quoted = unquoted(value);
  if (!quoted) return std::nullopt;
  std::string result;
  for (std::size_t at = 0; at < quoted->size(); ++at) {
    if ((*quoted)[at] != '%') {
      result += (*quoted)[at];
      continue;
    }
    const std::string digits = lower(std::string_view(*quoted).substr(at + 1, 2));
    const auto high = digits.size() == 2 ? hex_digit(digits[0]) : std::nullopt;
    const auto low = high ? hex_digit(digits[1]) : std::nullopt;
    if (!low) return std::nullopt;
    result += static_cast<char>(*high << 4 | *low);
    at += 2;
  }
  return result;
}

std::string to_http(std::string_view text) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte > 0x20 && byte < 0x7f && c != '"' && c != '%') {
      result += c;
    } else {
      result += '%';
      result += digits[byte >> 4];
      result += digits[byte & 0xf];
    }
  }
  return result;
}

class BinaryReader {
 public:
  BinaryReader(const BinaryMessage& message, std::string_view prefix, const EnvelopeLimits& limits)
      : message_(message), prefix_(prefix), event_(EnvelopeBuilder(message.payload, limits)) {}

  ReadEnvelope read() {
    make_room();
    for (const Header& header : message_.headers) {
      const auto name = attribute_name(header.name, prefix_);
      auto refusal = name ? attribute(*name, header.value) : plain(header);
      if (refusal) return std::move(*refusal);
    }
    if (auto refusal = content_type()) return std::move(*refusal);
    event_.builder().fields.payload = message_.payload.view();
    return std::move(event_).finish();
  }

  Envelope found() {
    make_room();
    EnvelopeFields& fields = event_.builder().fields;
    for (const Header& header : message_.headers) {
      const auto name = attribute_name(header.name, prefix_);
      const auto refusal =
          name ? repeated(*name) ? refused(Reason::duplicate_field, *name) : attribute(*name, header.value)
               : std::nullopt;
      if (!name || refusal) plain(header);
      if (refusal && (*name == "specversion" || *name == "mode")) fields.unread = refusal->reason;
    }
    if (content_type()) plain({"content-type", message_.content_type});
    fields.payload = message_.payload.view();
    if (fields.event_id.empty()) fields.event_id = EventId(fields.message_id.text());
    return std::move(event_.builder()).finish();
  }

 private:
  bool repeated(const std::string& wanted) const {
    return std::ranges::count_if(message_.headers, [&](const Header& header) {
             return attribute_name(header.name, prefix_) == wanted;
           }) > 1;
  }

  void make_room() {
    std::size_t text_bytes = message_.content_type.size();
    for (const Header& header : message_.headers) text_bytes += header.name.size() + header.value.size();
    const std::size_t most = event_.builder().limits().header_count;
    event_.builder().make_room(text_bytes, std::min(message_.headers.size(), most));
  }

  std::optional<Refusal> attribute(const std::string& name, std::string_view value) {
    if (name.empty()) return refused(Reason::ill_typed_field, prefix_);
    const auto text = prefix_ == kHttpPrefix ? from_http(value) : std::string(value);
    const std::string_view shown = CloudEventReader::known(name) ? std::string_view(name) : "extension";
    if (!text) return refused(Reason::ill_typed_field, shown);
    if (text->find('\0') != std::string::npos) return refused(Reason::nul_in_text, shown);
    if (!is_text(*text) || !is_text(name)) return refused(Reason::invalid_utf8, shown);
    EnvelopeBuilder& builder = event_.builder();
    return event_.attribute(builder.keep(std::string_view(name)), builder.keep(std::string_view(*text)));
  }

  // Not ours to understand, so its bytes are not looked at.
  std::optional<Refusal> plain(const Header& header) {
    EnvelopeBuilder& builder = event_.builder();
    return builder.add_header(builder.keep(header.name), builder.keep(header.value));
  }

  std::optional<Refusal> content_type() {
    if (message_.content_type.empty()) return std::nullopt;
    if (!is_text(message_.content_type)) return refused(Reason::invalid_utf8, "datacontenttype");
    // The binding forbids the attribute beside the transport's own field: a second one is a repeated one.
    return event_.attribute("datacontenttype", event_.builder().keep(message_.content_type));
  }

  const BinaryMessage& message_;
  std::string_view prefix_;
  CloudEventReader event_;
};

}  // namespace

ReadEnvelope read_cloudevent(const BinaryMessage& message, std::string_view prefix, const EnvelopeLimits& limits) {
  if (message.payload.view().size() > limits.message_bytes) return refused(Reason::too_large, "message_bytes");
  std::size_t header_bytes = message.content_type.size();
  for (const Header& header : message.headers) header_bytes += header.name.size() + header.value.size();
  if (header_bytes > limits.message_bytes) return refused(Reason::headers_too_large, "message_bytes");
  return BinaryReader(message, prefix, limits).read();
}

Envelope found_in(const BinaryMessage& message, std::string_view prefix) {
  return BinaryReader(message, prefix, kNoLimits).found();
}

std::vector<BinaryAttribute> cloudevent_attributes(const Envelope& envelope, std::string_view prefix) {
  const EnvelopeFields& fields = envelope.fields();
  const auto value = [&](std::string text) { return prefix == kHttpPrefix ? to_http(text) : std::move(text); };
  const auto name = [&](std::string_view attribute) {
    std::string prefixed;
    prefixed.reserve(prefix.size() + attribute.size());
    return std::move(prefixed.append(prefix).append(attribute));
  };
  std::vector<CloudEventAttribute> attributes = attributes_of(fields);
  std::vector<BinaryAttribute> result;
  result.reserve(attributes.size() + fields.headers.size() + 2);  // two more for a trace
  for (CloudEventAttribute& attribute : attributes) {
    result.push_back({name(attribute.name), value(std::move(attribute.text))});
  }
  for (const Header& header : fields.headers) {
    if (is_extension(header)) {
      result.push_back({name(header.name), value(std::string(header.value))});
    } else if (!attribute_name(header.name, prefix)) {
      result.push_back({std::string(header.name), std::string(header.value)});
    }
  }
  return result;
}

}  // namespace onceward
