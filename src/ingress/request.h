// What a request must be before anything is asked of the store.
#pragma once

#include <algorithm>
#include <optional>
#include <string_view>

#include "onceward/ingress.h"
#include "src/ingress/problem.h"

namespace onceward::ingress {

inline constexpr std::size_t most_name_bytes = 255;  // of a key, a principal, an operation, a content type

inline bool is_printable(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= 0x20 && c < 0x7f; });
}

std::optional<Problem> wrong_with(const IngressRequest& request, const IngressOptions& options);

}  // namespace onceward::ingress
