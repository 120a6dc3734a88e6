// The server's own side. One thread.
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <deque>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <unordered_set>

#include "bench/dispatch/server.h"

namespace onceward::bench {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using Clock = std::chrono::steady_clock;
using Request = http::request<http::string_body>;

constexpr std::chrono::milliseconds latency{1};
constexpr std::chrono::milliseconds look_at_manner{5};
constexpr std::chrono::seconds client_patience{60};
constexpr std::size_t most_bytes = 64u << 10;

std::string written(http::status status, bool keep_alive) {
  http::response<http::string_body> response(status, 11);
  response.set(http::field::content_type, "application/json");
  if (status == http::status::service_unavailable) response.set(http::field::retry_after, "1");
  response.keep_alive(keep_alive);
  response.body() = R"({"id":"1"})";
  response.prepare_payload();
  std::ostringstream text;
  text << response;
  return std::move(text).str();
}

// The same bytes for everybody.
class Answers {
 public:
  const std::string& of(bool well, bool keep_alive) const {
    return keep_alive ? (well ? well_ : refusing_) : (well ? well_and_close_ : refusing_and_close_);
  }

 private:
  const std::string well_ = written(http::status::ok, true), well_and_close_ = written(http::status::ok, false),
                    refusing_ = written(http::status::service_unavailable, true),
                    refusing_and_close_ = written(http::status::service_unavailable, false);
};

class Counting {
 public:
  explicit Counting(ServerBook& book) : book_(book) {}

  // Whether it is answered well.
  bool count(const Request& request, std::size_t bytes) {
    ++book_.requests;
    book_.bytes += bytes;
    if (book_.manner != Manner::well) {
      ++book_.refused;
      return false;
    }
    count_second();
    ++book_.done;
    if (!keys_.emplace(request["Idempotency-Key"]).second) ++book_.repeated;
    return true;
  }

 private:
  void count_second() {
    const auto now = Clock::now();
    times_.push_back(now);
    while (now - times_.front() >= std::chrono::seconds(1)) times_.pop_front();
    if (times_.size() > book_.most_in_a_second) book_.most_in_a_second = times_.size();
  }

  ServerBook& book_;
  std::unordered_set<std::string> keys_;
  std::deque<Clock::time_point> times_;  // of the last second
};

class ServedConnection : public std::enable_shared_from_this<ServedConnection> {
 public:
  ServedConnection(tcp::socket socket, Counting& counting, const Answers& answers)
      : stream_(std::move(socket)), pause_(stream_.get_executor()), counting_(counting), answers_(answers) {
    stream_.socket().set_option(tcp::no_delay(true));
  }

  void read() {
    parser_.emplace();
    parser_->body_limit(most_bytes);
    stream_.expires_after(client_patience);
    http::async_read(stream_, buffer_, *parser_,
                     [self = shared_from_this()](beast::error_code error, std::size_t bytes) {
                       if (!error) self->answer_later(bytes);
                     });
  }

 private:
  void answer_later(std::size_t bytes) {
    const Request& request = parser_->get();
    goes_on_ = request.keep_alive();
    answer_ = &answers_.of(counting_.count(request, bytes), goes_on_);
    pause_.expires_after(latency);
    pause_.async_wait([self = shared_from_this()](beast::error_code) { self->write(); });
  }
  void write() {
    asio::async_write(stream_, asio::buffer(*answer_),
                      [self = shared_from_this()](beast::error_code error, std::size_t) {
                        if (!error && self->goes_on_) self->read();
                      });
  }

  beast::tcp_stream stream_;
  beast::flat_buffer buffer_{most_bytes};
  std::optional<http::request_parser<http::string_body>> parser_;
  asio::steady_timer pause_;
  Counting& counting_;
  const Answers& answers_;
  const std::string* answer_ = nullptr;
  bool goes_on_ = false;
};

class ServingProcess {
 public:
  explicit ServingProcess(ServerBook& book) : book_(book), counting_(book) {
    const tcp::endpoint any_port(asio::ip::address_v4::loopback(), 0);
    acceptor_.open(any_port.protocol());
    acceptor_.bind(any_port);
    book_.port = acceptor_.local_endpoint().port();
    listen_when_asked();
  }
  void run() { context_.run(); }

 private:
  void listen_when_asked() {
    if (book_.manner != Manner::away) {
      acceptor_.listen();
      book_.listens = true;
      return accept();
    }
    pause_.expires_after(look_at_manner);
    pause_.async_wait([this](beast::error_code) { listen_when_asked(); });
  }
  void accept() {
    acceptor_.async_accept([this](beast::error_code error, tcp::socket socket) {
      if (error) throw std::runtime_error("accept: " + error.message());
      ++book_.connections;
      std::make_shared<ServedConnection>(std::move(socket), counting_, answers_)->read();
      accept();
    });
  }

  ServerBook& book_;
  Counting counting_;
  const Answers answers_;
  asio::io_context context_{1};
  tcp::acceptor acceptor_{context_};
  asio::steady_timer pause_{context_};
};

}  // namespace

int run_as_server(int book_file) {
  const Shared<ServerBook> book(book_file);
  ServingProcess(*book).run();
  return 1;
}

}  // namespace onceward::bench
