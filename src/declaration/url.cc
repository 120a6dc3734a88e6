#include "src/declaration/url.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/url.hpp>
#include <charconv>

#include "src/declaration/address.h"
#include "src/declaration/duration.h"
#include "src/declaration/text.h"

namespace onceward::declaration {
namespace {

namespace urls = boost::urls;

constexpr std::string_view percent_hint =
    "a % in the URL is followed by two hexadecimal digits; a plain % is written %25";

std::string wrong_with_characters(std::string_view what) {
  return fmt::format("{} is written in a way that no URL allows; write other characters as % and two digits", what);
}

bool has_nul(std::string_view text) { return std::ranges::find(text, '\0') != text.end(); }

// "host:port" each.
std::optional<std::string> add_hosts(std::string_view list, Url& url) {
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    const auto host = urls::parse_authority(list.substr(0, comma));
    if (!host || host->has_userinfo() || host->host().empty()) return wrong_with_characters("a host in the list");
    UrlHost& added = url.hosts.emplace_back(UrlHost{std::string(host->host_address()), std::nullopt});
    if (has_nul(added.name) || added.name.find(',') != added.name.npos)
      return "a host has neither a NUL nor a comma in it";
    if (host->has_port()) added.port = read_port(host->port());
    if (host->has_port() && added.port.value_or(0) == 0) return "a port is a number from 1 to 65535";
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return std::nullopt;
}

// The hosts after the first, which no URL has a place for, are taken out of it.
struct Split {
  std::string url;
  std::string hosts;  // all of them
};
Split without_list(std::string_view text) {
  const std::size_t begin = text.find("://");
  if (begin == text.npos) return {std::string(text), {}};
  const std::size_t end = std::min(text.find_first_of("/?#", begin + 3), text.size());
  const std::string_view authority = text.substr(begin + 3, end - begin - 3);
  const std::size_t at = authority.rfind('@');
  const std::string_view hosts = at == authority.npos ? authority : authority.substr(at + 1);
  const std::size_t comma = std::min(hosts.find(','), hosts.size());
  const std::size_t list_begin = end - (hosts.size() - comma);
  return {std::string(text.substr(0, list_begin)) + std::string(text.substr(end)), std::string(hosts)};
}

}  // namespace

std::variant<std::string, std::string> percent_decoded(std::string_view text) {
  using Answer = std::variant<std::string, std::string>;
  const auto encoded = urls::make_pct_string_view(text);
  if (!encoded) return Answer(std::in_place_index<1>, percent_hint);
  std::string plain = encoded->decode();
  if (has_nul(plain)) return Answer(std::in_place_index<1>, "the URL holds a NUL; leave it out");
  return Answer(std::in_place_index<0>, std::move(plain));
}

std::variant<std::vector<UrlOption>, std::string> read_url_options(std::string_view text) {
  std::vector<UrlOption> options;
  for (bool more = !text.empty(); more;) {
    const std::size_t end = text.find('&');
    const std::string_view one = text.substr(0, end);
    more = end != text.npos;
    text.remove_prefix(more ? end + 1 : 0);
    const std::size_t equals = std::min(one.find('='), one.size());
    const auto value = percent_decoded(one.substr(std::min(equals + 1, one.size())));
    if (value.index() == 1) return std::get<1>(value);
    options.push_back({std::string(one.substr(0, equals)), std::get<0>(value), equals < one.size()});
  }
  return options;
}

namespace {

std::variant<Url, std::string> read_any_url(std::string_view text, bool host_needed) {
  if (text.size() > most_url_bytes) return fmt::format("the URL is longer than {} bytes", most_url_bytes);
  const Split split = without_list(text);
  const auto read = urls::parse_uri(split.url);
  if (!read || read->has_fragment()) return wrong_with_characters("the URL");
  if (!read->has_authority()) return std::string("the URL names no host");
  Url url;
  url.user = read->user();
  if (read->has_password()) url.password = read->password();
  for (const auto& segment : read->segments()) url.segments.emplace_back(segment);
  if (url.segments == std::vector<std::string>{""}) url.segments.clear();
  const auto nul_in = [](const std::string& part) { return has_nul(part); };
  if (has_nul(url.user) || (url.password && has_nul(*url.password)) || std::ranges::any_of(url.segments, nul_in)) {
    return std::string("the URL holds a NUL; leave it out");
  }
  if (auto wrong = add_hosts(split.hosts, url)) return std::move(*wrong);
  if (url.hosts.empty() && host_needed) return std::string("the URL names no host");
  auto options = read_url_options(std::string_view(read->encoded_query()));
  if (auto* const wrong = std::get_if<1>(&options)) return std::move(*wrong);
  url.options = std::get<0>(std::move(options));
  return url;
}

// libpq takes a list here too.
bool has_wrong_port(const UrlOption& option) {
  if (option.name != "port") return false;
  for (std::string_view list = option.value; !list.empty();) {
    const std::size_t comma = std::min(list.find(','), list.size());
    if (comma > 0 && read_port(list.substr(0, comma)).value_or(0) == 0) return true;
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return false;
}

// What the end of a password looks like that has a bare / or ? in it, or an @ before such.
bool has_at_behind_host(std::string_view text) {
  const std::size_t begin = text.find("://");
  if (begin == text.npos) return false;
  const std::string_view rest = text.substr(begin + 3);
  const std::size_t end = std::min(rest.find_first_of("/?#"), rest.size());
  const std::size_t question = std::min(rest.find('?', end), rest.size());
  const std::size_t first_name_end = std::min(rest.find_first_of("=&", question), rest.size());
  return rest.substr(end, first_name_end - end).find('@') != rest.npos;
}

}  // namespace

std::variant<Url, std::string> read_url(std::string_view text) {
  if (has_at_behind_host(text)) {
    return std::string("there is an @ behind the host; @ and / in a password are written %40 and %2F");
  }
  return read_any_url(text, true);
}

std::optional<std::string> wrong_with_postgres_url(std::string_view text) {
  const auto read = read_any_url(text, false);
  if (const auto* const wrong = std::get_if<1>(&read)) return *wrong;
  const Url& url = std::get<0>(read);
  const std::string_view rest = text.substr(text.find("://") + 3);
  const std::string_view before_options = rest.substr(0, rest.find('?'));
  const std::string_view path = before_options.substr(std::min(before_options.find('/'), before_options.size()));
  if (path.find('@') != path.npos || url.segments.size() > 1) {
    return "behind the host stands the name of one database, with @ written %40 and / %2F";
  }
  if (!std::ranges::all_of(url.options, &UrlOption::has_value)) return "every option is written name=value";
  if (std::ranges::any_of(url.options, has_wrong_port)) return "a port is a number from 1 to 65535";
  return std::nullopt;
}

UrlOptions::UrlOptions(std::string_view kind, FaultCode refused, std::vector<UrlOption> options,
                       std::span<const std::string_view> names)
    : kind_(kind), refused_(refused), options_(std::move(options)) {
  for (auto option = options_.begin(); option != options_.end(); ++option) {
    if (std::ranges::find(names, option->name) == names.end()) {
      throw wrong(fmt::format("the option {} is unknown; {}", in_quotes(option->name), suggest(option->name, names)));
    }
    if (!option->has_value) throw wrong(fmt::format("write {}=value", option->name));
    if (std::ranges::find(options_.begin(), option, option->name, &UrlOption::name) != option) {
      throw wrong(fmt::format("{} is there twice; keep one", option->name));
    }
  }
}

std::optional<std::string> UrlOptions::text(std::string_view name) const {
  const auto found = std::ranges::find(options_, name, &UrlOption::name);
  return found == options_.end() ? std::nullopt : std::optional(found->value);
}

std::optional<std::int64_t> UrlOptions::number(std::string_view name, std::int64_t least, std::int64_t most) const {
  const auto value = text(name);
  if (!value) return std::nullopt;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(value->data(), value->data() + value->size(), number);
  if (error != std::errc() || end != value->data() + value->size() || number < least || number > most) {
    throw wrong(fmt::format("{}={} is no whole number from {} to {}", name, excerpt(*value), least, most));
  }
  return number;
}

std::optional<std::chrono::milliseconds> UrlOptions::duration(std::string_view name, std::chrono::milliseconds least,
                                                              std::chrono::milliseconds most) const {
  const auto value = text(name);
  if (!value) return std::nullopt;
  const auto duration = read_duration(*value);
  if (!duration) throw wrong(fmt::format("{}={} is no duration; write {}", name, excerpt(*value), duration_hint));
  if (*duration < least || *duration > most) {
    throw wrong(fmt::format("{} is {}; it goes from {} to {}", name, write_duration(*duration), write_duration(least),
                            write_duration(most)));
  }
  return duration;
}

std::optional<bool> UrlOptions::flag(std::string_view name) const {
  constexpr std::array<std::string_view, 2> words{"false", "true"};
  const auto chosen = choice(name, words);
  return chosen ? std::optional(*chosen == 1) : std::nullopt;
}

std::optional<std::size_t> UrlOptions::choice(std::string_view name, std::span<const std::string_view> words) const {
  const auto value = text(name);
  if (!value) return std::nullopt;
  const auto found = std::ranges::find(words, *value);
  if (found == words.end()) {
    throw wrong(fmt::format("{}={} is none of: {}", name, excerpt(*value), fmt::join(words, ", ")));
  }
  return static_cast<std::size_t>(found - words.begin());
}

Fault UrlOptions::wrong(std::string_view what) const {
  return {refused_, Poisons::connection, fmt::format("{}: {}", kind_, what)};
}

}  // namespace onceward::declaration
