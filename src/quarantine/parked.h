// A message set aside: why, who it was, and its exact bytes. Parking the same one again for the same reason is the
// same row, so a crash between parking and acknowledging leaves no second one; another one never is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "onceward/claim.h"
#include "onceward/envelope.h"

namespace onceward {

// Texts are fit for every store, whatever a producer sent: what is no text in them is replaced. The payload is not
// touched, and borrowed from its envelope.
struct Parked {
  Key fingerprint;
  std::int32_t consumer;
  std::string reason;
  std::string detail;
  std::string tenant;
  std::string producer;
  std::string id;
  std::string envelope;  // without the payload
  std::string_view payload;
  std::optional<Key> key{};  // of its own inbox row, where it has one
};

inline constexpr std::size_t most_detail_bytes = 1000;

// Headers that RabbitMQ itself writes into a message on its way from queue to queue and back.
bool is_brokers_own(const Header& header);

// With the identity that the envelope itself gives, for a message that was refused before it had another.
Parked parked(const Envelope& envelope, std::int32_t consumer, std::string_view reason, std::string_view detail);
// With the identity that its consumer's policy gave it. Where messages are known by their positions, the same id with the same
// content may be two of them: only the key tells.
enum class Told : std::uint8_t { by_content, by_key };
Parked parked(const Claimant& claimant, std::int32_t consumer, std::string_view reason, std::string_view detail,
              Told told = Told::by_content);

}  // namespace onceward
