// The tables of a run, and what is removed of it in a database that goes on living.
#pragma once

#include "apps/demo/run_directory.h"
#include "onceward/port/store.h"

namespace onceward::demo {

// Brings Onceward's tables up to date and makes those of the run. Throws Fault.
void make_tables(Store& store, const Run& run);

// Drops the tables of the run, and removes the rows of its consumer from Onceward's. Throws Fault.
void remove_tables(Store& store, const Run& run);

}  // namespace onceward::demo
