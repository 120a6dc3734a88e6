// What texts of a declaration must look like, and how they are shown in a message.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace onceward::declaration {

// As it is if it is short and a plain word; else a mark. What may hold a secret is never repeated: a URL is no word.
std::string excerpt(std::string_view text);
// The excerpt in quotes, or "this value".
std::string in_quotes(std::string_view text);

// Each answers what is wrong with the text, or nothing.

// Not empty, at most so many bytes of UTF-8, no control characters, no space at either end.
std::optional<std::string> wrong_with_text(std::string_view text, std::size_t most_bytes);
// A letter, then letters, digits, '_', '-' and '.': what stands in metrics, logs and commands without quotes.
std::optional<std::string> wrong_with_name(std::string_view name);
// RFC 6901, to something inside the payload.
std::optional<std::string> wrong_with_pointer(std::string_view pointer);

// Whether the second pointer leads to the same place as the first or to a place inside it.
bool pointer_covers(std::string_view outer, std::string_view inner);

inline constexpr std::size_t most_name_bytes = 100;
inline constexpr std::size_t most_text_bytes = 255;
inline constexpr std::size_t most_url_bytes = 2048;
inline constexpr std::size_t most_pointer_bytes = 1024;
inline constexpr std::size_t most_pointer_depth = 32;

}  // namespace onceward::declaration
