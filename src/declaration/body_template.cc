#include "src/declaration/body_template.h"

#include <fmt/format.h>

#include <optional>

#include "src/common/json.h"
#include "src/declaration/rules.h"
#include "src/declaration/text_template.h"

namespace onceward::declaration {
namespace {

// Walks over a checked document, and cuts it where a text holds a name.
class Cutter {
 public:
  explicit Cutter(const JsonDocument& document) : document_(document) {}

  // What is wrong with a text in it, or nothing.
  std::optional<std::string> cut(BodyTemplate& into) {
    if (auto wrong = visit(0)) return wrong;
    add_json(document_.text.substr(done_));
    into.pieces = std::move(pieces_);
    return std::nullopt;
  }

 private:
  // As deep as the document's limit.
  std::optional<std::string> visit(std::uint32_t index) {
    const JsonNode& node = document_.nodes[index];
    if (node.kind == JsonKind::string) return replace(node);
    const bool object = node.kind == JsonKind::object;
    if (!object && node.kind != JsonKind::array) return std::nullopt;
    for (std::uint32_t child = index + 1; child < node.next; child = document_.nodes[child].next) {
      if (object) child = document_.nodes[child].next;  // from the key to its value
      if (auto wrong = visit(child)) return wrong;
    }
    return std::nullopt;
  }

  std::optional<std::string> replace(const JsonNode& node) {
    auto read = read_template(text_of(document_, node, scratch_));
    if (auto* const wrong = std::get_if<1>(&read)) return fmt::format("a text in it {}", *wrong);
    const TextTemplate& text = std::get<0>(read);
    add_json(document_.text.substr(done_, node.begin - done_));
    done_ = node.begin + node.size;
    if (is_one_name(text)) {
      pieces_.push_back({BodyPiece::Kind::value, text.front().text});
      return std::nullopt;
    }
    std::string json = "\"";
    for (const TemplatePiece& piece : text) {
      if (!piece.is_name) {
        append_inside(json, piece.text);
        continue;
      }
      add_json(json);
      json.clear();
      pieces_.push_back({BodyPiece::Kind::in_text, piece.text});
    }
    add_json(json + '"');
    return std::nullopt;
  }

  void add_json(std::string_view json) {
    if (json.empty()) return;
    if (pieces_.empty() || pieces_.back().kind != BodyPiece::Kind::json) pieces_.push_back({});
    pieces_.back().text += json;
  }

  const JsonDocument& document_;
  std::vector<BodyPiece> pieces_;
  std::size_t done_ = 0;
  std::string scratch_;
};

}  // namespace

std::variant<BodyTemplate, std::string> read_body_template(std::string_view body) {
  if (body == payload_template) return BodyTemplate{.payload = true};
  if (body.size() > most_body_template_bytes)
    return fmt::format("has {} bytes, more than {}", body.size(), most_body_template_bytes);
  const auto parsed = parse_json(body, JsonDepth{.limit = most_body_template_depth});
  if (const auto* const reason = std::get_if<Reason>(&parsed)) return fmt::format("is no JSON: {}", code(*reason));
  BodyTemplate read;
  if (auto wrong = Cutter(std::get<JsonDocument>(parsed)).cut(read)) return *wrong;
  return read;
}

void append_inside(std::string& json, std::string_view text) {
  std::string quoted;
  append_json_string(quoted, text);
  json.append(quoted, 1, quoted.size() - 2);
}

}  // namespace onceward::declaration
