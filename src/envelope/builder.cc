#include "src/envelope/builder.h"

#include <charconv>

namespace onceward {

EnvelopeBuilder::Side& EnvelopeBuilder::side() {
  if (!side_) {
    side_ = std::make_shared<Side>();
    side_->received = received_.owner();
  }
  return *side_;
}

void EnvelopeBuilder::make_room(std::size_t text_bytes, std::size_t header_count) {
  side().block.reserve(text_bytes);
  side().headers.reserve(header_count);
}

std::string_view EnvelopeBuilder::keep(std::string_view text) {
  std::string& block = side().block;
  if (block.capacity() - block.size() < text.size()) return keep(std::string(text));
  block.append(text);
  return std::string_view(block).substr(block.size() - text.size());
}

std::string_view EnvelopeBuilder::keep(std::string&& text) { return side().texts.emplace_front(std::move(text)); }

std::optional<Refusal> EnvelopeBuilder::set(const TextMember& member, std::string_view name, std::string_view text) {
  if (text.find('\0') != std::string_view::npos) return Refusal{Reason::nul_in_text, std::string(name)};
  if (member.identity && text.size() > limits_.id_bytes) return Refusal{Reason::id_too_long, std::string(name)};
  if (!member.identity && text.size() > limits_.header_bytes) {
    return Refusal{Reason::headers_too_large, std::string(name)};
  }
  member.set(fields, text);
  return std::nullopt;
}

std::optional<Refusal> EnvelopeBuilder::add_header(std::string_view name, std::string_view value) {
  std::vector<Header>& headers = side().headers;
  if (headers.size() >= limits_.header_count) {
    return Refusal{Reason::too_many_headers, "header_count"};
  }
  header_bytes_ += name.size() + value.size();
  if (header_bytes_ > limits_.header_bytes) return Refusal{Reason::headers_too_large, "header_bytes"};
  headers.push_back({name, value});
  return std::nullopt;
}

std::span<const Header> EnvelopeBuilder::headers() const {
  if (!side_) return {};
  return side_->headers;
}

Envelope EnvelopeBuilder::finish() && {
  if (!side_) return Envelope(fields, received_.owner());
  fields.headers = side_->headers;
  return Envelope(fields, std::move(side_));
}

std::optional<std::int64_t> read_integer(std::string_view text) {
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  if (digits.empty() || (digits[0] == '0' && text.size() > 1)) return std::nullopt;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace onceward
