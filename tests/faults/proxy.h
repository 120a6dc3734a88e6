// A TCP proxy that misbehaves on purpose, between a client of ours and a real server. One thread of its own forwards;
// the test's thread gives it rules.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace onceward::faults {

// What happens once a client has sent `needle` (within one connection), and `beside` with it where others send the same.
struct Rule {
  enum class Act : std::uint8_t {
    cut_before,  // both sides are reset; the server never gets the bytes with the needle
    cut_after,   // the server gets everything; its answer is swallowed from then on, and once `answer_bytes` of it have
                 // come the client's side is reset
    stall,       // the server gets everything; nothing is passed on any more, in either direction, and nobody is told
  };
  std::string needle;
  Act act = Act::cut_before;
  std::size_t answer_bytes = 1;
  std::string beside{};
};

// Of postgres://user@host:port/database.
int port_of(const std::string& url);

class Proxy {
 public:
  // Listens on any port, or on this one.
  explicit Proxy(int server_port, int port = 0);
  ~Proxy();
  Proxy(const Proxy&) = delete;
  Proxy& operator=(const Proxy&) = delete;

  int port() const { return port_; }
  // `url` with our port in place of the server's.
  std::string instead_of(const std::string& url) const;

  // Holds for the next match only; of several, each from when the one before it was carried out.
  void set(const Rule& rule) { set(std::vector<Rule>{rule}); }
  void set(const std::vector<Rule>& rules);
  // How often a rule has been carried out, and how many connections were taken and turned away.
  int fired() const { return fired_; }
  int accepted() const { return accepted_; }
  int turned_away() const { return turned_away_; }
  // What clients have sent, in all.
  std::uint64_t bytes_from_clients() const { return bytes_from_clients_; }
  // New connections are closed at once; open ones go on.
  void refuse(bool refusing) { refusing_ = refusing; }
  // At most this many bytes each way in one turn of a millisecond, with small socket buffers. For connections to come.
  void throttle(std::size_t bytes_each_turn);
  // Resets every open connection.
  void cut_all() { cut_all_ = true; }

 private:
  struct Link;
  enum class Side : std::uint8_t { client, server };

  void run(const std::stop_token& stop);
  void accept_one();
  void turn(Link& link);
  bool receive(Link& link, Side from);
  bool send(Link& link, Side to);
  void look_for_needle(Link& link, std::size_t new_bytes);

  // Constant after construction.
  const int server_port_;
  int listener_ = -1;
  int port_ = 0;

  // Shared between the threads.
  std::atomic<int> fired_{0};
  std::atomic<int> accepted_{0};
  std::atomic<int> turned_away_{0};
  std::atomic<std::uint64_t> bytes_from_clients_{0};
  std::atomic<bool> refusing_{false};
  std::atomic<bool> cut_all_{false};
  std::atomic<std::size_t> throttle_{0};
  std::mutex mutex_;
  std::deque<Rule> rules_;  // guarded by mutex_

  // The forwarding thread's own.
  std::vector<std::unique_ptr<Link>> links_;

  std::jthread thread_;
};

}  // namespace onceward::faults
