// What every reader of envelopes shares: the limits, and a home for text that is not in the received bytes as it stands
// (unescaped, decoded), so that an envelope is a set of views whatever it was read from.
#pragma once

#include <forward_list>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "onceward/envelope.h"
#include "onceward/refusal.h"
#include "src/envelope/members.h"

namespace onceward {

// For what was received before, or is only to be kept.
inline constexpr EnvelopeLimits kNoLimits{.message_bytes = std::numeric_limits<std::uint32_t>::max(),
                                          .id_bytes = std::numeric_limits<std::uint32_t>::max(),
                                          .header_count = std::numeric_limits<std::uint32_t>::max(),
                                          .header_bytes = std::numeric_limits<std::uint32_t>::max(),
                                          .depth = 512};

class EnvelopeBuilder {
 public:
  // What is borrowed must stand in `received`.
  EnvelopeBuilder(const Bytes& received, const EnvelopeLimits& limits) : received_(received), limits_(limits) {}

  EnvelopeFields fields;
  const EnvelopeLimits& limits() const { return limits_; }

  // Copies of text that live as long as the envelope. make_room says how much of it will come, to take it at once.
  void make_room(std::size_t text_bytes, std::size_t header_count);
  std::string_view keep(std::string_view text);
  std::string_view keep(std::string&& text);

  // Sets a member from text that lives with the envelope already. Refused: a NUL, and what is past its limit.
  std::optional<Refusal> set(const TextMember& member, std::string_view name, std::string_view text);
  // Adds a header under the limits of their number and size.
  std::optional<Refusal> add_header(std::string_view name, std::string_view value);

  std::span<const Header> headers() const;

  Envelope finish() &&;

 private:
  // Owned by the envelope, with the received bytes.
  struct Side {
    std::shared_ptr<const char[]> received;
    std::vector<Header> headers;
    std::string block;  // never grows past what was reserved
    std::forward_list<std::string> texts;
  };
  Side& side();

  Bytes received_;
  EnvelopeLimits limits_;
  std::shared_ptr<Side> side_;
  std::size_t header_bytes_ = 0;
};

// A whole number as JSON writes one, that fits.
std::optional<std::int64_t> read_integer(std::string_view text);

}  // namespace onceward
