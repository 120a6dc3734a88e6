// Our records of calls beside the other side's own list of them: what is missing there, what is there and not ours, and where
// the two say different things.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "onceward/port/endpoint.h"
#include "src/records/ledger.h"

namespace onceward::records {

struct Difference {
  enum class Kind : std::uint8_t {
    missing,    // we say succeeded, and they do not have it
    extra,      // they have it, and we have no such key, or not so often
    differing,  // they have it and we do not say succeeded; or its references differ
  };
  Kind kind = Kind::missing;
  std::string key;
  std::int64_t number = 0;  // of our row; 0: there is none
  std::string our_state;
  std::string our_reference;
  std::string their_reference;
  std::string what;  // for people
};
std::string_view name(Difference::Kind kind);

struct Comparison {
  std::vector<Difference> differences;  // missing, extra, then differing; each by key
  std::int64_t equal = 0;               // on both sides, and the same

  std::int64_t count(Difference::Kind kind) const;
};

// `ours` are the calls to one endpoint that were first attempted at `since` or later, and all whose keys are in `theirs`. What
// we say has succeeded is missing only if it was first attempted since then, as what is older they were not asked for, and had
// succeeded when they were asked. A reference that one side does not have is no difference.
Comparison compare(std::span<const LedgerRow> ours, std::span<const EndpointRecord> theirs, Timestamp since,
                   Timestamp asked_at = Timestamp::max());

// By the clock of the store, as the rows are.
Timestamp time_of(Store& store);

// Those of ours that compare() asks for, read page by page. `go_on` is told how many rows were looked at; false ends it. Throws
// Fault.
std::vector<LedgerRow> read_calls_to_compare(Store& store, const std::string& endpoint, Timestamp since,
                                             std::span<const EndpointRecord> theirs,
                                             const std::function<bool(std::int64_t)>& go_on = {});

}  // namespace onceward::records
