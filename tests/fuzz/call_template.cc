// Any text as the template of a body: refused, or cut into pieces that make JSON again whatever their names stand for; and any
// text as the template of a key: refused, or put together again to what was written.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "src/common/json.h"
#include "src/declaration/body_template.h"
#include "src/declaration/rules.h"
#include "src/declaration/text_template.h"
#include "tests/fuzz/require.h"

namespace once = onceward;
namespace declaration = onceward::declaration;

namespace {

void try_body(std::string_view text) {
  const auto read = declaration::read_body_template(text);
  if (read.index() == 1 || std::get<0>(read).payload) return;
  using Kind = declaration::BodyPiece::Kind;
  for (const char* const value : {"\"a\\\"{\\n\"", "null", "-1.50"}) {
    std::string body;
    for (const declaration::BodyPiece& piece : std::get<0>(read).pieces) {
      if (piece.kind == Kind::json) body += piece.text;
      if (piece.kind == Kind::value) body += value;
      if (piece.kind == Kind::in_text) declaration::append_inside(body, value);
    }
    const auto parsed = once::parse_json(std::string_view(body), {.limit = declaration::most_body_template_depth});
    ONCEWARD_REQUIRE(std::holds_alternative<once::JsonDocument>(parsed));
  }
}

void try_text(std::string_view text) {
  const auto read = declaration::read_template(text);
  if (read.index() == 1) return;
  std::string again;
  bool after_text = false;
  for (const declaration::TemplatePiece& piece : std::get<0>(read)) {
    ONCEWARD_REQUIRE(!piece.text.empty() && (piece.is_name || !after_text));
    after_text = !piece.is_name;
    if (piece.is_name) {
      again += '{' + piece.text + '}';
      continue;
    }
    for (const char c : piece.text) again += c == '{' || c == '}' ? std::string(2, c) : std::string(1, c);
  }
  ONCEWARD_REQUIRE(again == text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try_body(text);
  try_text(text);
  return 0;
}
