// The calls of the bench: one for each message of the work, with its id as the key and what goes out as the body.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "bench/work/workload.h"
#include "onceward/endpoint_declaration.h"
#include "onceward/port/store.h"

namespace onceward::bench {

enum class CalledKind : std::uint8_t {
  idempotent,  // connections are kept
  fresh,       // not idempotent: each call has a connection of its own; what became of it can be asked for
  mute,        // the same, and nobody can be asked
};
inline bool keeps_connections(CalledKind kind) { return kind == CalledKind::idempotent; }

// How the other side is called, by Onceward and by hand.
struct CallOptions {
  std::string url;
  std::size_t concurrency = 16;
  CalledKind kind = CalledKind::idempotent;
};
EndpointDeclaration declared(const CallOptions& options);

// A transaction for each batch of them.
void stage_calls(Store& store, const Workload& work, std::span<const Index> messages, std::size_t batch);

// What stands in the ledger.
struct LedgerCount {
  std::uint64_t calls = 0;
  std::uint64_t succeeded = 0;           // rows in that state
  std::uint64_t attempts = 0;            // rows of attempts
  std::uint64_t succeeded_attempts = 0;  // of these, those that were answered so
};
LedgerCount count_ledger(Store& store);

}  // namespace onceward::bench
