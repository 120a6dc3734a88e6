#include "src/declaration/text_template.h"

#include <algorithm>

#include "src/common/digits.h"

namespace onceward::declaration {
namespace {

bool is_small_letter(char c) { return c >= 'a' && c <= 'z'; }
bool is_template_name(std::string_view text) {
  const auto allowed = [](char c) { return is_small_letter(c) || is_digit(c) || c == '_'; };
  return !text.empty() && is_small_letter(text.front()) && std::ranges::all_of(text, allowed);
}

void add_text(TextTemplate& pieces, std::string_view text) {
  if (text.empty()) return;
  if (pieces.empty() || pieces.back().is_name) pieces.push_back({});
  pieces.back().text += text;
}

}  // namespace

std::variant<TextTemplate, std::string> read_template(std::string_view text) {
  TextTemplate pieces;
  while (!text.empty()) {
    const std::size_t brace = std::min(text.find_first_of("{}"), text.size());
    add_text(pieces, text.substr(0, brace));
    text.remove_prefix(brace);
    if (text.starts_with("{{") || text.starts_with("}}")) {
      add_text(pieces, text.substr(0, 1));
      text.remove_prefix(2);
    } else if (text.starts_with('}')) {
      return "has a } that closes nothing";
    } else if (text.starts_with('{')) {
      const std::size_t end = text.find('}');
      if (end == text.npos) return "has a { that is not closed";
      if (!is_template_name(text.substr(1, end - 1))) return "has no name between { and }";
      pieces.push_back({true, std::string(text.substr(1, end - 1))});
      text.remove_prefix(end + 1);
    }
  }
  return pieces;
}

}  // namespace onceward::declaration
