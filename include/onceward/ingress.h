// The front door: a request that carries an idempotency key has its effect once, and whoever repeats it is given the stored
// answer, byte for byte. For any HTTP server: it is handed what it has read and says what to answer.
//
//   no key, or a malformed one          400
//   too much                            413
//   the same key is being worked on     409, with Retry-After
//   the same key with another request   422; says nothing of the earlier one
//   done before                         the stored status and body again
//   the store is away                   503, with Retry-After; the key stays with this request
//   the handler has failed              500, or its own 5xx; the key is free. Where the store cannot set it free: 503
//
// docs/reference/ingress.md has the codes of the answers that are not the handler's.
//
// A request is reserved by a commit of its own, with a lease; its effect, its answer and the end of the reservation commit
// together. Whoever dies in between leaves a reservation whose lease ends: the next request with the key takes it over, and the
// one before, should it still live, can no longer commit.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "onceward/envelope.h"
#include "onceward/port/store.h"

namespace onceward {

struct IngressOptions {
  // How long a request may take before another may take it over; at least a second. Longer than the deadline of the store's
  // statements: else a slow request may be taken over while it runs, which is harmless, and in vain.
  std::chrono::milliseconds lease{30'000};
  std::chrono::hours expiry{24 * 7};         // how long an answer is kept; at least one
  std::size_t most_body_bytes = 1u << 20;    // of a request: 413 above
  std::size_t most_answer_bytes = 1u << 20;  // of a handler: 500 above
};

struct IngressRequest {
  std::string_view principal;  // who asks: a tenant, a user, a client; part of the key's scope
  std::string_view operation;  // what is asked: "POST /captures"; part of the key's scope
  std::string_view key;  // the Idempotency-Key header: at most 255 printable ASCII characters; empty: it was not there
  std::string_view body;
  std::string_view content_type{"application/json"};
};

struct IngressAnswer {
  unsigned status = 200;
  std::string content_type{"application/json"};
  std::string body{};
  std::chrono::seconds retry_after{0};  // 0: no such header
  bool repeated = false;                // it is the stored answer of an earlier request
  bool keep = true;                     // false: the handler refuses, and has done nothing. The key is free
};

// The effect of a request, in the transaction that also keeps its answer: a status of 200 to 499, its content type and body. One
// that throws, answers 5xx, or says that its answer is not to be kept, leaves nothing in the store: the key is free for the next
// try. It may run again for one request, as where the
// transaction lost a race: only what is committed counts.
using IngressHandler = std::function<IngressAnswer(const IngressRequest&, Transaction&)>;

// Counted where it happened; read by anybody.
struct IngressTally {
  using Count = std::atomic<std::uint64_t>;
  Count accepted{}, repeated{}, in_flight{}, mismatched{}, refused{}, failed{};
};

class Ingress {
 public:
  // The store must outlive it, and is this thread's. Throws std::invalid_argument for options out of bounds.
  Ingress(Store& store, IngressTally& tally, IngressOptions options = {});

  // Never throws for what the store or the handler did: that is a 503 or a 500, as problem+json (RFC 9457). The only exception
  // is a Fault that poisons the process.
  IngressAnswer serve(const IngressRequest& request, const IngressHandler& handler);

  // Forgets answers that have expired, at most `most` of them, and requests that died and were never repeated; none that is in
  // flight. Returns how many. Throws Fault.
  std::int64_t forget_expired(std::int64_t most = 1'000);

 private:
  Store& store_;
  IngressTally& tally_;
  const IngressOptions options_;
};

}  // namespace onceward
