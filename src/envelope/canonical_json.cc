#include "src/envelope/canonical_json.h"

#include <algorithm>
#include <forward_list>
#include <vector>

#include "src/common/json_pointer.h"

namespace onceward {
namespace {

class CanonicalWriter {
 public:
  CanonicalWriter(const JsonDocument& document, std::vector<std::uint32_t> left_out)
      : document_(document), left_out_(std::move(left_out)) {}

  // Depth is bounded by the parser's limit.
  std::optional<Reason> write(std::uint32_t at, std::string& out) {
    const JsonNode& node = document_.nodes[at];
    switch (node.kind) {
      case JsonKind::object:
        return object(at, out);
      case JsonKind::array:
        return array(at, out);
      case JsonKind::string:
        append_json_string(out, text(node));
        return std::nullopt;
      default:
        out += document_.raw(node);
        return std::nullopt;
    }
  }

  bool is_left_out(std::uint32_t at) const {
    return std::find(left_out_.begin(), left_out_.end(), at) != left_out_.end();
  }

 private:
  struct Member {
    std::string_view name;
    std::uint32_t value;
  };

  std::optional<Reason> object(std::uint32_t object_at, std::string& out) {
    std::vector<Member> members;
    for (std::uint32_t at = object_at + 1; at < document_.nodes[object_at].next; at = document_.nodes[at + 1].next) {
      members.push_back({text(document_.nodes[at]), at + 1});
    }
    std::sort(members.begin(), members.end(), [](const Member& a, const Member& b) { return a.name < b.name; });
    const auto twice = std::adjacent_find(members.begin(), members.end(),
                                          [](const Member& a, const Member& b) { return a.name == b.name; });
    if (twice != members.end()) return Reason::duplicate_field;
    out += '{';
    bool first = true;
    for (const Member& member : members) {
      if (is_left_out(member.value)) continue;
      if (!first) out += ',';
      first = false;
      append_json_string(out, member.name);
      out += ':';
      if (const auto failed = write(member.value, out)) return failed;
    }
    out += '}';
    return std::nullopt;
  }

  std::optional<Reason> array(std::uint32_t array_at, std::string& out) {
    out += '[';
    bool first = true;
    for (std::uint32_t at = array_at + 1; at < document_.nodes[array_at].next; at = document_.nodes[at].next) {
      if (is_left_out(at)) continue;
      if (!first) out += ',';
      first = false;
      if (const auto failed = write(at, out)) return failed;
    }
    out += ']';
    return std::nullopt;
  }

  std::string_view text(const JsonNode& node) {
    if (!node.escaped) return document_.inside(node);
    std::string& unescaped = unescaped_.emplace_front();
    append_unescaped(unescaped, document_.inside(node));
    return unescaped;
  }

  const JsonDocument& document_;
  std::vector<std::uint32_t> left_out_;
  std::forward_list<std::string> unescaped_;
};

}  // namespace

std::variant<std::string, Reason> canonical_json(const JsonDocument& document,
                                                 std::span<const std::string> volatile_fields) {
  std::vector<std::uint32_t> left_out;
  for (const std::string& pointer : volatile_fields) {
    const auto tokens = pointer_tokens(pointer);
    if (!tokens) continue;
    const auto found = find(document, *tokens);
    if (const Reason* reason = std::get_if<Reason>(&found)) return *reason;
    if (const auto* node = std::get_if<const JsonNode*>(&found)) {
      left_out.push_back(static_cast<std::uint32_t>(*node - document.nodes.data()));
    }
  }
  CanonicalWriter writer(document, std::move(left_out));
  std::string out;
  if (writer.is_left_out(0)) return out;
  if (const auto failed = writer.write(0, out)) return *failed;
  return out;
}

}  // namespace onceward
