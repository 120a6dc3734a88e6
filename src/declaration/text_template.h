// A text in which names stand for what a message or a call brings:
//
//   template = *( character / "{{" / "}}" / "{" name "}" )
//   name     = a lower-case letter, then lower-case letters, digits and '_'
//
// "{{" and "}}" are the braces themselves.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace onceward::declaration {

struct TemplatePiece {
  bool is_name = false;
  std::string text;  // as it is, or the name
  friend bool operator==(const TemplatePiece&, const TemplatePiece&) = default;
};
// What stands for itself in the texts of a declared call, before the declared fields.
inline constexpr std::array<std::string_view, 5> message_names{"message_id", "business_key", "aggregate_id", "type",
                                                               "tenant"};

// No two texts follow one another, and none is empty.
using TextTemplate = std::vector<TemplatePiece>;

// Else what is wrong with it; repeats nothing of the text.
std::variant<TextTemplate, std::string> read_template(std::string_view text);

// Whether it is one name and nothing else.
inline bool is_one_name(const TextTemplate& pieces) { return pieces.size() == 1 && pieces.front().is_name; }

}  // namespace onceward::declaration
