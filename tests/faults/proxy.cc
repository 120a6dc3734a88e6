#include "tests/faults/proxy.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace onceward::faults {
namespace {

constexpr std::size_t most_buffered = 1u << 20;
constexpr int turn_ms = 1;

[[noreturn]] void fail(const char* what) { throw std::runtime_error(std::string(what) + ": " + std::strerror(errno)); }

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

int new_socket() {
  const int made = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (made < 0) fail("socket");
  return made;
}

// Before the connection is made, and not below a few segments of loopback: a window that shrinks under what is already
// on its way costs 200 ms each time.
void make_narrow(int socket) {
  const int size = 128 * 1024;
  setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
  setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
}

void without_delay(int socket) {
  const int on = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) | O_NONBLOCK);
}

// Closes with RST, as a machine does that has lost its memory of the connection.
void reset(int socket) {
  const linger at_once{1, 0};
  setsockopt(socket, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  close(socket);
}

}  // namespace

int port_of(const std::string& url) { return std::stoi(url.substr(url.rfind(':') + 1)); }

std::string Proxy::instead_of(const std::string& url) const {
  return url.substr(0, url.rfind(':') + 1) + std::to_string(port_) + url.substr(url.rfind('/'));
}

struct Proxy::Link {
  int client;
  int server;
  std::size_t throttle;
  std::string to_server;
  std::string to_client;
  std::string seen;  // the end of what the client sent, for needles that come in pieces
  bool client_ended = false;
  bool server_ended = false;
  std::optional<Rule> carried_out;
  std::size_t swallowed = 0;
  bool dead = false;

  Link(int from, int to, std::size_t limit) : client(from), server(to), throttle(limit) {}
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;
  ~Link() {
    if (dead) {
      reset(client);
      reset(server);
    } else {
      close(client);
      close(server);
    }
  }
};

Proxy::Proxy(int server_port, int port) : server_port_(server_port), listener_(new_socket()) {
  sockaddr_in address = loopback(port);
  socklen_t size = sizeof address;
  const int on = 1;
  setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(listener_, reinterpret_cast<const sockaddr*>(&address), size) != 0) fail("bind");
  if (listen(listener_, 64) != 0) fail("listen");
  getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
  port_ = ntohs(address.sin_port);
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

Proxy::~Proxy() {
  thread_.request_stop();
  thread_.join();
  links_.clear();
  close(listener_);
}

void Proxy::throttle(std::size_t bytes_each_turn) {
  make_narrow(listener_);  // inherited by what is accepted
  throttle_ = bytes_each_turn;
}

void Proxy::set(const std::vector<Rule>& rules) {
  const std::scoped_lock lock(mutex_);
  rules_.assign(rules.begin(), rules.end());
}

void Proxy::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    std::vector<pollfd> sockets{{listener_, POLLIN, 0}};
    for (const auto& link : links_) {
      const bool stalled = link->carried_out && link->carried_out->act == Rule::Act::stall;
      const auto events = [&](bool ended, const std::string& inward, const std::string& outward) {
        short wanted = 0;
        if (!ended && !stalled && inward.size() < most_buffered && link->throttle == 0) wanted |= POLLIN;
        if (!outward.empty() && link->throttle == 0) wanted |= POLLOUT;
        return wanted;
      };
      sockets.push_back({link->client, events(link->client_ended, link->to_server, link->to_client), 0});
      sockets.push_back({link->server, events(link->server_ended, link->to_client, link->to_server), 0});
    }
    const bool throttled =
        std::any_of(links_.begin(), links_.end(), [](const auto& link) { return link->throttle > 0; });
    poll(sockets.data(), sockets.size(), throttled ? turn_ms : 20);
    if ((sockets[0].revents & POLLIN) != 0) accept_one();
    const bool cut = cut_all_.exchange(false);  // once: a request that comes during this turn is for the next
    for (const auto& link : links_) {
      if (cut) link->dead = true;
      if (!link->dead) turn(*link);
    }
    std::erase_if(links_, [](const auto& link) {
      return link->dead || (link->client_ended && link->to_server.empty()) ||
             (link->server_ended && link->to_client.empty());
    });
  }
}

void Proxy::accept_one() {
  const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  if (client < 0) return;
  const std::size_t limit = throttle_;
  const int server = new_socket();
  if (limit > 0) make_narrow(server);
  const sockaddr_in address = loopback(server_port_);
  if (refusing_ || connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    reset(client);
    close(server);
    ++turned_away_;
    return;
  }
  without_delay(client);
  without_delay(server);
  ++accepted_;
  links_.push_back(std::make_unique<Link>(client, server, limit));
}

void Proxy::turn(Link& link) {
  const bool stalled = link.carried_out && link.carried_out->act == Rule::Act::stall;
  if (!send(link, Side::server) || (!stalled && !send(link, Side::client)) ||
      (!stalled && (!receive(link, Side::client) || !receive(link, Side::server)))) {
    link.dead = true;
  }
}

// False: the connection is lost, or a rule says so.
bool Proxy::receive(Link& link, Side from) {
  const bool is_client = from == Side::client;
  bool& ended = is_client ? link.client_ended : link.server_ended;
  std::string& buffer = is_client ? link.to_server : link.to_client;
  if (ended || buffer.size() >= most_buffered) return true;
  char bytes[64 * 1024];
  const std::size_t wanted = link.throttle > 0 ? std::min(link.throttle, sizeof bytes) : sizeof bytes;
  const ssize_t got = recv(is_client ? link.client : link.server, bytes, wanted, 0);
  if (got == 0) ended = true;
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  if (got == 0) return true;
  const auto size = static_cast<std::size_t>(got);
  if (is_client) {
    bytes_from_clients_ += size;
    buffer.append(bytes, size);
    look_for_needle(link, size);
    return !(link.carried_out && link.carried_out->act == Rule::Act::cut_before);
  }
  if (link.carried_out && link.carried_out->act == Rule::Act::cut_after) {
    link.swallowed += size;
    return link.swallowed < link.carried_out->answer_bytes;
  }
  buffer.append(bytes, size);
  return true;
}

bool Proxy::send(Link& link, Side to) {
  std::string& buffer = to == Side::client ? link.to_client : link.to_server;
  if (buffer.empty()) return true;
  const std::size_t size = link.throttle > 0 ? std::min(link.throttle, buffer.size()) : buffer.size();
  const ssize_t sent = ::send(to == Side::client ? link.client : link.server, buffer.data(), size, MSG_NOSIGNAL);
  if (sent < 0) return errno == EAGAIN || errno == EINTR;
  buffer.erase(0, static_cast<std::size_t>(sent));
  return true;
}

void Proxy::look_for_needle(Link& link, std::size_t new_bytes) {
  const std::scoped_lock lock(mutex_);
  if (rules_.empty() || link.carried_out) return;
  const Rule& rule = rules_.front();
  // Only what came last can complete the needle; what was sent on before is remembered in `seen`.
  link.seen.append(link.to_server, link.to_server.size() - new_bytes, new_bytes);
  const auto has = [&](const std::string& text) { return link.seen.find(text) != std::string::npos; };
  if (has(rule.needle) && has(rule.beside)) {
    link.carried_out = rule;
    rules_.pop_front();
    ++fired_;
  } else if (link.seen.size() > rule.needle.size()) {
    link.seen.erase(0, link.seen.size() - rule.needle.size());
  }
}

}  // namespace onceward::faults
