// How far streams have come: where the store has them, and where a batch of positions takes them. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/inbox/batch.h"

namespace onceward {

struct StreamState {
  std::int64_t epoch = 0;            // of whoever has taken it over last
  std::optional<std::int64_t> next;  // nothing: not begun
};
using Streams = std::map<std::string, StreamState, std::less<>>;  // as the store has them

struct Advance {
  std::string_view stream;  // borrowed from a claimant's
  std::int64_t next;
  StreamState before{};
};

// The streams of those messages, each once, in order. Throws Fault(statement_failed) for a message without a position.
std::vector<std::string_view> streams_of(std::span<const Claimant> claimants);

// Whether every message is the one that comes next in its stream, and is claimed by whoever has that.
bool all_come_next(std::span<const Claimant> claimants, Streams streams);

// Answers every message of the batch, and says where its streams stand when all that are first are done. A stream never moves
// past a message that is not applied: what would do so is fenced, so that its stream is taken over where the store has it. A
// database that has failed over may have lost what came before.
std::vector<Advance> pass(Batch& batch, const Streams& streams);

}  // namespace onceward
