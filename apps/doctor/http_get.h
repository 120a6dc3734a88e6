// One question over HTTP, and its answer.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace onceward::doctor {

// http://[user[:password]@]host[:port][/path]; user and password as they are, up to the last @.
struct HttpPlace {
  std::string login{};  // user:password
  std::string host{};
  std::string port = "80";
  std::string path{};  // without the / at its end
};
// Nothing for what is written otherwise.
std::optional<HttpPlace> read_http_place(std::string_view url);

struct HttpReply {
  unsigned status = 0;
  std::string body;
};
// GET of `path` below the place. Throws std::runtime_error, without the login, where no answer comes within 10 s or it is
// larger than 4 MiB.
HttpReply http_get(const HttpPlace& place, const std::string& path);

}  // namespace onceward::doctor
