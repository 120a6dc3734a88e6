#pragma once

#include "apps/checker/proof.h"

namespace checker {

// For people, on stdout; in colours on a terminal, unless NO_COLOR says otherwise.
void print_table(const Proof& proof, bool naive);
// One object, on stdout.
void print_json(const Proof& proof);

}  // namespace checker
