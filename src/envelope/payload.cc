#include "src/envelope/payload.h"

#include <algorithm>
#include <string>

#include "onceward/envelope.h"
#include "src/common/json.h"
#include "src/common/utf8.h"

namespace onceward {

bool is_embeddable_json(std::string_view payload) {
  const auto parsed = parse_json(payload, {.limit = EnvelopeLimits{}.depth - 1, .recorded = 0});
  const JsonDocument* document = std::get_if<JsonDocument>(&parsed);
  return document && document->nodes[0].size == payload.size();
}

bool declares_json(std::string_view content_type) {
  if (content_type.empty()) return true;
  std::string type(content_type.substr(0, content_type.find(';')));
  while (!type.empty() && (type.back() == ' ' || type.back() == '\t')) type.pop_back();
  std::transform(type.begin(), type.end(), type.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  const std::size_t slash = type.find('/');
  if (slash == std::string::npos) return false;
  const std::string_view subtype = std::string_view(type).substr(slash + 1);
  return subtype == "json" || subtype.ends_with("+json");
}

bool is_text(std::string_view bytes) { return bytes.find('\0') == std::string_view::npos && valid_utf8(bytes); }

}  // namespace onceward
