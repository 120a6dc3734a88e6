#include "apps/cli/redact.h"

#include <algorithm>
#include <cctype>

namespace onceward::cli {
namespace {

bool sounds_secret(std::string_view name) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  for (const char* word :
       {"pass", "pwd", "secret", "token", "key", "credential", "auth", "cookie", "jaas", "management"}) {
    if (lower.find(word) != std::string::npos) return true;
  }
  return false;
}

// The last @ counts: a password with a / or an @ in it is a mistake, and is not shown either.
std::string without_password(std::string_view before_query) {
  const std::size_t begin = before_query.find("://");
  const std::size_t at = before_query.rfind('@');
  if (begin == std::string_view::npos || at == std::string_view::npos || at < begin) return std::string(before_query);
  const std::size_t colon = before_query.find(':', begin + 3);
  if (colon == std::string_view::npos || colon > at) return std::string(before_query);
  return std::string(before_query.substr(0, colon + 1)) + "***" + std::string(before_query.substr(at));
}

bool is_hidden(std::string_view parameter) {
  const std::size_t equals = parameter.find('=');
  return equals != parameter.npos && sounds_secret(parameter.substr(0, equals));
}

// "?a=b" or "&a=b", and the rest.
std::string_view take_parameter(std::string_view& query) {
  const std::size_t end = std::min(query.find('&', 1), query.size());
  const std::string_view parameter = query.substr(0, end);
  query.remove_prefix(end);
  return parameter;
}

// host:port, where the port may be ${NAME}, or user:password@.
bool is_whole(std::string_view before_query) {
  const std::size_t begin = before_query.find("://");
  if (begin == before_query.npos || before_query.find('@', begin) != before_query.npos) return true;
  const std::string_view rest = before_query.substr(begin + 3);
  const std::string_view host = rest.substr(0, rest.find('/'));
  const std::size_t colon = host.rfind(':');
  if (colon == host.npos || host.ends_with(']')) return true;
  const std::string_view port = host.substr(colon + 1);
  return port.starts_with("${") || port.find_first_not_of("0123456789") == port.npos;
}

// A ? inside a password: what looks like the query holds a part of it.
bool is_cut_by_password(std::string_view before_query, std::string_view query) {
  if (query.find('@') == query.npos || before_query.find("://") == before_query.npos) return false;
  if (!is_whole(before_query)) return true;
  while (!query.empty()) {
    const std::string_view parameter = take_parameter(query);
    if (parameter.find('@') != parameter.npos && !is_hidden(parameter)) return true;
  }
  return false;
}

}  // namespace

bool is_secret(std::string_view header, std::string_view value) {
  return value.find("${") != value.npos || sounds_secret(header);
}

std::string redacted(std::string_view url) {
  const std::size_t question = std::min(url.find('?'), url.size());
  std::string_view query = url.substr(question);
  if (is_cut_by_password(url.substr(0, question), query)) return without_password(url);
  std::string text = without_password(url.substr(0, question));
  while (!query.empty()) {
    const std::string_view parameter = take_parameter(query);
    text += is_hidden(parameter) ? std::string(parameter.substr(0, parameter.find('=') + 1)) + "***"
                                 : std::string(parameter);
  }
  return text;
}

}  // namespace onceward::cli
