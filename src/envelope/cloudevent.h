// CloudEvents 1.0, what its structured and its binary mode have in common: an event is a set of named attributes.
// docs/reference/envelope.md has the table of what becomes what.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "onceward/envelope.h"
#include "onceward/refusal.h"
#include "src/envelope/builder.h"

namespace onceward {

// Takes an event's attributes one by one, in any order, and makes the envelope of them.
class CloudEventReader {
 public:
  explicit CloudEventReader(EnvelopeBuilder builder) : builder_(std::move(builder)) {}

  EnvelopeBuilder& builder() { return builder_; }

  // `name` without a prefix; both texts live with the envelope. An unknown attribute becomes a header.
  std::optional<Refusal> attribute(std::string_view name, std::string_view text);
  // An attribute that is there and says nothing (JSON's null).
  std::optional<Refusal> unset(std::string_view name);
  // Whether the attribute is one that this library gives a meaning to.
  static bool known(std::string_view name);

  ReadEnvelope finish() &&;

 private:
  std::optional<Refusal> see(std::size_t number, std::string_view name);
  std::optional<Refusal> special(std::size_t which, std::string_view text);

  EnvelopeBuilder builder_;
  std::uint64_t seen_ = 0;
  bool has_specversion_ = false;
};

// What an event in binary mode that was refused still tells, all of it kept: an attribute that cannot be understood, or is
// there twice, stays a header under its whole name. Without a version or mode that is known it is unread.
Envelope found_in(const BinaryMessage& message, std::string_view prefix);

// An attribute to be written. `number` where CloudEvents' Integer (32 bits) can hold it.
struct CloudEventAttribute {
  std::string_view name;
  std::string text;
  bool number = false;
};

// Everything but the data, its content type, and the headers.
std::vector<CloudEventAttribute> attributes_of(const EnvelopeFields& fields);

// Whether a header can be an extension attribute: a name of lower-case letters and digits that means nothing else.
bool is_extension(const Header& header);

}  // namespace onceward
