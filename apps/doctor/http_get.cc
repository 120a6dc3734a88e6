#include "apps/doctor/http_get.h"

#include <fmt/format.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <stdexcept>

#include "src/common/base64.h"

namespace onceward::doctor {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;

constexpr std::chrono::seconds answer_patience{10};
constexpr std::uint64_t most_answer_bytes = 4u << 20;
constexpr std::string_view http_scheme = "http://";

class Exchange {
 public:
  explicit Exchange(const HttpPlace& place) : place_(place) {}

  HttpReply ask(const std::string& path) {
    asio::ip::tcp::resolver resolver(io_);
    beast::error_code error;
    const auto found = resolver.resolve(place_.host, place_.port, error);
    if (error) throw failed(error);
    stream_.expires_after(answer_patience);
    wait([&](auto done) { stream_.async_connect(found, [=](auto why, const auto&) { done(why); }); });
    http::request<http::empty_body> request(http::verb::get, place_.path + path, 11);
    request.set(http::field::host, place_.host);
    request.set(http::field::user_agent, "onceward");
    if (!place_.login.empty()) request.set(http::field::authorization, "Basic " + to_base64(place_.login));
    wait([&](auto done) { http::async_write(stream_, request, [=](auto why, std::size_t) { done(why); }); });
    beast::flat_buffer buffer;
    http::response_parser<http::string_body> parser;
    parser.body_limit(most_answer_bytes);
    wait([&](auto done) { http::async_read(stream_, buffer, parser, [=](auto why, std::size_t) { done(why); }); });
    return {parser.get().result_int(), std::move(parser.get().body())};
  }

 private:
  template <class Begin>
  void wait(Begin begin) {
    beast::error_code error;
    begin([&error](beast::error_code why) { error = why; });
    io_.restart();
    io_.run();
    if (error) throw failed(error);
  }
  std::runtime_error failed(const beast::error_code& error) const {
    return std::runtime_error(fmt::format("{}:{}: {}", place_.host, place_.port, error.message()));
  }

  const HttpPlace& place_;
  asio::io_context io_;
  beast::tcp_stream stream_{io_};
};

}  // namespace

std::optional<HttpPlace> read_http_place(std::string_view url) {
  if (!url.starts_with(http_scheme)) return std::nullopt;
  url.remove_prefix(http_scheme.size());
  HttpPlace place;
  if (const std::size_t at = url.rfind('@'); at != url.npos) {
    place.login = url.substr(0, at);
    url.remove_prefix(at + 1);
  }
  const std::size_t slash = std::min(url.find('/'), url.size());
  place.path = url.substr(slash);
  while (place.path.ends_with('/')) place.path.pop_back();
  url = url.substr(0, slash);
  if (const std::size_t colon = url.rfind(':'); colon != url.npos && url.find(']', colon) == url.npos) {
    place.port = url.substr(colon + 1);
    url = url.substr(0, colon);
  }
  place.host = url.starts_with('[') && url.ends_with(']') ? url.substr(1, url.size() - 2) : url;
  const bool digits = !place.port.empty() && place.port.find_first_not_of("0123456789") == std::string::npos;
  return place.host.empty() || !digits ? std::nullopt : std::optional(place);
}

HttpReply http_get(const HttpPlace& place, const std::string& path) { return Exchange(place).ask(path); }

}  // namespace onceward::doctor
