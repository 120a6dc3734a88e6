// Our ledger beside the lists of those that are called.
#pragma once

#include <string>

#include "apps/cli/command.h"
#include "apps/cli/stores.h"

namespace onceward::cli {

// Of one endpoint of the application file, or of all that declare a list. Prints each difference; any of them ends the session
// with "conflict". Changes nothing.
void compare_with_lists(Session& session, const StoreChoice& choice, Timestamp since, const std::string& endpoint);

}  // namespace onceward::cli
