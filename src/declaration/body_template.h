// The body of a declared call: JSON in whose texts names stand for what a message brings, or the message's payload itself.
// A text that is one name becomes the value of that name; one that holds names stays a text. Keys are left as they are.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace onceward::declaration {

struct BodyPiece {
  enum class Kind : std::uint8_t {
    json,     // JSON text as it is, or a part of it
    value,    // the name of a JSON value
    in_text,  // the name of a text that stands inside of quotes
  };
  Kind kind = Kind::json;
  std::string text;
  friend bool operator==(const BodyPiece&, const BodyPiece&) = default;
};
struct BodyTemplate {
  bool payload = false;  // the exact bytes; then there are no pieces
  std::vector<BodyPiece> pieces{};
  friend bool operator==(const BodyTemplate&, const BodyTemplate&) = default;
};

inline constexpr std::string_view payload_template = "{payload}";

// Else what is wrong with it; repeats nothing of the text.
std::variant<BodyTemplate, std::string> read_body_template(std::string_view body);

// Appends text as it stands inside of JSON's quotes.
void append_inside(std::string& json, std::string_view text);

}  // namespace onceward::declaration
