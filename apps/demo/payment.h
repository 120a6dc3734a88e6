// The consumer of the demo: PaymentCaptureRequested asks for a capture. Its effect is a row and a balance; what leaves is a
// message to whoever follows the payment, and a call to the gateway, which a dispatcher makes.
#pragma once

#include <chrono>

#include "apps/demo/naive_client.h"
#include "apps/demo/run_directory.h"
#include "onceward/declaration.h"
#include "onceward/handler.h"

namespace onceward::demo {

inline constexpr std::chrono::milliseconds visibility{1'500};  // how long the queue waits for a worker that has died
inline constexpr std::size_t batch = 64;
inline constexpr std::chrono::milliseconds call_timeout{700};  // of a call to the gateway

Declaration payments(const Run& run);
MessageHandler capture_payments(const Run& run);
// It is said not to be idempotent, though it is: what is unknown is then never sent again, and has to be looked up.
EndpointDeclaration gateway(const Run& run);

// What a consumer without Onceward does with the same message: the call, and the effect. Both throw where they cannot
// understand the message.
void charge_naively(const Envelope& message, NaiveClient& client);
void apply_naively(const Run& run, const Envelope& message, Transaction& transaction);

}  // namespace onceward::demo
