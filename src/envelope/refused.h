#pragma once

#include <string>
#include <string_view>

#include "onceward/envelope.h"

namespace onceward {

inline Refusal refused(Reason reason, std::string_view field) { return {reason, std::string(field)}; }

}  // namespace onceward
