// Claiming: asking the store whether a message is new.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "onceward/declaration.h"
#include "onceward/envelope.h"
#include "onceward/outcome.h"
#include "onceward/position.h"
#include "onceward/refusal.h"

namespace onceward {

// An id as text: borrowed from the envelope where it stands there as it is, else owned.
class IdText {
 public:
  IdText() = default;
  explicit IdText(std::string_view borrowed) : text_(borrowed) {}
  static IdText owning(std::string text) {
    IdText id;
    id.own_ = std::make_shared<const std::string>(std::move(text));
    id.text_ = *id.own_;
    return id;
  }

  std::string_view text() const { return text_; }
  operator std::string_view() const { return text_; }
  friend bool operator==(const IdText& a, const IdText& b) { return a.text_ == b.text_; }
  friend bool operator==(const IdText& a, std::string_view b) { return a.text_ == b; }

 private:
  std::string_view text_;
  std::shared_ptr<const std::string> own_;
};

// What is claimed for one message. Borrows from the envelope and from the declaration, which must outlive it.
struct Claimant {
  struct Operation {
    Key key;      // of (tenant, consumer, operation, idempotency key): without the producer
    IdText text;  // the idempotency key itself
  };
  Key key;  // of (tenant, consumer, producer, id)
  Tenant tenant;
  Producer producer;
  IdText id;  // by the consumer's policy
  PayloadHash payload_hash;
  std::optional<Operation> operation;
  const Envelope* envelope = nullptr;
  const Position* position = nullptr;  // by which it is claimed, where the consumer's offsets are kept by the store
};

// Applies the consumer's identity policy and its accepted versions and modes. The declaration must have no mistakes. With a
// position the key is that of the position, and the id is only kept.
std::variant<Claimant, Refusal> identify(const Envelope& envelope, const Declaration& declaration,
                                         const Position* position = nullptr);

// The answer to a claim. The set is closed; a switch over it names every member.
enum class Verdict : std::uint8_t {
  first,      // never seen: process it
  duplicate,  // seen and finished, with the same content
  conflict,   // the same identity with other content: never applied, always surfaced
  held,       // seen, not finished, and ours: leave it
  fenced,     // its stream was taken over, or the store misses what came before it: not ours to apply
};

std::string_view name(Verdict verdict);

struct Answer {
  Verdict verdict = Verdict::first;
  // Of a duplicate or a held message: what became of the first.
  std::optional<Recorded> recorded;
  // A duplicate or conflict by operation key under another message id.
  bool by_operation = false;
};

}  // namespace onceward
