// Which URLs name a store, a source or an external system. The adapters read the rest of a source's. A URL may hold a password: no message
// repeats more of it than a scheme.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <span>

#include "src/declaration/rules.h"
#include "src/declaration/suggestion.h"
#include "src/declaration/text.h"
#include "src/declaration/url.h"

namespace onceward::declaration {
namespace {

struct Scheme {
  std::string_view name;
  bool path;  // `name:path`; else `name://...`
};
constexpr Scheme store_schemes[] = {{"postgres", false}, {"postgresql", false}, {"sqlite", true}};
constexpr Scheme source_schemes[] = {
    {"embedded", true}, {"rabbitmq", false}, {"rabbitmqs", false}, {"kafka", false}, {"amqp1", false}};

constexpr Scheme endpoint_schemes[] = {{"http", false}, {"https", false}, {"smtp", false}, {"smtps", false}};
constexpr Scheme web_schemes[] = {{"http", false}, {"https", false}};

std::string written(const Scheme& scheme) { return std::string(scheme.name) + (scheme.path ? ":" : "://"); }

std::string list_of(std::span<const Scheme> schemes) {
  std::vector<std::string> names;
  for (const Scheme& scheme : schemes) names.push_back(written(scheme));
  return fmt::format("one of: {}", fmt::join(names, ", "));
}

// Only what can be shown: a word before the first colon.
std::string_view scheme_of(std::string_view url) {
  const std::string_view before = url.substr(0, std::min(url.find(':'), url.size()));
  const bool word = before.size() < url.size() && !wrong_with_name(before) && before.size() <= 16;
  return word ? before : std::string_view();
}

void check_rest(std::string_view url, const Scheme& scheme, const Path& path, Findings& findings) {
  const std::string_view rest = url.substr(scheme.name.size() + 1);
  if (scheme.path && rest.starts_with("//"))
    findings.add(path, fmt::format("{} takes a path, not an authority", written(scheme)),
                 fmt::format("{0}:orders.db is relative, {0}:/var/lib/orders.db is absolute", scheme.name));
  else if (scheme.path && rest.empty())
    findings.add(path, "the path is missing", fmt::format("e.g. {}:orders.db", scheme.name));
  else if (scheme.path && rest == ":memory:")
    findings.add(path, "a database in memory forgets what was processed when the process ends",
                 fmt::format("a file, e.g. {}:orders.db", scheme.name));
  else if (!scheme.path && !rest.starts_with("//"))
    findings.add(path, fmt::format("{}: is not followed by //", scheme.name),
                 fmt::format("write {}...", written(scheme)));
}

void check_url(std::string_view url, std::span<const Scheme> schemes, const Path& path, Findings& findings) {
  if (const auto wrong = wrong_with_text(url, most_url_bytes)) return findings.add(path, *wrong, list_of(schemes));
  const std::string_view name = scheme_of(url);
  if (name.empty()) return findings.add(path, "has no scheme", list_of(schemes));
  const auto scheme = std::ranges::find(schemes, name, &Scheme::name);
  if (scheme == schemes.end())
    return findings.add(path, fmt::format("the scheme {} is unknown", in_quotes(name)), list_of(schemes));
  check_rest(url, *scheme, path, findings);
}

// With something in the place of ${NAME} and {name}: what stands there later is percent-encoded.
std::string without_names(std::string_view url) {
  std::string text;
  for (;;) {
    const std::size_t open = url.find('{');
    const std::size_t close = open == url.npos ? url.npos : url.find('}', open);
    if (close == url.npos) return text + std::string(url);
    text += url.substr(0, open);
    if (text.ends_with('$')) text.pop_back();
    text += '1';
    url.remove_prefix(close + 1);
  }
}

void check_called_url(std::string_view url, std::span<const Scheme> schemes, const Path& path, Findings& findings) {
  const std::size_t before = findings.all().size();
  check_url(url, schemes, path, findings);
  if (findings.all().size() > before) return;
  const auto read = read_url(without_names(url));
  if (const auto* const wrong = std::get_if<1>(&read)) return findings.add(path, *wrong, std::string(password_hint));
  if (std::get<0>(read).hosts.size() != 1)
    findings.add(path, "names several hosts", "one host, or a name that leads to all");
}

}  // namespace

void check_endpoint_url(std::string_view url, const Path& path, Findings& findings) {
  check_called_url(url, endpoint_schemes, path, findings);
}

void check_web_url(std::string_view url, const Path& path, Findings& findings) {
  if (url.empty()) return findings.add(path, "is missing", list_of(web_schemes));
  check_called_url(url, web_schemes, path, findings);
}

void check_source_url(std::string_view url, const Path& path, Findings& findings) {
  if (url.empty()) return;
  if (url.starts_with("amqp://") || url.starts_with("amqps://"))
    return findings.add(
        path, "amqp:// is two protocols",
        "write rabbitmq:// for AMQP 0-9-1 (RabbitMQ) or amqp1:// for AMQP 1.0 (Artemis, Qpid, Service Bus)");
  check_url(url, source_schemes, path, findings);
}

void check_target_url(std::string_view url, const Path& path, Findings& findings) {
  if (url.empty()) return findings.add(path, "is missing", list_of(source_schemes));
  check_source_url(url, path, findings);
}

void check_store_url(std::string_view url, const Path& path, Findings& findings) {
  if (url.empty()) return findings.add(path, "is missing", list_of(store_schemes));
  const std::size_t before = findings.all().size();
  check_url(url, store_schemes, path, findings);
  const bool still_has_names = url.find("${") != url.npos;
  if (findings.all().size() > before || still_has_names || !url.starts_with("postgres")) return;
  if (const auto wrong = wrong_with_postgres_url(url)) findings.add(path, *wrong, std::string(password_hint));
}

}  // namespace onceward::declaration
