// The payment gateway: the other side of a call, in a process of its own. It knows nothing of Onceward.
//
//   POST /captures       with an Idempotency-Key: takes the money once under each key, answers 201 with its reference. A key that
//                        comes with another order is refused with 422
//   GET /captures/KEY    200 with what was done under the key, 404 if nothing was
//   GET /captures        all that was done, by pages
//
// By the seed and the key it is slow, loses a reply or a request, or fails after the work (manner.h).
#pragma once

#include <cstdint>
#include <string>

namespace onceward::demo {

// On loopback, until the process ends. Throws std::system_error.
[[noreturn]] void serve_gateway(std::uint16_t port, std::uint64_t seed, const std::string& log);

}  // namespace onceward::demo
