// The exchanges that are under way at once, on libcurl's multi interface. One thread's, but for wake().
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

#include "adapters/curl/transfer.h"

namespace onceward::curl {

class Transfers {
 public:
  // Keeps so many open connections.
  explicit Transfers(std::size_t connections);
  ~Transfers();  // what is under way is cut off
  Transfers(const Transfers&) = delete;
  Transfers& operator=(const Transfers&) = delete;

  std::size_t under_way() const { return under_way_.size(); }
  void start(std::unique_ptr<Transfer> transfer);
  // Those that have ended. Waits as Endpoint::collect() does, unless `at_once`.
  std::vector<std::unique_ptr<Transfer>> collect(std::chrono::milliseconds wait, bool at_once);
  void wake() noexcept;

 private:
  void take_ended(std::vector<std::unique_ptr<Transfer>>& into);

  CURLM* const multi_;
  std::vector<std::unique_ptr<Transfer>> under_way_;
  std::atomic<bool> woken_{false};
};

}  // namespace onceward::curl
