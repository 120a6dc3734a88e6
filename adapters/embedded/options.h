#pragma once

#include <string>
#include <utility>

#include "onceward/adapter/embedded.h"

namespace onceward::embedded {

// Throws Fault(source_refused) for what passes a limit.
void check(const EmbeddedOptions& options);

inline Fault refused(std::string message) {
  return {FaultCode::source_refused, Poisons::connection, std::move(message)};
}

}  // namespace onceward::embedded
