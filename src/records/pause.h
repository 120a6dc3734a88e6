// Targets of the relay that a person has stopped. What is for them stays in the outbox; the rest goes on. Throws Fault.
#pragma once

#include <string>
#include <vector>

#include "onceward/port/store.h"
#include "src/records/audit.h"

namespace onceward::records {

inline constexpr std::size_t most_target_bytes = 255;

struct Pause {
  std::string target;
  Timestamp at;
  std::string who;
  std::string why;
};

// By target.
std::vector<Pause> list_pauses(Store& store);

// Audited in the same transaction, as outbox.pause and outbox.resume. Every relay of the store sees it at its next look. Throw
// std::invalid_argument for a name that cannot be kept. The store knows no targets: any name is taken.
// False: it was paused already, by whoever list_pauses() names.
bool pause_target(Store& store, const std::string& target, const std::string& who, const std::string& why);
// False: it was not paused.
bool resume_target(Store& store, const std::string& target, const std::string& who, const std::string& why);

}  // namespace onceward::records
