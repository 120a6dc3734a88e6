// Our JSON reader against simdjson's DOM, which checks everything: they accept the same texts, except for numbers that
// DOM cannot hold and for half a surrogate pair.
#include <simdjson.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "src/common/json.h"
#include "tests/fuzz/require.h"

namespace once = onceward;

namespace {

void require_nested(const once::JsonDocument& document) {
  for (std::size_t at = 0; at < document.nodes.size(); ++at) {
    const once::JsonNode& node = document.nodes[at];
    ONCEWARD_REQUIRE(node.size > 0 && std::size_t{node.begin} + node.size <= document.text.size());
    ONCEWARD_REQUIRE(node.next > at && node.next <= document.nodes.size());
    const char last = document.raw(node).back();
    if (node.kind == once::JsonKind::object) ONCEWARD_REQUIRE(last == '}');
    if (node.kind == once::JsonKind::array) ONCEWARD_REQUIRE(last == ']');
    if (node.kind == once::JsonKind::string) ONCEWARD_REQUIRE(node.size >= 2 && last == '"');
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const once::Bytes bytes = once::Bytes::copy_of(text);
  const auto ours = once::parse_json(bytes, {.limit = 64});
  const bool accepted = std::holds_alternative<once::JsonDocument>(ours);
  if (accepted) require_nested(std::get<once::JsonDocument>(ours));

  simdjson::dom::parser parser;
  const simdjson::error_code error = parser.parse(simdjson::padded_string(text)).error();
  if (accepted) {
    ONCEWARD_REQUIRE(error == simdjson::SUCCESS || error == simdjson::NUMBER_ERROR);
  } else if (error == simdjson::SUCCESS) {
    const once::Reason reason = std::get<once::Reason>(ours);
    ONCEWARD_REQUIRE(reason == once::Reason::too_deep || reason == once::Reason::invalid_utf8);
  }
  const auto shallow = once::parse_json(text, {.limit = 64, .recorded = 1});
  ONCEWARD_REQUIRE(std::holds_alternative<once::JsonDocument>(shallow) == accepted);
  return 0;
}
