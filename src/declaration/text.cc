#include "src/declaration/text.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/common/digits.h"
#include "src/common/json_pointer.h"
#include "src/common/utf8.h"

namespace onceward::declaration {
namespace {

constexpr std::size_t most_excerpt_bytes = 64;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }
bool is_name_character(char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '-' || c == '.'; }
bool is_word_character(char c) { return is_name_character(c) || c == '/' || c == '(' || c == ')'; }

}  // namespace

std::string excerpt(std::string_view text) {
  const bool plain = !text.empty() && text.size() <= most_excerpt_bytes && std::ranges::all_of(text, is_word_character);
  return plain ? std::string(text) : "\"...\"";
}

std::string in_quotes(std::string_view text) {
  const std::string shown = excerpt(text);
  return shown == text ? '"' + shown + '"' : "this value";
}

std::optional<std::string> wrong_with_text(std::string_view text, std::size_t most_bytes) {
  if (text.empty()) return "is empty";
  if (text.size() > most_bytes) return fmt::format("has {} bytes, more than {}", text.size(), most_bytes);
  if (std::ranges::any_of(text, is_control)) return "holds a control character";
  if (!valid_utf8(text)) return "is not UTF-8";
  if (text.front() == ' ' || text.back() == ' ') return "has a space at an end";
  return std::nullopt;
}

std::optional<std::string> wrong_with_name(std::string_view name) {
  if (name.empty()) return "is empty";
  if (name.size() > most_name_bytes) return fmt::format("has {} bytes, more than {}", name.size(), most_name_bytes);
  if (!is_letter(name.front()) || !std::ranges::all_of(name, is_name_character))
    return "is not a letter followed by letters, digits, '_', '-' or '.'";
  return std::nullopt;
}

std::optional<std::string> wrong_with_pointer(std::string_view pointer) {
  if (auto wrong = wrong_with_text(pointer, most_pointer_bytes)) return wrong;
  if (pointer.front() != '/') return "does not begin with '/'";
  const auto tokens = pointer_tokens(pointer);
  if (!tokens) return "has a '~' that is not followed by 0 or 1";
  if (tokens->size() > most_pointer_depth) return fmt::format("leads more than {} levels down", most_pointer_depth);
  return std::nullopt;
}

bool pointer_covers(std::string_view outer, std::string_view inner) {
  return inner.starts_with(outer) && (inner.size() == outer.size() || inner[outer.size()] == '/');
}

}  // namespace onceward::declaration
