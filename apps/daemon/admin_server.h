// A small HTTP server on loopback for those who watch the daemon: /livez, /readyz, /metrics. Its own thread; every
// connection has a deadline, and there are few of them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace onceward::daemon {

struct Page {
  unsigned status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
};

// What is asked for with GET; status 404 for what is not there. Called from the server's thread.
using Pages = std::function<Page(std::string_view path)>;

class AdminServer {
 public:
  // Listens at once; port 0 takes a free one. Throws std::system_error naming the address.
  AdminServer(const std::string& host, std::uint16_t port, Pages pages);
  ~AdminServer();

  std::uint16_t port() const;

 private:
  class Listener;
  std::unique_ptr<Listener> listener_;
};

}  // namespace onceward::daemon
