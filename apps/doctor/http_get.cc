#include "apps/doctor/http_get.h"

#include <fmt/format.h>

#include <stdexcept>

#include "adapters/curl/transfer.h"
#include "adapters/curl/url.h"

namespace onceward::doctor {
namespace {

constexpr std::size_t most_answer_bytes = 4u << 20;

EndpointDeclaration declared(const HttpPlace& place) {
  EndpointDeclaration declaration;
  declaration.connect_timeout = declaration.timeout = place.patience;
  declaration.ca_file = place.ca_file;
  return declaration;
}

}  // namespace

std::optional<HttpPlace> read_http_place(std::string_view url) {
  const std::size_t scheme_end = url.find("://");
  if (scheme_end == url.npos || url.find('\0') != url.npos) return std::nullopt;
  std::string_view rest = url.substr(scheme_end + 3);
  HttpPlace place;
  if (const std::size_t at = rest.rfind('@'); at != rest.npos) {
    const std::string_view login = rest.substr(0, at);
    const std::size_t colon = std::min(login.find(':'), login.size());
    place.user = login.substr(0, colon);
    place.password = login.substr(std::min(colon + 1, login.size()));
    rest.remove_prefix(at + 1);
  }
  while (rest.ends_with('/')) rest.remove_suffix(1);
  place.url = fmt::format("{}://{}", url.substr(0, scheme_end), rest);
  const auto read = curl::Url::read(place.url);
  const bool http = read && (read->scheme() == "http" || read->scheme() == "https");
  return http && rest.find_first_of("?#") == rest.npos ? std::optional(place) : std::nullopt;
}

HttpReply http_get(const HttpPlace& place, const std::string& path) {
  curl::Transfer transfer(declared(place), {.response_bytes = most_answer_bytes});
  CURL* const easy = transfer.easy();
  curl::set(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  curl::set(easy, CURLOPT_URL, (place.url + path).c_str());
  curl::set(easy, CURLOPT_PATH_AS_IS, 1L);
  curl::set(easy, CURLOPT_HTTPAUTH, static_cast<long>(CURLAUTH_BASIC));
  curl::set(easy, CURLOPT_USERAGENT, "onceward");
  if (!place.user.empty()) {
    curl::set(easy, CURLOPT_USERNAME, place.user.c_str());
    curl::set(easy, CURLOPT_PASSWORD, place.password.c_str());
  }
  transfer.ended(curl_easy_perform(easy));
  const curl::Ending& ending = transfer.ending();
  if (ending.cut) throw std::runtime_error("its answer is larger than 4 MiB");
  if (ending.code != CURLE_OK) throw std::runtime_error(transfer.trouble());
  return {ending.status, transfer.response()};
}

}  // namespace onceward::doctor
