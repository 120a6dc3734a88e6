#include "apps/daemon/admin_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <optional>
#include <system_error>
#include <thread>

namespace onceward::daemon {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;

constexpr int most_connections = 64;
constexpr std::chrono::seconds client_patience{10};
constexpr std::uint32_t most_header_bytes = 8u << 10;
constexpr std::size_t most_buffered_bytes = 64u << 10;

using Message = http::request<http::string_body>;
using Response = http::response<http::string_body>;

bool is_local(const tcp::socket& socket) {
  beast::error_code error;
  const tcp::endpoint peer = socket.remote_endpoint(error);
  return !error && is_loopback(peer.address().to_string());
}

// Nothing for one that has gone, or falls silent: there is nobody to answer.
std::optional<unsigned> status_for(beast::error_code error) {
  if (error == http::error::header_limit || error == http::error::buffer_overflow) return 431;
  const bool of_http = error.category() == beast::error_code(http::error::bad_method).category();
  if (!of_http || error == http::error::end_of_stream || error == http::error::partial_message) return std::nullopt;
  return 400;
}

Request without_body(const Message& message, bool local) {
  const std::string_view target(message.target().data(), message.target().size());
  Request request{std::string(message.method_string()), std::string(target.substr(0, target.find('?'))), {}, local};
  for (const auto& field : message) {
    std::string name(field.name_string());
    std::ranges::transform(name, name.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; });
    std::string& value = request.headers[name];
    if (!value.empty()) value += ", ";
    value += std::string(field.value());
  }
  return request;
}

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(tcp::socket socket, const Service& service, int& open)
      : stream_(std::move(socket)), local_(is_local(stream_.socket())), service_(service), open_(open) {
    ++open_;
  }
  ~Connection() { --open_; }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void read() {
    parser_.emplace();
    parser_->header_limit(most_header_bytes);
    parser_->body_limit(service_.most_body_bytes);
    stream_.expires_after(client_patience);
    http::async_read_header(stream_, buffer_, *parser_, [self = shared_from_this()](beast::error_code error, auto) {
      self->has_read(error, &Connection::begin);
    });
  }

 private:
  void has_read(beast::error_code error, void (Connection::*then)()) {
    if (!error) return (this->*then)();
    if (error == http::error::body_limit) return refuse(service_.refuse_large(without_body(parser_->get(), local_)));
    if (const auto status = status_for(error)) refuse(service_.refuse_unread(*status));
  }

  // What comes after the body is no part of what was asked: whoever asks was looked at before.
  void begin() {
    request_ = without_body(parser_->get(), local_);
    if (auto page = service_.refuse(request_)) return refuse(*std::move(page));
    if (!beast::iequals(parser_->get()[http::field::expect], "100-continue")) return read_body();
    go_ahead_ = {http::status::continue_, 11};
    http::async_write(stream_, go_ahead_, [self = shared_from_this()](beast::error_code error, std::size_t) {
      if (!error) self->read_body();
    });
  }

  void read_body() {
    if (parser_->is_done()) return serve();
    http::async_read(stream_, buffer_, *parser_, [self = shared_from_this()](beast::error_code error, std::size_t) {
      self->has_read(error, &Connection::serve);
    });
  }

  void serve() {
    request_.body = std::move(parser_->get().body());
    service_.serve(std::move(request_), [self = shared_from_this()](Page page) {
      asio::post(self->stream_.get_executor(), [self, page = std::move(page)]() mutable {
        // Those who watch must find a place, however many come to the front door.
        self->write(std::move(page), self->parser_->keep_alive() && self->open_ < most_connections / 2);
      });
    });
  }

  // What is left of the request stays unread where there is a body.
  void refuse(Page page) { write(std::move(page), parser_->is_done() && parser_->keep_alive()); }

  void write(Page page, bool keep_alive) {
    response_ = Response(static_cast<http::status>(page.status), parser_->get().version());
    response_.set(http::field::server, "onceward");
    response_.set(http::field::content_type, page.content_type);
    response_.set(http::field::cache_control, "no-store");
    for (const auto& [name, value] : page.headers) response_.set(name, value);
    response_.keep_alive(keep_alive);
    response_.body() = std::move(page.body);
    response_.prepare_payload();
    if (parser_->get().method() == http::verb::head) response_.body().clear();
    stream_.expires_after(client_patience);
    http::async_write(stream_, response_, [self = shared_from_this()](beast::error_code error, std::size_t) {
      if (error) return;
      self->response_.keep_alive() ? self->read() : self->leave();
    });
  }

  // One who still sends would be told of a broken connection, and not what was answered.
  void leave() {
    beast::error_code ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
    discard();
  }
  void discard() {
    buffer_.clear();
    stream_.async_read_some(buffer_.prepare(most_buffered_bytes / 2),
                            [self = shared_from_this()](beast::error_code error, std::size_t) {
                              if (!error) self->discard();
                            });
  }

  beast::tcp_stream stream_;
  const bool local_;
  beast::flat_buffer buffer_{most_buffered_bytes};
  std::optional<http::request_parser<http::string_body>> parser_;
  Request request_;
  http::response<http::empty_body> go_ahead_;
  Response response_;
  const Service& service_;
  int& open_;
};

}  // namespace

class AdminServer::Listener {
 public:
  Listener(const std::string& host, std::uint16_t port, Service service)
      : service_(std::move(service)), acceptor_(context_), address_(fmt::format("{}:{}", host, port)) {
    try {
      const tcp::endpoint endpoint(asio::ip::make_address(host == "localhost" ? "127.0.0.1" : host), port);
      acceptor_.open(endpoint.protocol());
      acceptor_.set_option(asio::socket_base::reuse_address(true));
      acceptor_.bind(endpoint);
      acceptor_.listen();
    } catch (const boost::system::system_error& error) {
      throw std::system_error(error.code(), fmt::format("the admin server cannot listen on {}", address_));
    }
    accept();
    thread_ = std::jthread([this] { context_.run(); });
  }
  ~Listener() { context_.stop(); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  std::uint16_t port() const { return acceptor_.local_endpoint().port(); }

 private:
  void accept() {
    acceptor_.async_accept([this](beast::error_code error, tcp::socket socket) {
      // One too many is closed at once: a probe that leaks connections must not take the daemon with it.
      if (!error && open_ < most_connections) std::make_shared<Connection>(std::move(socket), service_, open_)->read();
      if (error == asio::error::operation_aborted) return;
      error ? accept_later() : accept();
    });
  }

  // No file descriptor is left, say: asking again at once would keep a core busy.
  void accept_later() {
    pause_.expires_after(std::chrono::milliseconds(100));
    pause_.async_wait([this](beast::error_code error) {
      if (!error) accept();
    });
  }

  const Service service_;
  int open_ = 0;  // of the thread
  asio::io_context context_{1};
  tcp::acceptor acceptor_;
  asio::steady_timer pause_{context_};
  const std::string address_;
  std::jthread thread_;  // last: it uses all of the above
};

bool is_loopback(const std::string& address) {
  beast::error_code error;
  const asio::ip::address read = asio::ip::make_address(address, error);
  if (error) return false;
  if (read.is_v6() && read.to_v6().is_v4_mapped()) {
    return asio::ip::make_address_v4(asio::ip::v4_mapped, read.to_v6()).is_loopback();
  }
  return read.is_loopback();
}

AdminServer::AdminServer(const std::string& host, std::uint16_t port, Service service)
    : listener_(std::make_unique<Listener>(host, port, std::move(service))) {}

AdminServer::~AdminServer() = default;

std::uint16_t AdminServer::port() const { return listener_->port(); }

}  // namespace onceward::daemon
