#include "adapters/memory/queue.h"

#include <algorithm>

#include "src/common/limits.h"

namespace onceward::memory {

using std::chrono::steady_clock;
using namespace std::chrono_literals;

namespace {}  // namespace

void Queue::push(std::vector<Delivery> deliveries) {
  std::vector<MessagePtr> messages;
  messages.reserve(deliveries.size());
  for (Delivery& delivery : deliveries) messages.push_back(std::make_unique<Message>(Message{0, std::move(delivery)}));
  change([&] {
    for (MessagePtr& message : messages) {
      message->position = ++published_;
      fresh_.push_back(std::move(message));
    }
  });
}

QueueDepth Queue::depth() {
  const std::lock_guard lock(mutex_);
  collect_due();
  QueueDepth depth{returned_.size() + fresh_.size(), 0};
  for (const Held<Handed>* const held : holders_) depth.in_flight += held->size();
  return depth;
}

void Queue::add_holder(Held<Handed>& held) {
  change([&] { holders_.push_back(&held); });
}

void Queue::remove_holder(Held<Handed>& held) {
  change([&] {
    std::erase(holders_, &held);
    while (!held.empty()) give_back(held.release_oldest().message);
  });
}

void Queue::give_back(MessagePtr message) {
  const std::uint64_t position = message->position;
  returned_.emplace(position, std::move(message));
}

bool Queue::await_messages(std::unique_lock<std::mutex>& lock, std::chrono::milliseconds wait, bool& woken) {
  const auto end = steady_clock::now() + std::clamp(wait, 0ms, longest_wait);
  for (;;) {
    const auto next_due = collect_due();
    if (!returned_.empty() || !fresh_.empty()) return true;
    if (std::exchange(woken, false) || steady_clock::now() >= end) return false;
    changed_.wait_until(lock, std::min(end, next_due));
  }
}

// Takes back what is due. When the next one will be.
steady_clock::time_point Queue::collect_due() {
  auto next = steady_clock::time_point::max();
  if (!options_.ack_timeout) return next;
  const auto now = steady_clock::now();
  for (Held<Handed>* const held : holders_) {
    while (const Handed* const oldest = held->oldest()) {
      if (oldest->due_at > now) {
        next = std::min(next, oldest->due_at);
        break;
      }
      give_back(held->release_oldest().message);
    }
  }
  return next;
}

void Queue::draw(std::size_t most, Disturber& disturber) {
  const std::size_t looked_at = disturber.looked_at(most);
  while (drawn_.size() < looked_at && !returned_.empty()) {
    drawn_.push_back(std::move(returned_.extract(returned_.begin()).mapped()));
  }
  while (drawn_.size() < looked_at && !fresh_.empty()) {
    drawn_.push_back(std::move(fresh_.front()));
    fresh_.pop_front();
  }
  disturber.shuffle(drawn_);
  while (drawn_.size() > most) {
    give_back(std::move(drawn_.back()));
    drawn_.pop_back();
  }
}

}  // namespace onceward::memory
