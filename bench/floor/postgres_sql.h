// The statements that several shapes on PostgreSQL share: set-wise over a batch, and one by one.
#pragma once

#include <span>
#include <string>

#include "bench/floor/identity.h"
#include "bench/floor/wire.h"

namespace onceward::bench {

// claim_one, look_up_one, payment_one, balance_one and outbox_one.
void prepare_one_by_one(Wire& wire);

// The effects of a batch, one statement a table.
class SetWiseEffects {
 public:
  explicit SetWiseEffects(std::int32_t consumer, bool outbox = true) : consumer_(binary(consumer)), stages_(outbox) {}
  void prepare(Wire& wire);
  // Sends those of the first messages; returns how many statements that were.
  int send(Wire& wire, const Workload& work, std::span<const Identity> identities);
  std::string_view consumer() const { return consumer_; }

 private:
  std::string consumer_;
  bool stages_;
  Array accounts_{Type::int8}, amounts_{Type::int8}, messages_{Type::text};
  Array folded_accounts_{Type::int8}, folded_amounts_{Type::int8}, folded_versions_{Type::int8};
  Array causes_{Type::uuid}, versions_{Type::int8}, routes_{Type::text}, payloads_{Type::bytea};
  Folded folded_;
};

}  // namespace onceward::bench
