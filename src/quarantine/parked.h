// A message set aside: why, who it was, and its exact bytes. Parking the same one again for the same reason is the
// same row, so a crash between parking and acknowledging leaves no second one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "onceward/envelope.h"

namespace onceward {

struct Parked {
  Key fingerprint;
  std::int32_t consumer;
  std::string reason;
  std::string detail;
  const Envelope* envelope;  // must outlive the row
};

Parked parked(const Envelope& envelope, std::int32_t consumer, std::string_view reason, std::string_view detail);

}  // namespace onceward
