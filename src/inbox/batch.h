// The algebra of a batch: who is first, who repeats whom, who conflicts. Pure: a store tells it what its statements
// returned, and it says what to ask next and how each message is answered. Used once, in this order:
//
//   to_claim -> claimed*                       the identities, insert first
//   operations_to_claim -> operation_claimed*  the operation keys of those that are new
//   to_look_up -> known*,  operations_to_look_up -> known_operation*
//   answers
//
// Several messages of a batch may share an identity or an operation key; the earliest stands for the others.
// Identities and operations are offered in key order, so that overlapping batches never deadlock.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "onceward/claim.h"

namespace onceward {

// An inbox row that was there before this batch.
struct KnownMessage {
  std::string_view tenant;
  std::string_view producer;
  std::string_view id;
  PayloadHash payload_hash;
  Recorded recorded;  // processed, where no outcome row stands beside it
};

// An operation row that was there before this batch, with the outcome of the message that brought it.
struct KnownOperation {
  std::string text;
  Key message;
  PayloadHash payload_hash;
  Recorded recorded;
};

class Batch {
 public:
  using Index = std::uint32_t;

  // How messages are known: by identity, or only by key where the store itself has kept them, or each by its position.
  enum class By : std::uint8_t { identity, key, position };
  explicit Batch(std::span<const Claimant> claimants, By by = By::identity);

  std::span<const Claimant> claimants() const { return claimants_; }

  // One message for each identity, in key order.
  std::span<const Index> to_claim() const { return to_claim_; }
  // The store inserted this one of to_claim().
  void claimed(Index index);
  // By key, for stores that return keys; false if no message of the batch has it.
  bool claimed(const Key& key);

  // One message for each operation key among the new ones, in key order. Asks after every claimed() was told.
  std::span<const Index> operations_to_claim();
  void operation_claimed(Index index);
  bool operation_claimed(const Key& operation_key);

  // What was not inserted, and so was there before.
  std::vector<Index> to_look_up() const;
  std::vector<Index> operations_to_look_up() const;
  void known(Index index, const KnownMessage& known);
  bool known(const Key& key, const KnownMessage& known);
  void known_operation(Index index, const KnownOperation& known);
  bool known_operation(const Key& operation_key, const KnownOperation& known);

  // The answer to one of to_claim() that was not claimed, and needs no row.
  void answered(Index index, Answer answer) { known_[index] = std::move(answer); }

  // Whether the message is to be processed. Final once the operations were claimed.
  bool first(Index index) const;

  // The outcome of a first message; plain Done when it is never told.
  void finish(Index index, Recorded recorded);
  // As finish() was told; plain success where it was not.
  Recorded finished(Index index) const;

  // The outcome rows that this batch must write: firsts whose outcome is not plain, and messages with an inbox row of
  // their own that lost their operation. Needs known_operation() for those.
  struct Record {
    Index index;
    Recorded recorded;
  };
  std::vector<Record> records() const;

  // True when every operation that was not claimed has been looked up and found.
  bool operations_resolved() const;
  // True when every repeat has been looked up and found.
  bool resolved() const;
  // Needs resolved().
  std::vector<Answer> answers() const;

 private:
  static constexpr Index none = ~Index{0};
  struct Message {
    Index identity = none;   // the message that stands for its identity; itself for most
    Index next_same = none;  // the next message of the same identity
    Index operation = none;  // the new message that stands for its operation key
    bool claimed = false;
    bool operation_claimed = false;
    bool recorded = false;  // in recorded_
  };

  bool stands_for_identity(Index index) const { return messages_[index].identity == index; }
  bool new_identity(Index index) const { return messages_[messages_[index].identity].claimed; }
  bool lost_operation(Index index) const;
  bool operation_resolved(Index index) const;
  Answer answer(Index index) const;
  Answer answer_in_batch(Index index, Index original) const;
  Answer answer_by_operation(Index index) const;

  std::span<const Claimant> claimants_;
  By by_;
  std::vector<Message> messages_;
  std::vector<Index> to_claim_;
  std::vector<Index> operations_to_claim_;
  std::size_t passed_ = 0;  // of to_claim_, by claimed() with keys in order
  std::size_t unclaimed_;   // of to_claim_: lets a batch without repeats skip the look-ups
  // Rare for a message, so kept apart from it.
  std::unordered_map<Index, Recorded> recorded_;         // by finish()
  std::unordered_map<Index, Answer> known_;              // an identity against the row that was there
  std::unordered_map<Index, KnownOperation> originals_;  // an operation's row that was there
};

}  // namespace onceward
