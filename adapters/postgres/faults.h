// What libpq and the server tell us, as Faults: by SQLSTATE, never by the text of a message.
#pragma once

#include <libpq-fe.h>

#include <optional>
#include <string>
#include <string_view>

#include "onceward/fault.h"
#include "onceward/identity.h"

namespace onceward::postgres {

// Whose statement it was: a missing table is our schema's in one case and the user's own business in the other, and a
// refusal to write is no standby's where nothing was to be written.
enum class Whose { ours, users, readers };

Fault fault_of(const PGresult* result, Whose whose);
// The fact or call that was refused by a constraint of our own tables, where the server names it.
std::optional<Key> staged_row_of(const PGresult* result);
// The connection is lost, or was never there.
Fault fault_of(PGconn* connection, const std::string& where);
Fault no_answer(const std::string& where);

}  // namespace onceward::postgres
