// What a transaction has staged and not yet written: outgoing messages and calls, copied once into an arena that the
// stores write from, set-wise, at the flush. Staging the same message again gives the same ids and bytes.
#pragma once

#include <array>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "onceward/claim.h"
#include "onceward/transaction.h"
#include "src/envelope/derived_id.h"

namespace onceward {

inline constexpr std::uint32_t no_cause = ~std::uint32_t{0};
// Of rows that are copies of what was parked (src/quarantine/dead_letter.h); nobody else's.
inline constexpr std::string_view dead_letter_content_type = "application/vnd.onceward.dead-letter";

// The inbound message on whose behalf something is staged. The envelope must outlive what it caused.
struct Cause {
  std::uint32_t index = no_cause;
  std::string_view consumer;
  const Claimant* claimant = nullptr;  // with its envelope
  Key key() const { return claimant ? claimant->key : Key{}; }
};

struct StagedOutgoing {
  std::uint32_t cause;
  Key cause_key;                  // zero without a cause
  Outgoing message;               // every view but `headers` lives in the arena; id is set; `headers` is empty
  std::string_view headers_json;  // "" for none
  std::string_view tenant, correlation_id, causation_id, trace_parent;  // of the cause
  Key fact;                                                             // where message.unique_fact
  bool numbered;                                                        // its id is one of its cause's ordinals
};

struct StagedCall {
  std::uint32_t cause;
  Key cause_key;
  Key key;    // of (tenant, endpoint, idempotency key)
  Call call;  // requested_by is set
  std::string_view tenant, correlation_id, trace_parent;
  PayloadHash request_hash;  // of the type, the body, and whether it asks for approval
};

// Of an intent.
Key call_key(std::string_view tenant, std::string_view endpoint, std::string_view key);
// The idempotency key as the other side is told it, which knows nothing of tenants: the key itself where there is none, else
// "@tenant/key". No two calls of one endpoint have the same.
std::string sent_key(std::string_view tenant, std::string_view key);
// As Staging::add() has it.
void check_call_name(std::string_view endpoint, std::string_view key);

class Staging {
 public:
  // Throws Fault(statement_failed) for what no store could write: NUL or invalid UTF-8 in a name, a unique fact that
  // lacks one of its four parts, a key that is empty or too long. Nothing is staged then.
  void add(const Cause& cause, const Outgoing& outgoing);
  // `asker` is who asked for it where the call does not say.
  void add(const Cause& cause, const Call& call, std::string_view asker = {});
  // Takes back what `cause` has staged, none of which was written; its ordinals begin anew.
  void forget(std::uint32_t cause);
  // The rows were written; the transaction goes on, and so do the ordinals of its ids.
  void written();

  // How far it has come. Nothing that stands before a place may be forgotten while it is needed.
  struct Place {
    std::size_t outgoing = 0, calls = 0, outgoing_written = 0, calls_written = 0;
  };
  Place place() const { return {outgoing_.size(), calls_.size(), outgoing_written_, calls_written_}; }
  // Takes back what was staged since, and what was written since is to be written again.
  void back_to(const Place& place);

  // What is to be written.
  bool empty() const { return outgoing().empty() && calls().empty(); }
  std::span<const StagedOutgoing> outgoing() const { return std::span(outgoing_).subspan(outgoing_written_); }
  std::span<const StagedCall> calls() const { return std::span(calls_).subspan(calls_written_); }

  // Who has staged this fact or call last, or a call under this key with other content than the first.
  std::uint32_t cause_of(const Key& row) const;
  // Whom the call with this key is for; empty: none such was staged.
  std::string_view endpoint_of(const Key& call) const;
  // Who has staged a call under a key that stands here with other content; no_cause if nobody has.
  std::uint32_t cause_of_other_content() const;
  std::string_view endpoint_of_other_content() const;

 private:
  const StagedCall* of_other_content() const;
  // How many messages of one type and name a cause has staged.
  struct Ordinal {
    std::uint32_t cause;
    std::uint32_t count;
    std::string_view type, name;
  };

  // The mask of one series of ids, remembered: a batch mostly has one or two.
  struct Series {
    std::string_view consumer, type, name;
    std::uint32_t ordinal = 0;
    IdMask mask{};
  };

  std::string_view keep(std::string_view text);
  std::string_view keep(std::string_view text, std::string_view like);
  std::string_view id_of(const Cause& cause, const Outgoing& kept);
  const IdMask& mask_of(std::string_view consumer, const Outgoing& kept, std::uint32_t ordinal);
  std::uint32_t next_ordinal(std::uint32_t cause, std::string_view type, std::string_view name);
  void give_back_ordinal(const StagedOutgoing& row);

  std::pmr::monotonic_buffer_resource arena_;
  std::vector<StagedOutgoing> outgoing_;
  std::vector<StagedCall> calls_;
  std::size_t outgoing_written_ = 0;
  std::size_t calls_written_ = 0;
  std::vector<Ordinal> ordinals_;  // by cause, ascending
  std::array<Series, 4> series_;   // the latest ones; a consumer without a name is none
  std::size_t next_series_ = 0;
};

}  // namespace onceward
