#include "apps/cli/urls.h"

#include <fmt/format.h>

#include <stdexcept>

#include "apps/daemon/environment.h"
#include "apps/daemon/ports.h"
#include "src/declaration/document.h"
#include "src/declaration/route.h"

namespace onceward::cli {
namespace {

const declaration::Node* value_under(const declaration::Node* node, std::string_view key) {
  const auto* const table = node ? std::get_if<declaration::Table>(&node->value) : nullptr;
  const auto* const entry = table ? table->find(key) : nullptr;
  return entry ? &entry->value : nullptr;
}

// The value of one element of an array of tables.
const declaration::Node* value_in(const declaration::Node* document, const char* tables, std::size_t index,
                                  const char* key) {
  const auto* const list = value_under(document, tables);
  const auto* const array = list ? std::get_if<declaration::Array>(&list->value) : nullptr;
  return array && index < array->size() ? value_under(&(*array)[index], key) : nullptr;
}

void check_route(const std::string& to, const RouteDeclaration& route, const Application& application) {
  daemon::read_target(to);
  for (const Declaration& consumer : application.consumers) {
    if (!consumer.dead_letters || consumer.source.empty()) continue;
    if (declaration::route_for(dead_letter_type(consumer.name), application.routes) != &route) continue;
    if (!daemon::leads_back(to, consumer.source)) continue;
    throw std::invalid_argument(
        fmt::format("the dead letters of {} would come back to it; send them elsewhere", consumer.name));
  }
}

}  // namespace

std::vector<Mistake> mistakes_in_urls(const Application& application, std::string_view toml, const std::string& file) {
  const auto read = declaration::read_document(toml);
  const auto* const document = std::get_if<declaration::Node>(&read);
  std::vector<Mistake> mistakes;
  const auto look = [&](const char* key, const std::string& url, const declaration::Node* place, auto check) {
    if (url.empty()) return;
    try {
      check(url);
    } catch (const std::invalid_argument& mistake) {
      mistakes.push_back({.file = file,
                          .line = place ? place->place.line : 0,
                          .column = place ? place->place.column : 0,
                          .key = key,
                          .message = mistake.what(),
                          .hint = {}});
    }
  };
  look("store.url", application.store, value_under(value_under(document, "store"), "url"), daemon::check_store);
  for (std::size_t i = 0; i < application.consumers.size(); ++i) {
    const Declaration& consumer = application.consumers[i];
    look("source", consumer.source, value_in(document, "consumer", i, "source"),
         [&](const std::string&) { daemon::read_source(consumer); });
  }
  for (std::size_t i = 0; i < application.routes.size(); ++i) {
    look("to", application.routes[i].to, value_in(document, "route", i, "to"),
         [&](const std::string& to) { check_route(to, application.routes[i], application); });
  }
  for (std::size_t i = 0; i < application.endpoints.size(); ++i) {
    const EndpointDeclaration& endpoint = application.endpoints[i];
    look("endpoint", endpoint.name, value_in(document, "endpoint", i, "name"),
         [&](const std::string&) { static_cast<void>(daemon::with_environment(endpoint)); });
  }
  look("ingress.token", application.ingress.token, value_under(value_under(document, "ingress"), "token"),
       [](const std::string& token) { static_cast<void>(daemon::text_with_environment(token)); });
  return mistakes;
}

}  // namespace onceward::cli
