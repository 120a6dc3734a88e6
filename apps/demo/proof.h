// Has the independent checker look at a run. It is another program, which shares no code with this one.
#pragma once

#include <nlohmann/json.hpp>

#include "apps/demo/run_directory.h"

namespace onceward::demo {

// The program.
std::string checker();

// Lets it print its table. Whether every line holds.
bool print_proof(const Run& run);
// What it found, as its `-o json` says.
nlohmann::json read_proof(const Run& run);

}  // namespace onceward::demo
