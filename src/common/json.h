// JSON as a flat list of nodes over the text it was read from: simdjson finds the structure, every token is checked
// (simdjson's On-Demand leaves what is not asked for unchecked), and nothing is converted, so that a value can be taken
// over as the exact bytes it was sent as.
//
// A document's nodes belong to the calling thread and stand until its next parse_json.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "onceward/envelope.h"
#include "onceward/refusal.h"

namespace onceward {

enum class JsonKind : std::uint8_t { object, array, string, number, boolean, null };

struct JsonNode {
  std::uint32_t begin = 0;  // of its text, from its first byte
  std::uint32_t size = 0;   // to its last; a string's quotes included
  std::uint32_t next = 0;   // index of the node after this one and everything in it
  JsonKind kind = JsonKind::null;
  bool escaped = false;  // a string with a backslash in it
};

// Nodes in the order of the text; an object's are key, value, key, value. The first is the root.
struct JsonDocument {
  std::string_view text;
  std::span<const JsonNode> nodes;

  std::string_view raw(const JsonNode& node) const { return {text.data() + node.begin, node.size}; }
  // What stands between a string's quotes, escapes and all.
  std::string_view inside(const JsonNode& node) const { return {text.data() + node.begin + 1, node.size - 2}; }
};

inline constexpr std::size_t kDeepestJson = 512;  // whatever a limit says: the walk uses the stack

struct JsonDepth {
  std::size_t limit = 32;  // of objects and arrays inside one another; a scalar has none
  // Deeper containers are checked and get no nodes of what they hold.
  std::size_t recorded = std::numeric_limits<std::size_t>::max();
};

// One JSON value and nothing after it. A Reason is malformed_json, too_deep, too_large, invalid_utf8 (also for half a
// surrogate pair in an escape) or nul_in_text (a raw NUL). The document borrows the text.
std::variant<JsonDocument, Reason> parse_json(const Bytes& bytes, const JsonDepth& depth);
std::variant<JsonDocument, Reason> parse_json(std::string_view text, const JsonDepth& depth);

// Appends the text of the inside of a checked string.
void append_unescaped(std::string& out, std::string_view inside);
// Appends a quoted string in the one spelling that we write: only what must be escaped is, \u in lower case.
void append_json_string(std::string& out, std::string_view text);

// The text of a checked string; `scratch` holds it where it had escapes.
inline std::string_view text_of(const JsonDocument& document, const JsonNode& node, std::string& scratch) {
  if (!node.escaped) return document.inside(node);
  scratch.clear();
  append_unescaped(scratch, document.inside(node));
  return scratch;
}

}  // namespace onceward
