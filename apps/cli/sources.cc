#include "apps/cli/sources.h"

#include <stdexcept>

#include "apps/daemon/ports.h"
#include "src/declaration/document.h"

namespace onceward::cli {
namespace {

const declaration::Node* value_under(const declaration::Node* node, std::string_view key) {
  const auto* const table = node ? std::get_if<declaration::Table>(&node->value) : nullptr;
  const auto* const entry = table ? table->find(key) : nullptr;
  return entry ? &entry->value : nullptr;
}

const declaration::Node* source_in(const declaration::Node* document, std::size_t consumer) {
  const auto* const list = value_under(document, "consumer");
  const auto* const array = list ? std::get_if<declaration::Array>(&list->value) : nullptr;
  return array && consumer < array->size() ? value_under(&(*array)[consumer], "source") : nullptr;
}

}  // namespace

std::vector<Mistake> mistakes_in_sources(const Application& application, std::string_view toml,
                                         const std::string& file) {
  const auto document = declaration::read_document(toml);
  std::vector<Mistake> mistakes;
  for (std::size_t i = 0; i < application.consumers.size(); ++i) {
    if (application.consumers[i].source.empty()) continue;
    try {
      daemon::read_source(application.consumers[i].source);
    } catch (const std::invalid_argument& mistake) {
      const auto* const place = source_in(std::get_if<declaration::Node>(&document), i);
      mistakes.push_back({.file = file,
                          .line = place ? place->place.line : 0,
                          .column = place ? place->place.column : 0,
                          .key = "source",
                          .message = mistake.what(),
                          .hint = {}});
    }
  }
  return mistakes;
}

}  // namespace onceward::cli
