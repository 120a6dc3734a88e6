#include "adapters/http/answer.h"

#include <algorithm>

#include "src/common/json_pointer.h"

namespace onceward::http {
namespace {

constexpr JsonDepth depth{.limit = 64};

const JsonNode* node_at(const std::variant<JsonDocument, Reason>& read, const Pointer& pointer) {
  const auto* const document = std::get_if<JsonDocument>(&read);
  if (document == nullptr) return nullptr;
  const auto found = find(*document, pointer);
  const auto* const node = std::get_if<const JsonNode*>(&found);
  return node == nullptr ? nullptr : *node;
}

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

std::optional<std::string> text_of_node(const JsonDocument& document, const JsonNode& node) {
  std::string scratch;
  std::string_view text;
  switch (node.kind) {
    case JsonKind::string:
      text = text_of(document, node, scratch);
      break;
    case JsonKind::number:
    case JsonKind::boolean:
      text = document.raw(node);
      break;
    default:
      return std::nullopt;
  }
  if (text.empty() || text.size() > most_text_bytes || std::ranges::any_of(text, is_control)) return std::nullopt;
  return std::string(text);
}

// The word for what is null, or has nothing in it.
std::optional<std::string> emptiness_of(const JsonDocument& document, const JsonNode& node) {
  const bool empty = document.nodes.data() + node.next == &node + 1;
  switch (node.kind) {
    case JsonKind::null:
      return "null";
    case JsonKind::array:
      return empty ? std::optional<std::string>("[]") : std::nullopt;
    case JsonKind::object:
      return empty ? std::optional<std::string>("{}") : std::nullopt;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<std::string> text_at(std::string_view json, const Pointer& pointer) {
  const auto read = parse_json(json, depth);
  const JsonNode* const node = node_at(read, pointer);
  return node == nullptr ? std::nullopt : text_of_node(std::get<JsonDocument>(read), *node);
}

std::optional<std::string> value_at(std::string_view json, const Pointer& pointer) {
  const auto read = parse_json(json, depth);
  const JsonNode* const node = node_at(read, pointer);
  if (node == nullptr) return std::nullopt;
  const auto& document = std::get<JsonDocument>(read);
  auto word = emptiness_of(document, *node);
  return word ? std::move(word) : text_of_node(document, *node);
}

std::optional<std::vector<std::string_view>> elements_at(std::string_view json, const Pointer& pointer) {
  const auto read = parse_json(json, depth);
  const JsonNode* const array = node_at(read, pointer);
  if (array == nullptr || array->kind != JsonKind::array) return std::nullopt;
  const auto& document = std::get<JsonDocument>(read);
  const auto index = static_cast<std::uint32_t>(array - document.nodes.data());
  std::vector<std::string_view> elements;
  for (std::uint32_t at = index + 1; at < array->next; at = document.nodes[at].next) {
    elements.push_back(document.raw(document.nodes[at]));
  }
  return elements;
}

}  // namespace onceward::http
