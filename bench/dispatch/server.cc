#include "bench/dispatch/server.h"

#include <fmt/format.h>

#include <chrono>
#include <stdexcept>
#include <thread>

namespace onceward::bench {
namespace {

constexpr std::chrono::seconds patience{10};

template <class Condition>
void await(const CalledServer& server, Condition condition) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!condition()) {
    server.check_alive();
    if (std::chrono::steady_clock::now() > end) throw std::runtime_error("the called server does not get ready");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace

CalledServer::CalledServer(Manner manner) : child_({"--as-server", std::to_string(book_.file())}) {
  await(*this, [&] { return book_->port != 0; });
  behave(manner);
}

void CalledServer::behave(Manner manner) {
  book_->manner = manner;
  if (manner != Manner::away) await(*this, [&] { return book_->listens.load(); });
}

std::string CalledServer::url() const { return fmt::format("http://127.0.0.1:{}/calls", book_->port.load()); }

}  // namespace onceward::bench
