// A dead letter: a copy of what was parked that leaves through the outbox, staged in the transaction that parks. The relay
// publishes the message itself, with its own ids, headers and payload, and the two headers below besides.
//
// Its row:
//
//   type          "onceward.dead_letter." consumer name: what routes know it by
//   id            that of its quarantine row, or the row's fingerprint where the message has none
//   content_type  dead_letter_content_type
//   headers       { "onceward-consumer": name, "onceward-reason": code, "onceward-envelope": as src/quarantine/kept_envelope.h }
//   payload       the message's exact bytes
#pragma once

#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "onceward/envelope.h"
#include "src/outbox/staging.h"
#include "src/quarantine/parked.h"

namespace onceward {

inline constexpr std::string_view dead_letter_envelope_header = "onceward-envelope";

// The rows of what is parked together, behind those that were staged before. They borrow from both, and from this.
class DeadLetters {
 public:
  DeadLetters(std::span<const StagedOutgoing> staged, std::span<const Parked* const> parked, std::string_view consumer);
  std::span<const StagedOutgoing> with_staged() const { return rows_; }

 private:
  std::deque<std::string> texts_;
  std::vector<StagedOutgoing> rows_;
};

// The message that such a row becomes, of the row's headers and payload.
Envelope dead_letter(std::span<const Header> headers, std::string_view payload);

}  // namespace onceward
