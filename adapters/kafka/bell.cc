#include "adapters/kafka/bell.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace onceward::kafka {
namespace {

constexpr std::uint64_t one_ring = 1;
constexpr std::chrono::milliseconds longest_poll{3'600'000};

}  // namespace

Bell::Bell() : file_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  if (file_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
}

Bell::~Bell() { close(file_); }

void Bell::listen(rd_kafka_queue_t* queue) const {
  rd_kafka_queue_io_event_enable(queue, file_, &one_ring, sizeof one_ring);
}

void Bell::ignore(rd_kafka_queue_t* queue) { rd_kafka_queue_io_event_enable(queue, -1, nullptr, 0); }

void Bell::wake() noexcept {
  woken_ = true;
  // It can only fail because it has rung 2^64 times.
  [[maybe_unused]] const auto written = write(file_, &one_ring, sizeof one_ring);
}

bool Bell::wait(std::chrono::steady_clock::time_point end) {
  if (woken_.exchange(false)) return true;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
  pollfd file{file_, POLLIN, 0};
  poll(&file, 1, static_cast<int>(std::clamp(left, std::chrono::milliseconds(0), longest_poll).count()));
  std::uint64_t rung = 0;
  [[maybe_unused]] const auto got = read(file_, &rung, sizeof rung);
  return woken_.exchange(false);
}

}  // namespace onceward::kafka
