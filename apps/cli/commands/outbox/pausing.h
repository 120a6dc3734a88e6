// What pause and resume share, and how targets that are paused are shown.
#pragma once

#include <string>

#include "apps/cli/command.h"
#include "onceward/port/store.h"

namespace onceward::cli {

struct Pausing {
  std::string verb;
  bool pauses = true;
};
void add_pausing(CLI::App& parent, Session& session, const Pausing& pausing, const std::string& summary,
                 const std::string& example);

// To stderr; nothing if none is.
void show_pauses(Store& store);

}  // namespace onceward::cli
