// The row of one request in the table of ingress. It is in flight while its status is 0: one owner's until the lease ends, by the
// store's clock. The owner is a word that no other request has, so only whoever holds the row can complete it: that is the fence.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "onceward/ingress.h"
#include "onceward/port/store.h"
#include "src/records/statement.h"

namespace onceward::ingress {

struct Found {
  enum class State : std::uint8_t { ours, done, in_flight, other_request };
  State state = State::ours;
  IngressAnswer answer{};             // of one that is done
  std::chrono::microseconds left{0};  // of the lease of one that is in flight
};

class Reservation {
 public:
  // The request must outlive it.
  Reservation(Dialect dialect, const IngressRequest& request, const IngressOptions& options);

  // What is there, without waiting for anybody; nothing where the key may be taken.
  std::optional<Found> look(Look& look) const;
  // Takes the key where it is free, or where whoever had it has fallen silent or its answer has expired; else tells what is
  // there. May be run again after a commit in doubt.
  Found take(Transaction& transaction) const;
  // Keeps the answer. False if the row is no longer ours: nothing of the unit may be committed then.
  bool complete(Transaction& transaction, const IngressAnswer& answer) const;
  // Waits for whatever unit holds the row, then says whether it was completed by us, is still ours, or neither.
  enum class Held : std::uint8_t { completed, reserved, lost };
  Held held(Transaction& transaction) const;
  // Unless it is completed, or no longer ours: forgets it, or ends its lease. The latter leaves the key to the same request.
  void forget(Transaction& transaction) const;
  void end_lease(Transaction& transaction) const;

 private:
  template <class Asked>
  std::optional<Found> read(Asked& asked) const;
  void add_free(records::Statement& statement) const;
  bool insert(Transaction& transaction) const;
  bool take_over(Transaction& transaction) const;
  Blob hash() const { return {{reinterpret_cast<const char*>(hash_.bytes.data()), hash_.bytes.size()}}; }

  const Dialect dialect_;
  const IngressRequest& request_;
  const IngressOptions& options_;
  const Key key_;
  PayloadHash hash_;
  const std::string owner_;
};

std::int64_t forget_expired(Transaction& transaction, Dialect dialect, std::int64_t most);

}  // namespace onceward::ingress
