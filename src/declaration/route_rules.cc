// Where messages go, and the relay that takes them there.
#include <fmt/format.h>

#include <set>

#include "src/declaration/route.h"
#include "src/declaration/rules.h"
#include "src/declaration/text.h"

namespace onceward::declaration {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;

void check_types(const std::vector<std::string>& types, const Path& path, Findings& findings) {
  constexpr const char* hint = "an event type, or the beginning of some: \"order.paid\", \"order.*\", \"*\"";
  if (types.empty()) return findings.add(path, "is missing", hint);
  if (types.size() > most_types)
    return findings.add(path, fmt::format("{} types, more than {}", types.size(), most_types), "write \"order.*\"");
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < types.size(); ++i) {
    const std::string_view type = types[i];
    if (const auto wrong = wrong_with_text(type, most_text_bytes)) {
      findings.add(path[i], *wrong, hint);
    } else if (type.substr(0, type.size() - 1).find('*') != std::string_view::npos) {
      findings.add(path[i], "'*' may only stand at its end", hint);
    } else if (!seen.insert(type).second) {
      findings.add(path[i], "is named twice", "name each type once");
    }
  }
}

}  // namespace

std::vector<Finding> find_in(const RouteDeclaration& route) {
  Findings findings;
  if (route.name.empty())
    findings.add(Path("name"), "is missing",
                 "what the route is called in metrics and commands, e.g. name = \"orders\"");
  else if (const auto wrong = wrong_with_name(route.name))
    findings.add(Path("name"), *wrong, "it stands in metrics and commands, e.g. orders");
  check_types(route.types, Path("types"), findings);
  check_target_url(route.to, Path("to"), findings);
  if (route.order == Order::partition)
    findings.add(Path("order"), "partitions are a source's", "order = \"key\", or leave it out");
  if (!route.key.empty())
    if (const auto wrong = wrong_with_text(route.key, most_text_bytes))
      findings.add(Path("key"), *wrong, "\"{key}\", \"{type}\" or a text of your own");
  return findings.all();
}

std::vector<Finding> find_in_dead_letters(const Declaration& declaration, const std::vector<RouteDeclaration>& routes) {
  Findings findings;
  const std::string type = dead_letter_type(declaration.name);
  if (declaration.dead_letters && !routes.empty() && route_for(type, routes) == nullptr)
    findings.add(Path("dead_letters"), "no route takes them", fmt::format("a [[route]] with types = [\"{}\"]", type));
  return findings.all();
}

std::vector<Finding> find_in_relay(const RelayDeclaration& relay, bool used) {
  Findings findings;
  const Path path("relay");
  if (relay.producer.empty() && used)
    findings.add(path / "producer", "is missing",
                 "who sends: part of every message's identity, e.g. [relay] producer = \"shop\"");
  else if (const auto wrong = relay.producer.empty() ? std::nullopt : wrong_with_text(relay.producer, most_text_bytes))
    findings.add(path / "producer", *wrong, "a logical producer, the same for every process, e.g. \"shop\"");
  check_retry(relay.retry, path / "retry", findings);
  check_duration(path / "lease", relay.lease, milliseconds(1'000), minutes(10),
                 "others wait so long for the keys of a relay that has died", findings);
  check_duration(path / "poll", relay.poll, milliseconds(10), minutes(1),
                 "this is how late a message may be of which nobody told", findings);
  return findings.all();
}

}  // namespace onceward::declaration
