// UTF-8.
#pragma once

#include <string_view>

namespace onceward {

bool valid_utf8(std::string_view text);

}  // namespace onceward
