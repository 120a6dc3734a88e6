// The other side of the calls: an HTTP server in a process of its own, that answers every request a millisecond after it has
// read it, and counts what it has seen. It knows nothing of Onceward.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "bench/dispatch/child.h"

namespace onceward::bench {

enum class Manner : std::uint8_t {
  away,      // the port is kept, and nobody listens there
  refusing,  // 503, and in a second again
  well,      // 200
};

// By the server's own count and clock.
struct ServerBook {
  std::atomic<Manner> manner{Manner::away};
  std::atomic<std::uint16_t> port{};  // 0: not ready yet
  std::atomic<bool> listens{};
  std::atomic<std::uint64_t> requests{}, bytes{};  // read, whatever the answer
  std::atomic<std::uint64_t> done{};               // answered with 200
  std::atomic<std::uint64_t> repeated{};           // of these, under a key that was answered so before
  std::atomic<std::uint64_t> refused{};            // answered with 503
  std::atomic<std::uint64_t> connections{};
  std::atomic<std::uint64_t> most_in_a_second{};  // requests in any one second since it is well
};

class CalledServer {
 public:
  // Returns when it is ready. It takes no calls before it listens.
  explicit CalledServer(Manner manner);

  // Returns when it does so.
  void behave(Manner manner);
  std::string url() const;
  const ServerBook& book() const { return *book_; }
  void check_alive() const { child_.check_alive(); }

 private:
  const Shared<ServerBook> book_;
  const Child child_;
};

// The other side: serves until it is killed. Called by main() for the hidden argument.
int run_as_server(int book_file);

}  // namespace onceward::bench
