#include "apps/cli/redact.h"

#include <algorithm>
#include <cctype>

namespace onceward::cli {
namespace {

bool sounds_secret(std::string_view name) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  for (const char* word : {"pass", "pwd", "secret", "token", "key", "credential", "auth", "jaas", "management"}) {
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

}  // namespace

std::string redacted(std::string_view url) {
  const std::size_t question = std::min(url.find('?'), url.size());
  // A ? inside a password: what looks like the query still holds a part of it.
  if (url.find('@', question) != std::string_view::npos && url.find("://") != std::string_view::npos) {
    return without_password(url);
  }
  std::string text = without_password(url.substr(0, question));
  std::string_view query = url.substr(question);
  while (!query.empty()) {
    const std::size_t end = std::min(query.find_first_of("&", 1), query.size());
    const std::string_view parameter = query.substr(0, end);
    const std::size_t equals = parameter.find('=');
    const bool hidden = equals != std::string_view::npos && sounds_secret(parameter.substr(0, equals));
    text += hidden ? std::string(parameter.substr(0, equals + 1)) + "***" : std::string(parameter);
    query.remove_prefix(end);
  }
  return text;
}

}  // namespace onceward::cli
