// SHA-256. Each thread reuses one context, so that a digest costs no allocation after the thread's first.
#pragma once

#include <array>
#include <initializer_list>
#include <string_view>

namespace onceward {

using Digest = std::array<unsigned char, 32>;

Digest sha256(std::string_view bytes);

// Over the fields in order, each after its length as 32 bits, big endian: ("ab", "c") and ("a", "bc") differ.
// A field is shorter than 4 GiB; longer is a mistake of the caller's and ends the process.
Digest sha256_of_fields(std::initializer_list<std::string_view> fields);

}  // namespace onceward
