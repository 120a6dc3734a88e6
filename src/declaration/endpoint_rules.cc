// What makes an external system one that can be called: what is sent, how its answers are read, and how long all that takes.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

#include "src/common/digits.h"
#include "src/declaration/duration.h"
#include "src/declaration/rules.h"
#include "src/declaration/text.h"
#include "src/declaration/text_template.h"

namespace onceward::declaration {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using Words = std::vector<std::string>;

constexpr std::size_t most_header_value_bytes = 4096;
constexpr std::size_t most_statuses = 64;
constexpr milliseconds least_room{2'000};  // of a lease, behind the timeout: a call may take a second more than that

bool is_web(const EndpointDeclaration& endpoint) { return endpoint.url.starts_with("http"); }
bool is_mail(const EndpointDeclaration& endpoint) { return endpoint.url.starts_with("smtp"); }

std::string in_lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

// RFC 9110, 5.6.2.
bool is_token(std::string_view text) {
  const auto allowed = [](unsigned char c) {
    return c < 0x80 && (std::isalnum(c) ||
                        std::string_view("!#$%&'*+-.^_`|~").find(static_cast<char>(c)) != std::string_view::npos);
  };
  return !text.empty() && text.size() <= most_name_bytes && std::ranges::all_of(text, allowed);
}

void check_name(const std::string& name, Findings& findings) {
  if (name.empty())
    findings.add(Path("name"), "is missing", "what calls name it by, e.g. name = \"gateway\"");
  else if (const auto wrong = wrong_with_name(name))
    findings.add(Path("name"), *wrong, "it stands in calls, metrics and commands, e.g. gateway");
}

void check_pointer(const std::string& pointer, const Path& path, Findings& findings) {
  if (pointer.empty()) return;
  if (const auto wrong = wrong_with_pointer(pointer))
    findings.add(path, *wrong, "a JSON pointer (RFC 6901) into the answer, e.g. /data/id");
}

void check_headers(const EndpointDeclaration& endpoint, Findings& findings) {
  const Path path("headers");
  if (endpoint.headers.size() > most_endpoint_headers)
    return findings.add(path, fmt::format("{} headers, more than {}", endpoint.headers.size(), most_endpoint_headers),
                        "no server reads so many");
  const std::set<std::string> ours{"host",         "content-length",
                                   "content-type", "connection",
                                   "expect",       "transfer-encoding",
                                   "te",           "trailer",
                                   "upgrade",      in_lower_case(endpoint.key_header)};
  std::set<std::string> seen;
  for (const auto& [name, value] : endpoint.headers) {
    const std::string lower = in_lower_case(name);
    if (!is_token(name))
      findings.add_about_key(path / name, "is no header's name", "letters, digits and '-', e.g. Authorization");
    else if (ours.contains(lower))
      findings.add_about_key(path / name, "is a header that every call has already",
                             "content_type and key_header are keys of their own; leave the others out");
    else if (!seen.insert(lower).second)
      findings.add_about_key(path / name, "is declared twice", "names of headers differ in more than their case");
    if (const auto wrong = value.empty() ? std::nullopt : wrong_with_text(value, most_header_value_bytes))
      findings.add(path / name, *wrong, "one line; a secret is taken from the environment: \"Bearer ${NAME}\"");
  }
}

// "204" or "2xx".
bool is_status(std::string_view word) {
  if (word.size() != 3 || word[0] < '1' || word[0] > '5') return false;
  return word.substr(1) == "xx" || (is_digit(word[1]) && is_digit(word[2]));
}

struct StatusList {
  std::string_view key;
  const Words& words;
};
// An exact status goes before its class, so only the same word in two places is ambiguous.
void check_statuses(std::initializer_list<StatusList> lists, const Path& path, Findings& findings) {
  std::set<std::string_view> seen;
  for (const auto& [key, words] : lists) {
    const Path list = path.steps().empty() ? Path(key) : path / key;
    if (words.size() > most_statuses) findings.add(list, "has more than 64 statuses", "write a class, e.g. \"4xx\"");
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (!is_status(words[i]))
        findings.add(list[i], fmt::format("{} is no status", in_quotes(words[i])), "e.g. \"204\", or a class: \"2xx\"");
      else if (!seen.insert(words[i]).second)
        findings.add(list[i], fmt::format("{} is named twice", in_quotes(words[i])),
                     "an answer has one meaning; an exact status goes before its class");
    }
  }
}

void check_answers(const EndpointDeclaration& endpoint, Findings& findings) {
  check_statuses({{"succeeded", endpoint.succeeded}, {"failed", endpoint.failed}, {"later", endpoint.later}}, Path(),
                 findings);
  if (endpoint.succeeded.empty())
    findings.add(Path("succeeded"), "no answer would ever be a yes", "leave it out for \"2xx\"");
  check_pointer(endpoint.reference, Path("reference"), findings);
  findings.within(Path("most_response_bytes"),
                  static_cast<std::int64_t>(std::min(endpoint.most_response_bytes, std::size_t{1} << 62)), 1, 64 << 20,
                  "an answer is held in memory; what is longer is an unknown outcome");
}

// Which names may stand in a URL that is one; at least one of them must where `needed`.
void check_places(const std::string& url, std::initializer_list<std::string_view> known, bool needed, const Path& path,
                  Findings& findings) {
  std::string bare = url;
  for (std::size_t at = 0; (at = bare.find("${", at)) != bare.npos;)
    bare.erase(at, std::min(bare.find('}', at), bare.size() - 1) + 1 - at);
  const std::string hint = fmt::format("one of: {{{}}}", fmt::join(known, "}, {"));
  const auto read = read_template(bare);
  if (const auto* const wrong = std::get_if<1>(&read)) return findings.add(path, *wrong, hint);
  bool any = false;
  for (const TemplatePiece& piece : std::get<0>(read)) {
    any = any || piece.is_name;
    if (piece.is_name && std::ranges::find(known, piece.text) == known.end())
      findings.add(path, fmt::format("{{{}}} stands for nothing here", piece.text), hint);
    if (!piece.is_name && piece.text.find_first_of("{}") != std::string::npos)
      findings.add(path, "holds a brace", "in a URL braces are written %7B and %7D");
  }
  if (needed && !any) findings.add(path, "asks for no call in particular", hint);
}

// It is asked with the endpoint's headers, and so with its secrets.
void check_asked_url(const EndpointDeclaration& endpoint, const std::string& url, const Path& path,
                     Findings& findings) {
  if (is_mail(endpoint)) return findings.add(path, "mail has nobody to ask", "leave the table out", {Path("url")});
  if (endpoint.url.empty()) {
    if (!url.empty())
      findings.add(path, "the endpoint is a callback, and so is what it is asked by", "leave url out", {Path("url")});
    return;
  }
  check_web_url(url, path, findings);
  if (endpoint.url.starts_with("https:") && url.starts_with("http:"))
    findings.add(path, "is http, and the endpoint https", "the same headers are sent to both", {Path("url")});
}

void check_value(const Words& values, std::size_t index, const Path& path, Findings& findings) {
  if (const auto wrong = wrong_with_text(values[index], most_text_bytes))
    findings.add(path[index], *wrong, "what stands in the answer, e.g. \"captured\"");
}

// What must stand in an answer, beyond its status.
void check_values(const LookUpDeclaration& look_up, const Path& path, Findings& findings) {
  const Words &done = look_up.done_values, &not_done = look_up.not_done_values;
  check_pointer(look_up.done_pointer, path / "done_pointer", findings);
  check_pointer(look_up.not_done_pointer, path / "not_done_pointer", findings);
  if (look_up.done_pointer.empty() != done.empty())
    findings.add(path / (done.empty() ? "done_values" : "done_pointer"), "is missing",
                 "done_pointer says where to look, done_values what must stand there",
                 {path / "done_pointer", path / "done_values"});
  else if (done.empty() && !not_done.empty())
    findings.add(path / "not_done_values", "without done_values any other answer would be done",
                 "add done_pointer and done_values", {path / "done_values"});
  if (not_done.empty() && !look_up.not_done_pointer.empty())
    findings.add(path / "not_done_values", "is missing", "what stands at not_done_pointer, e.g. \"[]\"",
                 {path / "not_done_pointer"});
  for (std::size_t i = 0; i < done.size(); ++i) check_value(done, i, path / "done_values", findings);
  for (std::size_t i = 0; i < not_done.size(); ++i) {
    check_value(not_done, i, path / "not_done_values", findings);
    if (std::ranges::find(done, not_done[i]) != done.end())
      findings.add((path / "not_done_values")[i], "is one of done_values, too", "an answer has one meaning",
                   {path / "done_values"});
  }
}

void check_look_up(const EndpointDeclaration& endpoint, const LookUpDeclaration& look_up, Findings& findings) {
  const Path path("look_up");
  const std::size_t before = findings.all().size();
  check_asked_url(endpoint, look_up.url, path / "url", findings);
  if (!look_up.url.empty() && findings.all().size() == before)
    check_places(look_up.url, {"key", "reference", "business_key"}, true, path / "url", findings);
  check_statuses({{"done", look_up.done}, {"not_done", look_up.not_done}}, path, findings);
  if (look_up.done.empty()) findings.add(path / "done", "no answer would ever say it", "leave it out for \"2xx\"");
  const std::size_t query = look_up.url.find('?');
  if (query != look_up.url.npos && look_up.url.find('{', query) != look_up.url.npos && look_up.done_pointer.empty())
    findings.add(path / "done_pointer", "is missing: a search is answered with 200 also where nothing was found",
                 "add done_pointer and done_values, and not_done_values for what is empty", {path / "url"});
  check_values(look_up, path, findings);
  check_pointer(look_up.reference, path / "reference", findings);
  check_duration(path / "settle", look_up.settle, milliseconds(0), hours(24 * 7),
                 "until then a request may still be on its way", findings);
  check_duration(path / "every", look_up.every, milliseconds(100), hours(24), "how long between two look-ups",
                 findings);
  findings.within(path / "attempts", look_up.attempts, 1, 100'000, "then it waits for a person");
}

void check_list(const EndpointDeclaration& endpoint, const ListDeclaration& list, Findings& findings) {
  const Path path("list");
  const std::size_t before = findings.all().size();
  check_asked_url(endpoint, list.url, path / "url", findings);
  if (!list.url.empty() && findings.all().size() == before)
    check_places(list.url, {"since"}, false, path / "url", findings);
  check_pointer(list.items, path / "items", findings);
  check_pointer(list.reference, path / "reference", findings);
  check_pointer(list.next, path / "next", findings);
  if (list.key.empty() && is_web(endpoint))
    findings.add(path / "key", "is missing", "where an item has the idempotency key, e.g. key = \"/idempotency_key\"",
                 {Path("url")});
  check_pointer(list.key, path / "key", findings);
}

void check_request(const EndpointDeclaration& endpoint, Findings& findings) {
  if (!endpoint.url.empty()) check_endpoint_url(endpoint.url, Path("url"), findings);
  constexpr std::string_view methods[] = {"POST", "PUT", "PATCH", "DELETE"};
  if (std::ranges::find(methods, endpoint.method) == std::end(methods))
    findings.add(Path("method"), fmt::format("{} is no method of a call", in_quotes(endpoint.method)),
                 "POST, PUT, PATCH or DELETE: whatever only asks has no effect to record");
  if (const auto wrong = wrong_with_text(endpoint.content_type, most_text_bytes))
    findings.add(Path("content_type"), *wrong, "e.g. \"application/json\"");
  if (!is_token(endpoint.key_header))
    findings.add(Path("key_header"), "is no header's name", "leave it out for \"Idempotency-Key\"");
  check_headers(endpoint, findings);
  if (!endpoint.ca_file.empty() && !endpoint.url.starts_with("https:") && !is_mail(endpoint))
    findings.add(Path("ca_file"), "nothing is verified without TLS", "https://, smtp:// or smtps://", {Path("url")});
  if (is_mail(endpoint) && endpoint.from.empty())
    findings.add(Path("from"), "is missing", "who sends the mail, e.g. from = \"shop@example.com\"", {Path("url")});
  if (!endpoint.from.empty() && !is_mail(endpoint))
    findings.add(Path("from"), "only mail has a sender", "leave it out", {Path("url")});
  if (const auto wrong = endpoint.from.empty() ? std::nullopt : wrong_with_text(endpoint.from, most_text_bytes))
    findings.add(Path("from"), *wrong, "an address, e.g. \"shop@example.com\"");
}

// How often and how long, and what the other side remembers.
void check_times(const EndpointDeclaration& endpoint, Findings& findings) {
  check_duration(Path("connect_timeout"), endpoint.connect_timeout, milliseconds(10), minutes(10),
                 "a connection that takes longer is an outage", findings);
  check_duration(Path("timeout"), endpoint.timeout, milliseconds(10), minutes(10),
                 "without an answer by then the outcome is unknown", findings);
  check_duration(Path("lease"), endpoint.lease, milliseconds(1'000), hours(2),
                 "an attempt of a dispatcher that has died is unknown only then", findings);
  if (endpoint.lease < endpoint.timeout + least_room)
    findings.add(Path("lease"),
                 fmt::format("{} is not {} longer than timeout = {}", write_duration(endpoint.lease),
                             write_duration(least_room), write_duration(endpoint.timeout)),
                 "a call under way must end before others take it for lost", {Path("timeout")});
  check_duration(Path("poll"), endpoint.poll, milliseconds(10), minutes(1),
                 "this is how late a call may be of which nobody told", findings);
  check_duration(Path("circuit_pause"), endpoint.circuit_pause, milliseconds(10), hours(1), "nothing is sent meanwhile",
                 findings);
  check_duration(Path("approval_lifetime"), endpoint.approval_lifetime, seconds(1), hours(24 * 365),
                 "an approval that is older does not fire", findings);
  check_retry(endpoint.retry, Path("retry"), findings);
}

void check_idempotence(const EndpointDeclaration& endpoint, Findings& findings) {
  const Path lifetime("key_lifetime");
  if (endpoint.idempotent && endpoint.key_lifetime == seconds(0))
    return findings.add(
        lifetime, "is missing",
        "how long the other side remembers a key, e.g. \"24h\": past it a second call would be a second effect",
        {lifetime, Path("idempotent")});
  if (!endpoint.idempotent && endpoint.key_lifetime != seconds(0))
    return findings.add(lifetime, "nothing rests on it: the endpoint is not declared idempotent",
                        "add idempotent = true, or leave it out", {Path("idempotent")});
  if (endpoint.idempotent)
    check_duration(lifetime, endpoint.key_lifetime, seconds(1), hours(24 * 3650), "as the provider's papers say",
                   findings);
}

void check_pace(const EndpointDeclaration& endpoint, Findings& findings) {
  findings.within(Path("concurrency"), static_cast<std::int64_t>(std::min(endpoint.concurrency, std::size_t{1} << 62)),
                  1, 1'000, "each call under way has a connection of its own");
  const bool sane =
      std::isfinite(endpoint.rate) && (endpoint.rate == 0 || (endpoint.rate >= 0.001 && endpoint.rate <= 1e6));
  if (!sane) findings.add(Path("rate"), "is outside 0.001 to 1000000", "calls a second; leave it out for no limit");
  findings.within(Path("circuit_failures"), endpoint.circuit_failures, 1, 10'000,
                  "in a row, before it is left in peace");
}

}  // namespace

std::vector<Finding> find_in(const EndpointDeclaration& endpoint) {
  Findings findings;
  check_name(endpoint.name, findings);
  check_request(endpoint, findings);
  check_answers(endpoint, findings);
  check_idempotence(endpoint, findings);
  if (endpoint.look_up) check_look_up(endpoint, *endpoint.look_up, findings);
  if (endpoint.list) check_list(endpoint, *endpoint.list, findings);
  check_times(endpoint, findings);
  check_pace(endpoint, findings);
  return findings.all();
}

}  // namespace onceward::declaration
