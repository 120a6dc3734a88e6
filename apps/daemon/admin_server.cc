#include "apps/daemon/admin_server.h"

#include <fmt/format.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
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

constexpr int most_connections = 32;
constexpr std::chrono::seconds client_patience{10};
constexpr std::uint32_t most_header_bytes = 8u << 10;

using Response = http::response<http::string_body>;

Response answer(const Pages& pages, const http::request<http::empty_body>& request) {
  Page page{405, "text/plain; charset=utf-8", "only GET\n"};
  if (request.method() == http::verb::get || request.method() == http::verb::head) {
    const std::string_view target(request.target().data(), request.target().size());
    page = pages(target.substr(0, target.find('?')));
  }
  Response response(static_cast<http::status>(page.status), request.version());
  response.set(http::field::server, "onceward");
  response.set(http::field::content_type, page.content_type);
  response.set(http::field::cache_control, "no-store");
  response.keep_alive(request.keep_alive());
  response.body() = std::move(page.body);
  response.prepare_payload();
  if (request.method() == http::verb::head) response.body().clear();
  return response;
}

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(tcp::socket socket, const Pages& pages, int& open)
      : stream_(std::move(socket)), pages_(pages), open_(open) {
    ++open_;
  }
  ~Connection() { --open_; }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void read() {
    parser_.emplace();
    parser_->header_limit(most_header_bytes);
    parser_->body_limit(0);
    stream_.expires_after(client_patience);
    http::async_read(stream_, buffer_, *parser_, [self = shared_from_this()](beast::error_code error, std::size_t) {
      if (!error) self->write();
    });
  }

 private:
  void write() {
    response_ = answer(pages_, parser_->get());
    http::async_write(stream_, response_, [self = shared_from_this()](beast::error_code error, std::size_t) {
      if (!error && self->response_.keep_alive()) self->read();
    });
  }

  beast::tcp_stream stream_;
  beast::flat_buffer buffer_{most_header_bytes};
  std::optional<http::request_parser<http::empty_body>> parser_;
  Response response_;
  const Pages& pages_;
  int& open_;
};

}  // namespace

class AdminServer::Listener {
 public:
  Listener(const std::string& host, std::uint16_t port, Pages pages)
      : pages_(std::move(pages)), acceptor_(context_), address_(fmt::format("{}:{}", host, port)) {
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
      if (!error && open_ < most_connections) std::make_shared<Connection>(std::move(socket), pages_, open_)->read();
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

  const Pages pages_;
  int open_ = 0;  // of the thread
  asio::io_context context_{1};
  tcp::acceptor acceptor_;
  asio::steady_timer pause_{context_};
  const std::string address_;
  std::jthread thread_;  // last: it uses all of the above
};

AdminServer::AdminServer(const std::string& host, std::uint16_t port, Pages pages)
    : listener_(std::make_unique<Listener>(host, port, std::move(pages))) {}

AdminServer::~AdminServer() = default;

std::uint16_t AdminServer::port() const { return listener_->port(); }

}  // namespace onceward::daemon
