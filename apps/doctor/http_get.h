// One question over HTTP, and its answer.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace onceward::doctor {

struct HttpPlace {
  std::string url{};  // without who logs in, and without the / at its end
  std::string user{}, password{};
  std::string ca_file{};                       // of https; empty: whom the system trusts
  std::chrono::milliseconds patience{10'000};  // from the look-up of the name to the last byte
};
// http[s]://[user[:password]@]host[:port][/path]; user and password as they are, up to the last @. Nothing for what is written
// otherwise.
std::optional<HttpPlace> read_http_place(std::string_view url);

struct HttpReply {
  int status = 0;
  std::string body;
};
// GET of `path` below the place. Throws std::runtime_error, without who logs in, where no answer comes in time, from somebody who
// is not trusted, or one that is larger than 4 MiB.
HttpReply http_get(const HttpPlace& place, const std::string& path);

}  // namespace onceward::doctor
