// Between the two threads of a worker: deliveries one way, settlements the other. Both are bounded by the batch, and
// deliveries also by their bytes: what waits here is less than most_bytes_together and one receive().
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <span>
#include <stop_token>
#include <vector>

#include "onceward/port/source.h"
#include "src/worker/arrivals.h"

namespace onceward {

class Handover {
 public:
  explicit Handover(std::size_t batch) : batch_(batch), ahead_(batch) {}

  // --- the thread that owns the source
  // Waits for room or for settlements, no longer than `wait`. Room is 0 while nobody is to receive, or enough bytes wait.
  struct Due {
    std::size_t room = 0;
    std::vector<Settlement> settlements;
  };
  Due wait_for_room(std::chrono::milliseconds wait);
  void deliver(Arrivals& arrivals);  // empties it, keeps its memory

  // --- the thread that owns the store
  // All that has arrived, at once if there is any; else waits until something does, no longer than `wait`.
  void take(Arrivals& into, std::chrono::milliseconds wait);
  void settle(std::span<const Settlement> settlements);
  // So many, and no more than the batch, are received before they are taken.
  void receive_ahead(std::size_t most);
  // While the database is away nothing more is received; what is here is held.
  void hold(bool held);

  // --- either
  // Nothing more is received; what has arrived can still be taken, and what is settled is still told.
  void close();
  // The source's thread waits no longer.
  void end();
  bool closed() const;
  // Lets a take() that waits return.
  void wake();

 private:
  const std::size_t batch_;

  mutable std::mutex mutex_;
  std::condition_variable arrived_, room_;
  std::size_t ahead_;
  Arrivals waiting_;
  std::size_t waiting_bytes_ = 0;
  std::vector<Settlement> settlements_;
  bool held_ = false;
  bool closed_ = false;
  bool ended_ = false;
  bool woken_ = false;
};

}  // namespace onceward
