#include "src/effect/field_places.h"

#include <algorithm>

#include "src/common/json_pointer.h"

namespace onceward {

FieldPlaces::FieldPlaces(std::span<const FieldDeclaration> fields) : places_(fields.size()) {
  for (std::uint32_t field = 0; field < fields.size(); ++field) {
    const auto tokens = pointer_tokens(fields[field].pointer).value_or(std::vector<std::string>());
    std::uint32_t step = 0;
    for (const std::string& token : tokens) step = step_after(step, token);
    steps_[step].fields.push_back(field);
    depth_ = std::max(depth_, tokens.size());
  }
}

std::uint32_t FieldPlaces::step_after(std::uint32_t step, const std::string& token) {
  for (const Way& way : steps_[step].ways) {
    if (way.token == token) return way.step;
  }
  const auto made = static_cast<std::uint32_t>(steps_.size());
  steps_[step].ways.push_back({token, array_index(token), made});
  steps_.emplace_back();
  return made;
}

std::span<const std::uint32_t> FieldPlaces::find(const JsonDocument& document) {
  std::fill(places_.begin(), places_.end(), nowhere);
  for (Step& step : steps_) step.seen = false;
  walk(document, 0, 0);
  return places_;
}

void FieldPlaces::walk(const JsonDocument& document, std::uint32_t step, std::uint32_t node) {
  const JsonNode* const nodes = document.nodes.data();
  const std::span<const Way> ways = steps_[step].ways;
  const std::uint32_t end = nodes[node].next;
  if (nodes[node].kind == JsonKind::object) {
    for (std::uint32_t at = node + 1; at < end; at = nodes[at + 1].next) {
      const std::string_view key = text_of(document, nodes[at], scratch_);
      for (const Way& way : ways) {
        if (way.token == key) {
          arrive(document, way.step, at + 1);
          break;
        }
      }
    }
  } else if (nodes[node].kind == JsonKind::array) {
    std::uint32_t index = 0;
    for (std::uint32_t at = node + 1; at < end; at = nodes[at].next, ++index) {
      for (const Way& way : ways) {
        if (way.index == index) arrive(document, way.step, at);
      }
    }
  }
}

void FieldPlaces::arrive(const JsonDocument& document, std::uint32_t step, std::uint32_t node) {
  Step& here = steps_[step];
  if (here.seen) return lose(step);
  here.seen = true;
  for (const std::uint32_t field : here.fields) places_[field] = node;
  if (!here.ways.empty()) walk(document, step, node);
}

// Which of two equal keys was meant is anyone's guess, for everything below them.
void FieldPlaces::lose(std::uint32_t step) {
  for (const std::uint32_t field : steps_[step].fields) places_[field] = ambiguous;
  for (const Way& way : steps_[step].ways) lose(way.step);
}

}  // namespace onceward
