#include "src/unit/passage.h"

#include <algorithm>

#include "src/unit/faults.h"

namespace onceward {
namespace {

// A stream on its way through a batch.
struct Passing {
  const Stream* stream;
  std::optional<StreamState> state;  // nothing: fenced
  StreamState before{};
  bool moved = false;
};

Passing* find(std::vector<Passing>& all, const Stream& stream) {
  const auto found = std::ranges::find_if(
      all, [&](const Passing& one) { return one.stream->name == stream.name && one.stream->epoch == stream.epoch; });
  return found == all.end() ? nullptr : &*found;
}

Passing entered(const Stream* stream, const Streams& streams) {
  const auto known = streams.find(stream->name);
  if (known == streams.end() || known->second.epoch != stream->epoch) return {stream, std::nullopt};
  if (!known->second.next) throw refused("a stream was taken over and not begun");
  return {stream, known->second, known->second};
}

}  // namespace

std::vector<std::string_view> streams_of(std::span<const Claimant> claimants) {
  std::vector<std::string_view> names;
  const Stream* last = nullptr;
  for (const Claimant& claimant : claimants) {
    if (claimant.position == nullptr) throw refused("a consumer whose offsets are kept by the store claims positions");
    if (claimant.position->stream.get() == last) continue;
    last = claimant.position->stream.get();
    names.push_back(last->name);
  }
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

bool all_come_next(std::span<const Claimant> claimants, Streams streams) {
  const Stream* last = nullptr;
  StreamState* state = nullptr;
  for (const Claimant& claimant : claimants) {
    const Position& position = *claimant.position;
    if (position.stream.get() != last) {
      last = position.stream.get();
      const auto found = streams.find(last->name);
      if (found == streams.end() || found->second.epoch != last->epoch) return false;
      state = &found->second;
    }
    if (!state->next || position.offset < *state->next || position.after > *state->next) return false;
    state->next = position.offset + 1;
  }
  return true;
}

std::vector<Advance> pass(Batch& batch, const Streams& streams) {
  std::vector<Passing> passing;  // few
  Passing* at = nullptr;
  for (const Batch::Index index : batch.to_claim()) {
    const Position& position = *batch.claimants()[index].position;
    if (at == nullptr || at->stream != position.stream.get()) at = find(passing, *position.stream);
    if (at == nullptr) at = &passing.emplace_back(entered(position.stream.get(), streams));
    if (!at->state || position.after > *at->state->next) {
      batch.answered(index, {Verdict::fenced, std::nullopt});
    } else if (position.offset < *at->state->next) {
      batch.answered(index, {Verdict::duplicate, Recorded{}});
    } else {
      batch.claimed(index);
      at->state->next = position.offset + 1;
      at->moved = true;
    }
  }
  std::vector<Advance> advances;
  for (const Passing& one : passing) {
    if (one.moved) advances.push_back({one.stream->name, *one.state->next, one.before});
  }
  return advances;
}

}  // namespace onceward
