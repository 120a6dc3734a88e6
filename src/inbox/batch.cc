#include "src/inbox/batch.h"

#include <algorithm>
#include <cassert>

namespace onceward {
namespace {

// Numbers that order as the bytes do.
std::uint64_t big_endian(const unsigned char* bytes) {
  std::uint64_t number = 0;
  for (int i = 0; i < 8; ++i) number = number << 8 | bytes[i];
  return number;
}

// Sorts by key, and by place in the batch among equals; keeps one for each key. `stand_in` is told who stands for whom.
// The keys are copied beside their places: sorting would else fetch them from all over the batch again and again.
template <class KeyOf, class StandIn>
void keep_earliest_of_each(std::vector<Batch::Index>& indexes, KeyOf key_of, StandIn stand_in) {
  struct Placed {
    std::uint64_t high, low;
    Batch::Index index;
    auto operator<=>(const Placed&) const = default;
    bool same_key(const Placed& other) const { return high == other.high && low == other.low; }
  };
  std::vector<Placed> placed;
  placed.reserve(indexes.size());
  for (const Batch::Index index : indexes) {
    const unsigned char* const bytes = key_of(index).bytes.data();
    placed.push_back({big_endian(bytes), big_endian(bytes + 8), index});
  }
  std::sort(placed.begin(), placed.end());
  indexes.clear();
  for (const Placed *earliest = nullptr, *next = placed.data(); next != placed.data() + placed.size(); ++next) {
    if (earliest == nullptr || !earliest->same_key(*next)) {
      earliest = next;
      indexes.push_back(next->index);
    }
    stand_in(next->index, earliest->index);
  }
}

template <class KeyOf>
std::optional<Batch::Index> find_by_key(std::span<const Batch::Index> sorted, const Key& key, KeyOf key_of) {
  const auto found = std::lower_bound(sorted.begin(), sorted.end(), key,
                                      [&](Batch::Index index, const Key& wanted) { return key_of(index) < wanted; });
  if (found == sorted.end() || key_of(*found) != key) return std::nullopt;
  return *found;
}

bool same_identity(const Claimant& a, const Claimant& b) {
  return a.tenant == b.tenant && a.producer == b.producer && a.id == b.id;
}

// A hit on the key is a duplicate only if the readable identity and the content agree too.
Answer against(bool same_content, Recorded recorded, bool by_operation) {
  if (!same_content) return {Verdict::conflict, std::nullopt, by_operation};
  const Verdict verdict = terminal(recorded.state) ? Verdict::duplicate : Verdict::held;
  return {verdict, std::move(recorded), by_operation};
}

}  // namespace

Batch::Batch(std::span<const Claimant> claimants, By by)
    : claimants_(claimants),
      by_(by),
      messages_(claimants.size()),
      to_claim_(claimants.size()),
      unclaimed_(claimants.size()) {
  for (Index index = 0; index < claimants.size(); ++index) {
    to_claim_[index] = index;
    messages_[index].identity = messages_[index].operation = index;
  }
  if (by == By::position) return;  // the same one twice may have come under two epochs
  keep_earliest_of_each(
      to_claim_, [&](Index index) -> const Key& { return claimants_[index].key; },
      [&, previous = none](Index index, Index earliest) mutable {
        messages_[index].identity = earliest;
        if (index != earliest) messages_[previous].next_same = index;
        previous = index;
      });
  unclaimed_ = to_claim_.size();
}

void Batch::claimed(Index index) {
  assert(stands_for_identity(index) && !messages_[index].claimed);
  messages_[index].claimed = true;
  --unclaimed_;
}

// Keys come back in the order in which they were offered, as a rule: then each is the next.
bool Batch::claimed(const Key& key) {
  const auto key_of = [&](Index index) -> const Key& { return claimants_[index].key; };
  while (passed_ < to_claim_.size() && key_of(to_claim_[passed_]) < key) ++passed_;
  if (passed_ < to_claim_.size() && key_of(to_claim_[passed_]) == key) {
    claimed(to_claim_[passed_++]);
    return true;
  }
  const auto index = find_by_key(to_claim_, key, key_of);
  if (index) claimed(*index);
  return index.has_value();
}

std::span<const Batch::Index> Batch::operations_to_claim() {
  operations_to_claim_.clear();
  for (const Index index : to_claim_) {
    if (messages_[index].claimed && claimants_[index].operation) operations_to_claim_.push_back(index);
  }
  keep_earliest_of_each(
      operations_to_claim_, [&](Index index) -> const Key& { return claimants_[index].operation->key; },
      [&](Index index, Index earliest) { messages_[index].operation = earliest; });
  return operations_to_claim_;
}

void Batch::operation_claimed(Index index) { messages_[index].operation_claimed = true; }

bool Batch::operation_claimed(const Key& operation_key) {
  const auto index = find_by_key(operations_to_claim_, operation_key,
                                 [&](Index i) -> const Key& { return claimants_[i].operation->key; });
  if (index) operation_claimed(*index);
  return index.has_value();
}

std::vector<Batch::Index> Batch::to_look_up() const {
  std::vector<Index> repeats;
  if (unclaimed_ == 0) return repeats;
  repeats.reserve(unclaimed_);
  for (const Index index : to_claim_) {
    if (!messages_[index].claimed && !known_.contains(index)) repeats.push_back(index);
  }
  return repeats;
}

std::vector<Batch::Index> Batch::operations_to_look_up() const {
  std::vector<Index> repeats;
  for (const Index index : operations_to_claim_) {
    if (!messages_[index].operation_claimed) repeats.push_back(index);
  }
  return repeats;
}

// Every message of that identity is compared with the row itself, not with its neighbour in the batch.
void Batch::known(Index index, const KnownMessage& known) {
  for (Index same_key = index; same_key != none; same_key = messages_[same_key].next_same) {
    const Claimant& claimant = claimants_[same_key];
    const bool same =
        by_ == By::key || (claimant.tenant.text() == known.tenant && claimant.producer.text() == known.producer &&
                           claimant.id == known.id && claimant.payload_hash == known.payload_hash);
    known_[same_key] = against(same, known.recorded, false);
  }
}

bool Batch::known(const Key& key, const KnownMessage& row) {
  const auto index = find_by_key(to_claim_, key, [&](Index i) -> const Key& { return claimants_[i].key; });
  if (index) known(*index, row);
  return index.has_value();
}

void Batch::known_operation(Index index, const KnownOperation& known) { originals_[index] = known; }

bool Batch::known_operation(const Key& operation_key, const KnownOperation& row) {
  const auto index = find_by_key(operations_to_claim_, operation_key,
                                 [&](Index i) -> const Key& { return claimants_[i].operation->key; });
  if (index) known_operation(*index, row);
  return index.has_value();
}

bool Batch::lost_operation(Index index) const {
  if (operations_to_claim_.empty()) return false;  // asked only of new messages: none of them has one
  const Message& message = messages_[index];
  return claimants_[index].operation && !(message.operation == index && message.operation_claimed);
}

bool Batch::first(Index index) const {
  return stands_for_identity(index) && messages_[index].claimed && !lost_operation(index);
}

void Batch::finish(Index index, Recorded recorded) {
  assert(first(index));
  messages_[index].recorded = recorded != Recorded{};
  if (messages_[index].recorded) {
    recorded_[index] = std::move(recorded);
  } else {
    recorded_.erase(index);  // plain success, which nearly every message is, costs nothing
  }
}

Recorded Batch::finished(Index index) const { return messages_[index].recorded ? recorded_.at(index) : Recorded{}; }

// A message with an inbox row of its own whose operation belongs to another: of this batch, or from before.
Answer Batch::answer_by_operation(Index index) const {
  const Claimant& claimant = claimants_[index];
  const Index original = messages_[index].operation;
  if (messages_[original].operation_claimed) {
    const Claimant& other = claimants_[original];
    const bool same = claimant.operation->text == other.operation->text && claimant.payload_hash == other.payload_hash;
    Answer answer = against(same, finished(original), true);
    if (answer.recorded) answer.recorded->original = other.key;
    return answer;
  }
  const KnownOperation& row = originals_.at(original);
  const bool same = claimant.operation->text == row.text && claimant.payload_hash == row.payload_hash;
  Answer answer = against(same, row.recorded, true);
  if (answer.recorded) answer.recorded->original = row.message;
  return answer;
}

// A second copy inside the batch of a message that is new.
Answer Batch::answer_in_batch(Index index, Index original) const {
  const bool same = same_identity(claimants_[index], claimants_[original]) &&
                    claimants_[index].payload_hash == claimants_[original].payload_hash;
  if (!lost_operation(original)) return against(same, finished(original), false);
  Answer answer = answer_by_operation(original);
  return same ? answer : Answer{Verdict::conflict, std::nullopt, false};
}

Answer Batch::answer(Index index) const {
  if (const auto known = known_.find(index); known != known_.end()) return known->second;
  if (!stands_for_identity(index)) return answer_in_batch(index, messages_[index].identity);
  return lost_operation(index) ? answer_by_operation(index) : Answer{};
}

bool Batch::operation_resolved(Index index) const {
  const Index winner = messages_[index].operation;
  return messages_[winner].operation_claimed || originals_.contains(winner);
}

bool Batch::resolved() const {
  for (const Index index : to_claim_) {
    if (!messages_[index].claimed && !known_.contains(index)) return false;
  }
  return operations_resolved();
}

bool Batch::operations_resolved() const {
  return std::all_of(operations_to_claim_.begin(), operations_to_claim_.end(),
                     [&](Index index) { return operation_resolved(index); });
}

std::vector<Answer> Batch::answers() const {
  assert(resolved());
  std::vector<Answer> answers;
  answers.reserve(messages_.size());
  for (Index index = 0; index < messages_.size(); ++index) answers.push_back(answer(index));
  return answers;
}

std::vector<Batch::Record> Batch::records() const {
  std::vector<Record> records;
  if (recorded_.empty() && operations_to_claim_.empty()) return records;
  for (const Index index : to_claim_) {
    if (!messages_[index].claimed) continue;
    if (messages_[index].recorded) {
      records.push_back({index, recorded_.at(index)});
    } else if (lost_operation(index)) {
      Answer answer = answer_by_operation(index);
      if (answer.verdict == Verdict::conflict) {
        records.push_back({index, {State::quarantined, "operation_conflict", {}, std::nullopt}});
      } else {
        records.push_back({index, {State::duplicate, {}, {}, answer.recorded->original}});
      }
    }
  }
  return records;
}

}  // namespace onceward
