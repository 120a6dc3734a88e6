// The consumer of the demo: PaymentCaptureRequested asks for a capture. Its effect is a row and a balance; what leaves is a
// message to whoever follows the payment, and a call to the gateway.
#pragma once

#include <chrono>

#include "apps/demo/run_directory.h"
#include "onceward/declaration.h"
#include "onceward/handler.h"

namespace onceward::demo {

inline constexpr std::chrono::milliseconds visibility{1'500};  // how long the queue waits for a worker that has died
inline constexpr std::size_t batch = 64;

Declaration payments(const Run& run);
MessageHandler capture_payments(const Run& run);

// What a consumer without Onceward does with the same message: the effect, and nothing that leaves. Throws where it cannot
// understand the message.
void apply_naively(const Run& run, const Envelope& message, Transaction& transaction);

}  // namespace onceward::demo
