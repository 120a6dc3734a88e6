// What a memory queue and its sources share. Messages stay where they were pushed and are passed on by pointer, under one
// lock a call.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "onceward/adapter/memory.h"
#include "src/source/disturber.h"
#include "src/source/held.h"

namespace onceward::memory {

struct Message {
  std::uint64_t position = 0;
  Delivery delivery;  // as it was handed out last
};
using MessagePtr = std::unique_ptr<Message>;

struct Handed {
  MessagePtr message;
  std::chrono::steady_clock::time_point due_at;
};

class Queue {
 public:
  explicit Queue(const MemoryOptions& options) : options_(options) {}

  const MemoryOptions& options() const { return options_; }

  void push(std::vector<Delivery> deliveries);
  QueueDepth depth();

  // A source's own, in which the queue looks for what is due.
  void add_holder(Held<Handed>& held);
  void remove_holder(Held<Handed>& held);

  // Waits for messages and gives up to `most` of them to `hand_out`, under the lock; or to nobody, if woken or in vain.
  template <class HandOut>
  void take(std::size_t most, std::chrono::milliseconds wait, Disturber& disturber, bool& woken, HandOut&& hand_out) {
    std::unique_lock lock(mutex_);
    if (!await_messages(lock, wait, woken)) return;
    draw(most, disturber);
    for (MessagePtr& message : drawn_) hand_out(std::move(message));
    drawn_.clear();
  }

  // Runs `work` under the lock, then lets those who wait look again.
  template <class Work>
  void change(Work&& work) {
    {
      const std::lock_guard lock(mutex_);
      work();
    }
    changed_.notify_all();
  }

  // Under the lock: to be handed out again, before what never was.
  void give_back(MessagePtr message);

 private:
  bool await_messages(std::unique_lock<std::mutex>& lock, std::chrono::milliseconds wait, bool& woken);
  std::chrono::steady_clock::time_point collect_due();
  void draw(std::size_t most, Disturber& disturber);

  const MemoryOptions options_;

  std::mutex mutex_;
  std::condition_variable changed_;
  // Under the lock.
  std::deque<MessagePtr> fresh_;                  // never handed out
  std::map<std::uint64_t, MessagePtr> returned_;  // by position
  std::vector<MessagePtr> drawn_;
  std::vector<Held<Handed>*> holders_;  // of the sources that are open
  std::uint64_t published_ = 0;
};

}  // namespace onceward::memory
