// A user's SQL cut into words and marks, as far as that can be done without knowing the store: comments and white space
// are left out, and what stands in quotes is one token.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace onceward {

struct SqlToken {
  enum class Kind : std::uint8_t {
    word,  // in lower case: a keyword or a name
    name,  // a name in quotes, without them
    text,  // a string, also between dollars; what it holds is not kept
    number,
    parameter,  // $1
    mark,       // one character
  };
  Kind kind;
  std::string text;

  bool is_word(std::string_view word) const { return kind == Kind::word && text == word; }
  bool is_mark(char c) const { return kind == Kind::mark && text.front() == c; }
};

// What is not closed ends with the text.
std::vector<SqlToken> sql_tokens(std::string_view sql);

}  // namespace onceward
