// The front door: whom it leads to, and how much it takes.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "src/declaration/rules.h"
#include "src/declaration/suggestion.h"
#include "src/declaration/text.h"

namespace onceward::declaration {

std::vector<Finding> find_in_ingress(const IngressDeclaration& ingress, const std::vector<Declaration>& consumers) {
  Findings findings;
  const Path path("ingress");
  if (ingress.consumers.empty())
    findings.add(path / "consumers", "is missing", "whom requests are for, e.g. consumers = [\"captures\"]");
  std::vector<std::string_view> names;
  for (const Declaration& consumer : consumers) names.push_back(consumer.name);
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < ingress.consumers.size(); ++i) {
    const Path at = (path / "consumers")[i];
    const std::string& name = ingress.consumers[i];
    const auto consumer = std::ranges::find(consumers, name, &Declaration::name);
    if (consumer == consumers.end())
      findings.add(at, fmt::format("{} is no consumer of this file", in_quotes(name)), suggest(name, names),
                   {Path("consumer")});
    else if (!consumer->source.starts_with("embedded:"))
      findings.add(at, fmt::format("{} has no embedded queue as its source", in_quotes(name)),
                   "requests are put into one: source = \"embedded:captures.queue\"", {Path("consumer")});
    if (!seen.insert(name).second) findings.add(at, "is named twice", "name each consumer once");
  }
  if (const auto wrong = ingress.token.empty() ? std::nullopt : wrong_with_text(ingress.token, most_text_bytes))
    findings.add(path / "token", *wrong, "taken from the environment: \"${INGRESS_TOKEN}\"");
  check_duration(path / "expiry", ingress.expiry, std::chrono::hours(1), std::chrono::hours(24 * 3650),
                 "then the key is forgotten, and another request under it has an effect of its own", findings);
  findings.within(path / "most_body_bytes",
                  static_cast<std::int64_t>(std::min(ingress.most_body_bytes, std::size_t{1} << 62)), 1, 64 << 20,
                  "a request is held in memory");
  return findings.all();
}

}  // namespace onceward::declaration
