// What the demo itself says, before and after the checker speaks.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "apps/demo/run_directory.h"
#include "apps/demo/supervisor.h"

namespace onceward::demo {

void print_beginning(const Run& run, const std::string& store);
void print_what_was_done(const Run& run, const Supervised& supervised);
void print_end(const Run& run, bool holds);

// One object on stdout.
void print_json(const Run& run, const Supervised& supervised, const nlohmann::json& proof);

}  // namespace onceward::demo
