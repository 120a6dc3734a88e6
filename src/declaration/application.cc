#include <fmt/format.h>

#include <set>

#include "onceward/declaration.h"
#include "src/declaration/address.h"
#include "src/declaration/consumer.h"
#include "src/declaration/document.h"
#include "src/declaration/endpoint.h"
#include "src/declaration/reading.h"
#include "src/declaration/route.h"
#include "src/declaration/rules.h"
#include "src/declaration/text.h"

namespace onceward {
namespace declaration {
namespace {

void read_store(Reading& reading, const Item& item, Application& application) {
  constexpr Key<Application> keys[] = {{"url", into<&Application::store>}};
  read_table(reading, item, keys, application);
}

// Each by itself, since its paths begin at it; no two have one name.
template <class Declared, class Read>
void read_named(Reading& reading, const Array& array, std::vector<Declared>& all, Read read, const char* why_once) {
  std::set<std::string> names;
  for (const Node& node : array) {
    Reading part(reading.file());
    const Declared& declared = all.emplace_back(read(part, node));
    part.take(find_in(declared), node);
    if (!declared.name.empty() && !names.insert(declared.name).second)
      part.take({{Path("name"), fmt::format("{} is declared twice", in_quotes(declared.name)), why_once}}, node);
    reading.take(std::move(part));
  }
}

void read_consumers(Reading& reading, const Item& item, Application& application) {
  const Array* consumers = array_in(reading, item, "each consumer under a header [[consumer]], with two brackets");
  if (consumers == nullptr) return;
  if (consumers->size() > most_consumers)
    return reading.mistake(item, fmt::format("{} consumers, more than {}", consumers->size(), most_consumers),
                           "spread them over several files and processes");
  read_named(reading, *consumers, application.consumers, read_consumer,
             "two consumers of one name would share one memory of what was processed");
}

void read_routes(Reading& reading, const Item& item, Application& application) {
  const Array* routes = array_in(reading, item, "each route under a header [[route]], with two brackets");
  if (routes == nullptr) return;
  if (routes->size() > most_routes)
    return reading.mistake(item, fmt::format("{} routes, more than {}", routes->size(), most_routes),
                           "each has a connection of its own: let one take several types");
  read_named(reading, *routes, application.routes, read_route, "who pauses one by its name would pause both");
}

void read_endpoints(Reading& reading, const Item& item, Application& application) {
  const Array* endpoints = array_in(reading, item, "each endpoint under a header [[endpoint]], with two brackets");
  if (endpoints == nullptr) return;
  if (endpoints->size() > most_endpoints)
    return reading.mistake(item, fmt::format("{} endpoints, more than {}", endpoints->size(), most_endpoints),
                           "each has threads and connections of its own: spread them over several processes");
  read_named(reading, *endpoints, application.endpoints, read_endpoint,
             "a call names its endpoint, and could mean both");
}

// What can be judged only when everything was read: an endpoint or a route may stand behind the consumer that needs it.
void check_together(Reading& reading, const Table& root, const Application& application) {
  const Entry* const consumers = root.find("consumer");
  const auto* const array = consumers ? std::get_if<Array>(&consumers->value.value) : nullptr;
  for (std::size_t i = 0; array && i < application.consumers.size(); ++i) {
    Reading part(reading.file());
    part.take(find_in_calls(application.consumers[i], application.endpoints), (*array)[i]);
    part.take(find_in_dead_letters(application.consumers[i], application.routes), (*array)[i]);
    reading.take(std::move(part));
  }
}

void read_listen(Reading& reading, const Item& item, AdminDeclaration& admin) {
  const std::string* text = string_in(reading, item, listen_hint);
  if (text == nullptr) return;
  const auto address = read_address(*text);
  if (!address) return reading.mistake(item, "is no address", std::string(listen_hint));
  if (!is_loopback(address->host))
    return reading.mistake(item, "is not on loopback, and authentication does not exist yet",
                           "127.0.0.1, [::1] or localhost; others reach it through a proxy that asks who they are");
  admin = {address->host, address->port};
}

void read_admin(Reading& reading, const Item& item, Application& application) {
  constexpr Key<AdminDeclaration> keys[] = {{"listen", read_listen}};
  read_table(reading, item, keys, application.admin);
}

void read_log(Reading& reading, const Item& item, Application& application) {
  constexpr Key<LogDeclaration> keys[] = {{"format", into<&LogDeclaration::format>},
                                          {"level", into<&LogDeclaration::level>}};
  read_table(reading, item, keys, application.log);
}

void read_shutdown(Reading& reading, const Item& item, Application& application) {
  constexpr Key<Application> keys[] = {{"drain", into<&Application::drain>}};
  read_table(reading, item, keys, application);
}

Application read_root(Reading& reading, const Node& root) {
  constexpr Key<Application> keys[] = {
      {"store", read_store},        {"consumer", read_consumers}, {"relay", read_relay}, {"route", read_routes},
      {"endpoint", read_endpoints}, {"ingress", read_ingress},    {"admin", read_admin}, {"log", read_log},
      {"shutdown", read_shutdown}};
  Application application;
  read_table(reading, {root, Path()}, keys, application);
  const auto& table = std::get<Table>(root.value);
  if (table.find("store") != nullptr) reading.take(find_in_store(application.store), root);
  if (table.find("admin") != nullptr) reading.take(find_in_admin(application.admin), root);
  reading.take(find_in_relay(application.relay, !application.routes.empty()), root);
  if (table.find("ingress") != nullptr) reading.take(find_in_ingress(application.ingress, application.consumers), root);
  reading.take(find_in_shutdown(application.drain), root);
  check_together(reading, table, application);
  return application;
}

}  // namespace
}  // namespace declaration

std::string dead_letter_type(std::string_view consumer) { return "onceward.dead_letter." + std::string(consumer); }

std::variant<Application, std::vector<Mistake>> read_application(std::string_view toml, std::string_view file_name) {
  using namespace declaration;
  const auto document = read_document(toml);
  Reading reading(file_name);
  Application application;
  if (const auto* error = std::get_if<SyntaxError>(&document))
    reading.mistake(error->place, Path(), error->message, error->hint);
  else
    application = read_root(reading, std::get<Node>(document));
  std::vector<Mistake> mistakes = std::move(reading).mistakes();
  if (!mistakes.empty()) return mistakes;
  return application;
}

std::vector<Mistake> check(const Declaration& consumer) {
  std::vector<Mistake> mistakes;
  for (const declaration::Finding& finding : declaration::find_in(consumer))
    mistakes.push_back({{}, 0, 0, finding.path.text(), finding.message, finding.hint});
  return mistakes;
}

}  // namespace onceward
