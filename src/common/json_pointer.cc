#include "src/common/json_pointer.h"

#include <charconv>

#include "src/common/utf8.h"

namespace onceward {
namespace {

std::variant<const JsonNode*, NoSuchNode, Reason> member(const JsonDocument& document, std::uint32_t object,
                                                         std::string_view name) {
  const JsonNode* found = nullptr;
  std::string scratch;
  for (std::uint32_t at = object + 1; at < document.nodes[object].next; at = document.nodes[at + 1].next) {
    if (text_of(document, document.nodes[at], scratch) != name) continue;
    if (found) return Reason::duplicate_field;
    found = &document.nodes[at + 1];
  }
  if (!found) return NoSuchNode{};
  return found;
}

std::variant<const JsonNode*, NoSuchNode, Reason> element(const JsonDocument& document, std::uint32_t array,
                                                          std::string_view token) {
  const auto wanted = array_index(token);
  if (!wanted) return NoSuchNode{};
  std::uint32_t index = 0;
  for (std::uint32_t at = array + 1; at < document.nodes[array].next; at = document.nodes[at].next) {
    if (index++ == *wanted) return &document.nodes[at];
  }
  return NoSuchNode{};
}

}  // namespace

std::optional<std::vector<std::string>> pointer_tokens(std::string_view pointer) {
  std::vector<std::string> tokens;
  if (pointer.empty()) return tokens;
  if (pointer[0] != '/' || !valid_utf8(pointer)) return std::nullopt;
  for (std::size_t at = 0; at < pointer.size(); ++at) {
    if (pointer[at] == '/') {
      tokens.emplace_back();
    } else if (pointer[at] == '~') {
      const std::string_view escape = pointer.substr(at, 2);
      if (escape != "~0" && escape != "~1") return std::nullopt;
      tokens.back() += escape == "~0" ? '~' : '/';
      ++at;
    } else {
      tokens.back() += pointer[at];
    }
  }
  return tokens;
}

std::optional<std::uint32_t> array_index(std::string_view token) {
  if (token.empty() || (token.size() > 1 && token[0] == '0')) return std::nullopt;
  std::uint32_t index = 0;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), index);
  if (error != std::errc() || end != token.data() + token.size()) return std::nullopt;
  return index;
}

std::variant<const JsonNode*, NoSuchNode, Reason> find(const JsonDocument& document,
                                                       std::span<const std::string> pointer) {
  const JsonNode* node = &document.nodes[0];
  for (const std::string& token : pointer) {
    const auto index = static_cast<std::uint32_t>(node - document.nodes.data());
    std::variant<const JsonNode*, NoSuchNode, Reason> step = NoSuchNode{};
    if (node->kind == JsonKind::object) step = member(document, index, token);
    if (node->kind == JsonKind::array) step = element(document, index, token);
    if (!std::holds_alternative<const JsonNode*>(step)) return step;
    node = std::get<const JsonNode*>(step);
  }
  return node;
}

}  // namespace onceward
