#include "apps/daemon/environment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

namespace onceward::daemon {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_name(std::string_view text) {
  const auto allowed = [](char c) { return is_letter(c) || c == '_' || (c >= '0' && c <= '9'); };
  return !text.empty() && (is_letter(text.front()) || text.front() == '_') && std::ranges::all_of(text, allowed);
}

std::string percent_encoded(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    const bool plain = is_letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' || c == '~';
    encoded += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return encoded;
}

std::string value_of(std::string_view name) {
  if (!is_name(name)) {
    throw std::invalid_argument("${ is followed by the name of an environment variable and }");
  }
  const char* const value = std::getenv(std::string(name).c_str());
  if (value == nullptr) {
    throw std::invalid_argument(fmt::format("the environment variable {} is not set, and is needed", name));
  }
  return value;
}

template <class Written>
std::string with_values(std::string_view rest, Written written) {
  std::string text;
  for (;;) {
    const std::size_t begin = rest.find("${");
    text += rest.substr(0, begin);
    if (begin == rest.npos) return text;
    const std::size_t end = rest.find('}', begin);
    text += written(value_of(rest.substr(begin + 2, end == rest.npos ? 0 : end - begin - 2)));
    rest.remove_prefix(end + 1);
  }
}

}  // namespace

std::string with_environment(std::string_view url) {
  if (url.find("://") == url.npos) return std::string(url);
  return with_values(url, [](std::string_view value) { return percent_encoded(value); });
}

std::string text_with_environment(std::string_view text) {
  return with_values(text, [](std::string value) { return value; });
}

}  // namespace onceward::daemon
