#include "apps/demo/gateway/server.h"

#include <fmt/format.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>

#include "apps/demo/gateway/book.h"
#include "apps/demo/gateway/manner.h"

namespace onceward::demo {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using Json = nlohmann::ordered_json;

constexpr std::chrono::seconds client_patience{10};
constexpr std::size_t most_bytes = 64u << 10;
constexpr std::size_t page_size = 200;
constexpr std::string_view collection = "/captures";

using HttpRequest = http::request<http::string_body>;

struct Reply {
  http::status status = http::status::ok;
  Json body = Json::object();
  std::chrono::milliseconds delay{};
  bool lost = false;  // the connection is closed instead
};

Json told(const std::string& key, const Captured& captured) {
  return {{"key", key},
          {"reference", captured.reference},
          {"capture", captured.order.capture},
          {"amount", captured.order.amount}};
}

class Gateway {
 public:
  Gateway(std::uint64_t seed, const std::string& log) : seed_(seed), book_(log) {}

  Reply answer(const HttpRequest& request) {
    const std::string_view target(request.target().data(), request.target().size());
    if (request.method() == http::verb::post && target == collection) return capture(request);
    if (request.method() == http::verb::get && target.starts_with(std::string(collection) + "/")) {
      return look_up(std::string(target.substr(collection.size() + 1)));
    }
    if (request.method() == http::verb::get && target.starts_with(collection)) return list(target);
    return {http::status::not_found};
  }

 private:
  Reply capture(const HttpRequest& request) {
    const std::string key(request["Idempotency-Key"]);
    const auto body = nlohmann::json::parse(request.body(), nullptr, false);
    const bool whole = body.is_object() && body.value("captureRequestId", Json()).is_string() &&
                       body.value("amount", Json()).is_number_integer();
    if (key.empty() || !whole) return {http::status::bad_request};
    const Order order{body.at("captureRequestId").get<std::string>(), body.at("amount").get<std::int64_t>()};
    const bool first = book_.see(key, order) == 1;
    const Conduct conduct = first ? conduct_of(seed_, key) : Conduct{};
    if (conduct.manner == Manner::drops_request) return {.lost = true};
    if (const Captured* const before = book_.find(key); before && before->order != order) {
      return {http::status::unprocessable_entity};
    }
    const Captured& captured = book_.capture(key, order);
    if (conduct.manner == Manner::fails_after_work) return {http::status::internal_server_error};
    return {.status = http::status::created,
            .body = told(key, captured),
            .delay = conduct.delay,
            .lost = conduct.manner == Manner::loses_reply || conduct.manner == Manner::mute};
  }

  Reply look_up(const std::string& key) {
    const Captured* const captured = book_.ask(key);
    if (conduct_of(seed_, key).manner == Manner::mute) return {http::status::internal_server_error};
    if (!captured) return {http::status::not_found};
    return {.body = told(key, *captured)};
  }

  Reply list(std::string_view target) const {
    std::size_t from = 0;
    if (const std::size_t at = target.find("from="); at != std::string_view::npos) {
      std::from_chars(target.data() + at + 5, target.data() + target.size(), from);
    }
    Reply reply{.body = {{"captures", Json::array()}}};
    const std::size_t end = std::min(from + page_size, book_.keys().size());
    for (std::size_t i = from; i < end; ++i) {
      reply.body["captures"].push_back(told(book_.keys()[i], book_.at(book_.keys()[i])));
    }
    if (end < book_.keys().size()) reply.body["next"] = fmt::format("{}?from={}", collection, end);
    return reply;
  }

  const std::uint64_t seed_;
  Book book_;
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(tcp::socket socket, Gateway& gateway)
      : stream_(std::move(socket)), pause_(stream_.get_executor()), gateway_(gateway) {}

  void read() {
    parser_.emplace();
    parser_->body_limit(most_bytes);
    stream_.expires_after(client_patience);
    http::async_read(stream_, buffer_, *parser_, [self = shared_from_this()](beast::error_code error, std::size_t) {
      if (!error) self->answer();
    });
  }

 private:
  void answer() {
    const HttpRequest& request = parser_->get();
    const Reply reply = gateway_.answer(request);
    if (reply.lost) return;  // and nobody has the connection any more
    response_ = http::response<http::string_body>(reply.status, request.version());
    response_.set(http::field::content_type, "application/json");
    response_.keep_alive(request.keep_alive());
    response_.body() = reply.body.dump();
    response_.prepare_payload();
    if (reply.delay.count() == 0) return write();
    pause_.expires_after(reply.delay);
    pause_.async_wait([self = shared_from_this()](beast::error_code) { self->write(); });
  }

  void write() {
    http::async_write(stream_, response_, [self = shared_from_this()](beast::error_code error, std::size_t) {
      if (!error && self->response_.keep_alive()) self->read();
    });
  }

  beast::tcp_stream stream_;
  beast::flat_buffer buffer_{most_bytes};
  std::optional<http::request_parser<http::string_body>> parser_;
  http::response<http::string_body> response_;
  asio::steady_timer pause_;
  Gateway& gateway_;
};

class Listener {
 public:
  Listener(std::uint16_t port, Gateway& gateway) : acceptor_(context_), gateway_(gateway) {
    const tcp::endpoint endpoint(asio::ip::address_v4::loopback(), port);
    acceptor_.open(endpoint.protocol());
    acceptor_.set_option(asio::socket_base::reuse_address(true));
    acceptor_.set_option(asio::detail::socket_option::boolean<SOL_SOCKET, SO_REUSEPORT>(true));  // see KeptPort
    acceptor_.bind(endpoint);
    acceptor_.listen();
    accept();
  }
  void run() { context_.run(); }

 private:
  void accept() {
    acceptor_.async_accept([this](beast::error_code error, tcp::socket socket) {
      if (!error) std::make_shared<Connection>(std::move(socket), gateway_)->read();
      error ? accept_later() : accept();
    });
  }

  // No file descriptor is left, say.
  void accept_later() {
    pause_.expires_after(std::chrono::milliseconds(10));
    pause_.async_wait([this](beast::error_code) { accept(); });
  }

  asio::io_context context_{1};
  tcp::acceptor acceptor_;
  asio::steady_timer pause_{context_};
  Gateway& gateway_;
};

}  // namespace

void serve_gateway(std::uint16_t port, std::uint64_t seed, const std::string& log) {
  Gateway gateway(seed, log);
  Listener(port, gateway).run();
  throw std::runtime_error("the gateway listens no more");
}

}  // namespace onceward::demo
