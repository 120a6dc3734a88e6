// The work as three kinds of handler write it. What a handler knows of a message it takes from the workload, by the number
// in its envelope, and not by parsing: that would be the team's own cost. The SQL handler has nothing but declared fields.
#pragma once

#include "bench/work/workload.h"
#include "onceward/declaration.h"
#include "onceward/handler.h"

namespace onceward::bench {

// One in a hundred messages cannot succeed.
enum class Poison : std::uint8_t { none, throws, statement };
constexpr bool is_poison(Index message) { return message % 100 == 50; }

// As its source would have made it: views into the workload, with an owner of its own to be counted.
Envelope envelope_of(const Workload& work, Index message);
const Message& message_of(const Workload& work, const Envelope& envelope);

// The same messages, with an amount that is no number in those that are poison.
Workload with_ill_typed_fields(const Workload& work);

// Each borrows the workload.
Handler batch_handler(const Workload& work);
// Finds messages by their ids: those that came through a broker have no number.
Handler batch_handler_by_id(const Workload& work, const Numbers& numbers);
Handler message_handler(const Workload& work, Poison poison = Poison::none);
Handler sql_handler(const Workload& work);

// The fields that the SQL handler reads.
std::vector<FieldDeclaration> declared_fields();

}  // namespace onceward::bench
