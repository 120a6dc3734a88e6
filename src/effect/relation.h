// What a relation must be before a store is asked to read it.
#pragma once

#include <cstddef>

#include "onceward/transaction.h"

namespace onceward {

inline constexpr std::size_t most_relation_columns = 96;  // those of every message, and 64 declared fields

// The number of rows. Throws Fault where a name is no identifier, columns differ in length, there are none or too many,
// or a scale is out of range.
std::size_t checked_rows(const Relation& relation);

}  // namespace onceward
