// UUIDs as text, RFC 9562: 8-4-4-4-12 hexadecimal digits in either case, nothing around them.
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace onceward {

std::optional<std::array<unsigned char, 16>> read_uuid(std::string_view text);

}  // namespace onceward
