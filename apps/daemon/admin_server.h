// A small HTTP server for those who watch the daemon (/livez, /readyz, /metrics) and for its front door (POST /ingress/...). Its
// own thread; every connection has a deadline, and there are few of them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace onceward::daemon {

struct Page {
  unsigned status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body{};
  std::vector<std::pair<std::string, std::string>> headers{};
};

struct Request {
  std::string method;
  std::string path;  // without its query
  // By their names in lower case; those that came twice are joined by ", ". None of those that follow a body.
  std::map<std::string, std::string> headers;
  bool local = false;  // it comes from this machine
  std::string body{};

  // Empty: it is not there.
  std::string_view header(const std::string& name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? std::string_view() : found->second;
  }
};

// To be called once, from any thread, while the server lives.
using Respond = std::function<void(Page)>;

// What is served. All of it is called from the server's thread, and none of it waits.
struct Service {
  std::size_t most_body_bytes = 0;
  // Before the body is read: an answer in the place of any other.
  std::function<std::optional<Page>(const Request& without_body)> refuse;
  std::function<Page(const Request& without_body)> refuse_large;
  // The answer to what is no HTTP, with status 400, or has a header above 8 KiB, with 431.
  std::function<Page(unsigned status)> refuse_unread;
  std::function<void(Request, Respond)> serve;
};

// Whether an address, as text, leads to the machine that asks: also one of IPv4 that is written as one of IPv6.
bool is_loopback(const std::string& address);

class AdminServer {
 public:
  // Listens at once; port 0 takes a free one. Throws std::system_error naming the address.
  AdminServer(const std::string& host, std::uint16_t port, Service service);
  ~AdminServer();

  std::uint16_t port() const;

 private:
  class Listener;
  std::unique_ptr<Listener> listener_;
};

}  // namespace onceward::daemon
