#pragma once

namespace onceward {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace onceward
