#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <thread>

#include "adapters/postgres/connection.h"
#include "onceward/adapter/postgres.h"

namespace onceward {
namespace {

constexpr int pause_ms = 2'000;                             // between two tries to connect
constexpr std::chrono::milliseconds longest_quiet{60'000};  // until the server is asked whether it is still there

}  // namespace

class PostgresBell::Body {
 public:
  Body(PostgresOptions options, std::function<void()> ring)
      : options_(std::move(options)),
        ring_(std::move(ring)),
        end_(::eventfd(0, EFD_CLOEXEC)),
        thread_([this](std::stop_token stop) { run(stop); }) {}

  ~Body() {
    thread_.request_stop();
    ::eventfd_write(end_.number, 1);
  }

 private:
  struct Descriptor {
    explicit Descriptor(int opened) : number(opened) {
      if (number < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
    }
    ~Descriptor() { ::close(number); }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    const int number;
  };

  void run(std::stop_token stop) {
    while (!stop.stop_requested()) {
      try {
        listen(stop);
      } catch (const Fault&) {  // who waits for the store has said so; a relay goes on without us
        pollfd end{end_.number, POLLIN, 0};
        ::poll(&end, 1, pause_ms);
      }
    }
  }

  void listen(std::stop_token stop) {
    postgres::Connection connection(options_);
    connection.run_script("LISTEN onceward_outbox");
    while (!stop.stop_requested()) {
      ring_();
      if (!connection.await_notification(end_.number, longest_quiet)) connection.run_script("SELECT 1");
    }
  }

  const PostgresOptions options_;
  const std::function<void()> ring_;
  Descriptor end_;
  std::jthread thread_;
};

PostgresBell::PostgresBell(PostgresOptions options, std::function<void()> ring)
    : body_(std::make_unique<Body>(std::move(options), std::move(ring))) {}
PostgresBell::~PostgresBell() = default;

}  // namespace onceward
