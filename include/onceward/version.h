#pragma once

#include <string_view>

namespace onceward {

// The version of the linked library, e.g. "0.1.0". Lives as long as the process.
std::string_view version();

}  // namespace onceward
