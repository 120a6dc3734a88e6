// What stands in the JSON of an answer.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace onceward::http {

using Pointer = std::vector<std::string>;  // its tokens

inline constexpr std::size_t most_text_bytes = 1024;

// The text, number or boolean that the pointer names, as text. Nothing where there is none, where the answer is no JSON, and for a
// text that is empty, longer than most_text_bytes or has control characters in it: no other side means such a one.
std::optional<std::string> text_at(std::string_view json, const Pointer& pointer);
// As text_at(), and "null", "[]" and "{}" for what is null or empty.
std::optional<std::string> value_at(std::string_view json, const Pointer& pointer);
// The elements of the array that the pointer names, as they are written; nothing where there is none.
std::optional<std::vector<std::string_view>> elements_at(std::string_view json, const Pointer& pointer);

}  // namespace onceward::http
