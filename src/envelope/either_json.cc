// Bytes of which nobody says what they are: our JSON envelope or a CloudEvent.
#include <cstring>

#include "onceward/envelope.h"
#include "src/common/json.h"

namespace onceward {
namespace {

constexpr std::string_view mark = "specversion";

// Whether the text is an object with a member of that name; what is not JSON has none.
bool has_mark(const Bytes& bytes, const EnvelopeLimits& limits) {
  const std::string_view text = bytes.view();
  // Nearly every message is ours and has no such word anywhere: only one that has it is read twice.
  if (memmem(text.data(), text.size(), mark.data(), mark.size()) == nullptr) return false;
  const auto parsed = parse_json(bytes, {.limit = limits.depth, .recorded = 1});
  const auto* const document = std::get_if<JsonDocument>(&parsed);
  if (document == nullptr || document->nodes[0].kind != JsonKind::object) return false;
  for (std::uint32_t at = 1; at < document->nodes.size(); at = document->nodes[at + 1].next) {
    if (document->inside(document->nodes[at]) == mark) return true;
  }
  return false;
}

}  // namespace

ReadEnvelope read_envelope(const Bytes& bytes, const EnvelopeLimits& limits) {
  const bool readable = bytes.view().size() <= limits.message_bytes;
  return readable && has_mark(bytes, limits) ? read_cloudevent(bytes, limits) : read_json_envelope(bytes, limits);
}

}  // namespace onceward
