// Lets another thread end a poll().
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>

namespace onceward::rabbitmq {

class Waker {
 public:
  Waker() : file_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (file_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
  }
  ~Waker() { close(file_); }
  Waker(const Waker&) = delete;
  Waker& operator=(const Waker&) = delete;

  // From any thread. Fails only where it is awake already.
  void wake() noexcept {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = write(file_, &one, sizeof one);
  }
  // Whether it was woken since the last time.
  bool slept_enough() noexcept {
    std::uint64_t times = 0;
    return read(file_, &times, sizeof times) == sizeof times;
  }
  int file() const { return file_; }

 private:
  const int file_;
};

}  // namespace onceward::rabbitmq
