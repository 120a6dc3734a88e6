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
};

struct StagedCall {
  std::uint32_t cause;
  Key cause_key;
  Key key;  // of (tenant, endpoint, idempotency key)
  Call call;
  std::string_view tenant, correlation_id, trace_parent;
  PayloadHash request_hash;  // of the type and the body
};

class Staging {
 public:
  // Throws Fault(statement_failed) for what no store could write: NUL or invalid UTF-8 in a name, a unique fact that
  // lacks one of its four parts, a key that is empty or too long. Nothing is staged then.
  void add(const Cause& cause, const Outgoing& outgoing);
  void add(const Cause& cause, const Call& call);
  // Takes back what `cause` has staged; its ordinals begin anew.
  void forget(std::uint32_t cause);
  // The rows were written and are dropped; the transaction goes on, and so do the ordinals of its ids.
  void written();

  bool empty() const { return outgoing_.empty() && calls_.empty(); }
  std::span<const StagedOutgoing> outgoing() const { return outgoing_; }
  std::span<const StagedCall> calls() const { return calls_; }

 private:
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

  std::pmr::monotonic_buffer_resource arena_;
  std::vector<StagedOutgoing> outgoing_;
  std::vector<StagedCall> calls_;
  std::vector<Ordinal> ordinals_;  // by cause, ascending
  std::array<Series, 4> series_;   // the latest ones; a consumer without a name is none
  std::size_t next_series_ = 0;
};

}  // namespace onceward
