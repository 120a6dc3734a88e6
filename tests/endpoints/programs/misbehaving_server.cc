// An HTTP server that misbehaves as its callers ask it to: the path says how. It is the other side of a call, and what it has done
// stands in its own log, a line of JSON for each request, written before anything else happens.
//
//   misbehaving_server LOG [--port N] [--tls CERTIFICATE KEY] [--never-accept]
//
//   /ok, /slow?ms=    200 with {"id","state"}, at once or later          /status/503?retry_after=   that status
//   /reset            reads the request and resets the connection         /reset-reused  /ok, and keeps the connection, asked or not;
//                                                                         the next request on it is read, and it is reset
//   /close            reads the request and says goodbye                  /cut           says goodbye in the middle of the body
//   /silent, /drip    no answer; an answer without an end, byte by byte   /huge          an answer of 64 MiB
//   /html, /garbage   200 with another content, or with broken JSON       /not-http      no answer of HTTP
//   /redirect?to=     307 to there, or with ?status=                      /endless-header  a header without an end
//   /calls/KEY        200 with the call that came under that key, or 404  /search/KEY    200 with all such calls
//   /list             what has come, by pages
//   /told, /told/KEY  as one of these, of which /tell has sent the path under that key; else as /ok
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <boost/asio.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast.hpp>
#include <boost/url.hpp>
#include <chrono>
#include <iostream>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace urls = boost::urls;
using Json = nlohmann::json;
using Tcp = asio::ip::tcp;
using Request = http::request<http::string_body>;

constexpr std::uint64_t most_body_bytes = 64u << 20;
constexpr std::size_t huge_bytes = 64u << 20;
constexpr std::size_t page_items = 3;

// What the other side knows: all threads', guarded by the mutex; the file is the truth for those who judge.
class Book {
 public:
  explicit Book(const char* path) : file_(open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644)) {}

  // Returns when the line is written.
  void add(const Request& request, const std::string& path, int connection) {
    Json line{{"connection", connection},
              {"method", std::string(request.method_string())},
              {"target", std::string(request.target())},
              {"key", std::string(request["Idempotency-Key"])},
              {"body", request.body()},
              {"headers", Json::object()}};
    for (const auto& field : request) line["headers"][std::string(field.name_string())] = std::string(field.value());
    const std::string text = line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
    const std::lock_guard lock(mutex_);
    if (write(file_, text.data(), text.size()) != static_cast<ssize_t>(text.size())) std::abort();
    if (request.method() != http::verb::get && path != "/status/404") calls_.try_emplace(line["key"], calls_.size());
  }
  void tell(const std::string& key, const std::string& target) {
    const std::lock_guard lock(mutex_);
    told_[key] = target;
  }
  std::string told(const std::string& key) {
    const std::lock_guard lock(mutex_);
    const auto found = told_.find(key);
    return found == told_.end() ? "/ok" : found->second;
  }
  bool has(const std::string& key) {
    const std::lock_guard lock(mutex_);
    return calls_.contains(key);
  }
  std::map<std::string, std::size_t> all() {
    const std::lock_guard lock(mutex_);
    return calls_;
  }

 private:
  const int file_;
  std::mutex mutex_;
  std::map<std::string, std::size_t> calls_;  // keys, in the order in which they came
  std::map<std::string, std::string> told_;   // how to behave, by key
};

std::string reference_of(const std::string& key) { return "ref-" + key; }

template <class Stream>
class Connection {
 public:
  Connection(Stream& stream, Book& book, int number) : stream_(stream), book_(book), number_(number) {}

  void serve() {
    beast::flat_buffer buffer;
    for (int requests = 0;; ++requests) {
      http::request_parser<http::string_body> parser;
      parser.body_limit(most_body_bytes);
      http::read(stream_, buffer, parser);
      request_ = parser.release();
      key_ = request_["Idempotency-Key"];
      read_target(request_.target());
      if (path_ == "/tell") {
        book_.tell(key_, request_.body());
        send(200, "{}");
        continue;
      }
      if (path_.starts_with("/told")) {
        if (path_.size() > 6) key_ = path_.substr(6);
        read_target(book_.told(key_));
      }
      book_.add(request_, path_, number_);
      if (!answer(requests > 0)) return;
    }
  }

 private:
  void read_target(std::string_view text) {
    const auto target = urls::parse_origin_form(text).value();
    path_ = target.path();
    parameters_.clear();
    for (const auto& parameter : target.params()) parameters_[parameter.key] = parameter.value;
  }
  // Whether the connection goes on.
  bool answer(bool reused) {
    if (path_ == "/reset" || (path_ == "/reset-reused" && reused)) return reset();
    if (path_ == "/close") return false;
    if (path_ == "/silent") return hold();
    if (path_ == "/not-http") return write_raw("220 mail.example ESMTP\r\n");
    if (path_ == "/cut") return write_raw("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{\"id\":\"half\"");
    if (path_ == "/drip") return drip("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\nx\r\n");
    if (path_ == "/endless-header") return flood("HTTP/1.1 200 OK\r\n", "X-More: " + std::string(1000, 'x') + "\r\n");
    if (path_ == "/huge")
      return flood(fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", huge_bytes), std::string(4096, 'x'));
    if (path_ == "/html") return send(200, "<html>{\"id\":\"no\"}</html>", "text/html");
    if (path_ == "/garbage") return send(200, "{\"id\":\"no\"");
    if (path_ == "/redirect") return send_redirect();
    if (path_.starts_with("/status/")) return send_status();
    if (path_.starts_with("/calls/")) return send_call(path_.substr(7));
    if (path_.starts_with("/search/")) return send_search(path_.substr(8));
    if (path_.starts_with("/list")) return send_list();
    if (path_ == "/slow") std::this_thread::sleep_for(std::chrono::milliseconds(std::stoi(parameters_["ms"])));
    return send(200, Json{{"id", reference_of(key_)}, {"state", "done"}}.dump());
  }

  bool send(unsigned status, const std::string& body, const std::string& type = "application/json",
            const std::map<std::string, std::string>& headers = {}) {
    http::response<http::string_body> response{http::int_to_status(status), request_.version()};
    response.result(status);
    response.set(http::field::content_type, type);
    for (const auto& [name, value] : headers) response.set(name, value);
    const bool goes_on = path_ == "/reset-reused" || request_.keep_alive();
    response.keep_alive(goes_on);
    response.body() = body;
    response.prepare_payload();
    http::write(stream_, response);
    return goes_on;
  }
  bool send_status() {
    std::map<std::string, std::string> headers;
    if (parameters_.contains("retry_after")) headers["Retry-After"] = parameters_["retry_after"];
    const auto status = static_cast<unsigned>(std::stoi(path_.substr(8)));
    return send(status, status == 204 ? "" : R"({"error":"as asked for"})", "application/json", headers);
  }
  bool send_redirect() {
    const auto status = parameters_.contains("status") ? static_cast<unsigned>(std::stoi(parameters_["status"])) : 307;
    return send(status, "{}", "application/json", {{"Location", parameters_["to"]}});
  }
  Json call_under(const std::string& key) {
    return {{"id", reference_of(key)}, {"state", parameters_.contains("state") ? parameters_["state"] : "done"}};
  }
  bool send_call(const std::string& key) {
    if (!book_.has(key)) return send(404, R"({"error":"no such call"})");
    return send(200, call_under(key).dump());
  }
  // {"data":[...]}, or the array alone with "?bare".
  bool send_search(const std::string& key) {
    Json found = Json::array();
    if (book_.has(key)) found.push_back(call_under(key));
    return send(200, parameters_.contains("bare") ? found.dump() : Json{{"data", found}}.dump());
  }
  // "/list": by pages of three; "/list-away" leads to another host, "/list-loop" never ends, "/list-wrong" is no list.
  bool send_list() {
    std::vector<std::pair<std::size_t, std::string>> calls;
    for (const auto& [key, number] : book_.all()) calls.emplace_back(number, key);
    std::ranges::sort(calls);
    const std::size_t from = parameters_.contains("from") ? std::stoul(parameters_["from"]) : 0;
    Json items = Json::array();
    for (std::size_t at = from; at < std::min(from + page_items, calls.size()); ++at) {
      items.push_back({{"key", calls[at].second}, {"made", {{"id", reference_of(calls[at].second)}}}});
    }
    Json page{{"data", path_ == "/list-wrong" ? Json("none") : items}, {"next", nullptr}};
    if (from + page_items < calls.size()) page["next"] = fmt::format("/list?from={}", from + page_items);
    if (path_ == "/list-loop") page["next"] = "/list-loop";
    if (path_ == "/list-away") page["next"] = "http://localhost:1/list";
    return send(200, page.dump());
  }

  bool write_raw(const std::string& text) {
    asio::write(stream_, asio::buffer(text));
    return false;
  }
  bool drip(const std::string& begin, const std::string& drop) {
    for (write_raw(begin);; write_raw(drop)) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  bool flood(const std::string& begin, const std::string& more) {
    write_raw(begin);
    for (std::size_t sent = 0; sent < huge_bytes; sent += more.size()) write_raw(more);
    return false;
  }
  // Until the other side has had enough.
  bool hold() {
    char byte = 0;
    asio::read(stream_, asio::buffer(&byte, 1));
    return false;
  }
  bool reset() {
    auto& socket = beast::get_lowest_layer(stream_);
    socket.set_option(asio::socket_base::linger(true, 0));
    socket.close();
    return false;
  }

  Stream& stream_;
  Book& book_;
  const int number_;
  Request request_;
  std::string key_, path_;
  std::map<std::string, std::string> parameters_;
};

void serve(Tcp::socket socket, asio::ssl::context* tls, Book& book, int number) {
  try {
    if (tls == nullptr) return Connection(socket, book, number).serve();
    asio::ssl::stream<Tcp::socket> stream(std::move(socket), *tls);
    stream.handshake(asio::ssl::stream_base::server);
    Connection(stream, book, number).serve();
  } catch (const std::exception&) {  // the other side has left
  }
}

// Nobody is taken, and the line of those who wait is full while these live.
std::vector<Tcp::socket> fill_the_line(asio::io_context& context, const Tcp::acceptor& acceptor) {
  std::vector<Tcp::socket> waiting;
  for (int i = 0; i < 4; ++i) {
    waiting.emplace_back(context, Tcp::v4());
    waiting.back().native_non_blocking(true);
    const Tcp::endpoint place = acceptor.local_endpoint();
    ::connect(waiting.back().native_handle(), place.data(), static_cast<socklen_t>(place.size()));  // asio's would wait
  }
  return waiting;
}

}  // namespace

int main(int count, char** arguments) {
  signal(SIGPIPE, SIG_IGN);
  if (count < 2) return 2;
  Book book(arguments[1]);
  std::optional<asio::ssl::context> tls;
  bool accepts = true;
  std::uint16_t port = 0;
  for (int at = 2; at < count; ++at) {
    const std::string_view word = arguments[at];
    if (word == "--port") port = static_cast<std::uint16_t>(std::atoi(arguments[++at]));
    if (word == "--never-accept") accepts = false;
    if (word == "--tls") {
      tls.emplace(asio::ssl::context::tls_server);
      tls->use_certificate_chain_file(arguments[++at]);
      tls->use_private_key_file(arguments[++at], asio::ssl::context::pem);
    }
  }
  asio::io_context context;
  Tcp::acceptor acceptor(context);
  acceptor.open(Tcp::v4());
  acceptor.set_option(asio::socket_base::reuse_address(true));
  acceptor.bind({asio::ip::address_v4::loopback(), port});
  acceptor.listen(accepts ? 1024 : 0);
  const auto waiting = accepts ? std::vector<Tcp::socket>() : fill_the_line(context, acceptor);
  std::cout << "port " << acceptor.local_endpoint().port() << std::endl;
  if (!accepts) pause();
  for (int number = 1;; ++number) {
    std::thread(serve, acceptor.accept(), tls ? &*tls : nullptr, std::ref(book), number).detach();
  }
}
