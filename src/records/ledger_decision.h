// What a person decides of one call: that it may be made, that it may not, or what has become of it. One transaction each,
// with the state it comes from, who and why in the audit. Throws Fault; std::invalid_argument where a text cannot be kept.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "src/records/ledger.h"

namespace onceward::records {

struct Decision {
  std::int64_t number = 0;
  std::string who;
  std::string why;
};

enum class Decided : std::uint8_t {
  yes,           // committed
  no_such_call,  // no row has the number
  other_state,   // the call is not in the state that the decision is about
  same_person,   // whoever asked for a call, or let it go again, cannot approve it
};

// Waiting -> approved for `lifetime`: it goes out at once, or when its time comes. Names that differ only in case or in
// spaces around them are one person. The audit has both names.
Decided approve_call(Store& store, const Decision& decision, std::chrono::seconds lifetime);
// Waiting -> refused, for good.
Decided refuse_call(Store& store, const Decision& decision);

enum class Found : std::uint8_t { done, not_done };
// Unknown -> succeeded, with the other side's reference if there is one; or, not done, made anew as by a retry.
Decided resolve_call(Store& store, const Decision& decision, Found found, const std::string& external_ref);

// Whether two names are one person's.
bool same_person(std::string_view one, std::string_view other);

inline constexpr std::size_t most_reference_bytes = 255;
inline constexpr std::chrono::seconds longest_approval = std::chrono::hours(24 * 365);

}  // namespace onceward::records
