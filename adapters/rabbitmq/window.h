// What was published on one channel and not answered. The broker names a publication by its number on the channel, from 1
// on, answers in any order and often for all up to a number; what it could not route comes back without its number.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace onceward::rabbitmq {

struct Open {
  std::uint64_t tag = 0;  // the caller's
  std::string exchange;
  std::string key;
  std::string id;  // the property message_id
  std::size_t bytes = 0;
  std::chrono::steady_clock::time_point deadline;
  std::string returned{};  // why it could not be routed
};

class Window {
 public:
  void add(Open open) {
    open_.emplace_back(std::move(open));
    ++size_;
  }

  // Nothing for a number that was answered before, or never given.
  std::optional<Open> answer(std::uint64_t number) {
    if (number < first_ || number - first_ >= open_.size()) return std::nullopt;
    std::optional<Open> open = std::exchange(open_[number - first_], std::nullopt);
    if (open) --size_;
    drop_answered();
    return open;
  }
  // The oldest, if its number is not above this one.
  std::optional<Open> answer_up_to(std::uint64_t number) {
    return open_.empty() || first_ > number ? std::nullopt : answer(first_);
  }
  std::optional<Open> answer_oldest() { return open_.empty() ? std::nullopt : answer(first_); }
  // It is waited for no longer; the broker may still come to it.
  std::optional<Open> give_up_oldest() {
    ++given_up_;
    return answer_oldest();
  }
  // The only one that the broker can have meant: nothing where there are others, or one was given up. What has come back is
  // done with.
  std::optional<Open> answer_only() {
    std::optional<std::uint64_t> only;
    for (std::size_t at = 0; at < open_.size(); ++at) {
      if (!open_[at] || !open_[at]->returned.empty()) continue;
      if (only) return std::nullopt;
      only = first_ + at;
    }
    return only && given_up_ == 0 ? answer(*only) : std::nullopt;
  }
  const Open* oldest() const { return open_.empty() ? nullptr : &*open_.front(); }

  // The first that is like this and has not come back before: returns come in the order of publishing. Null if none is.
  Open* like(std::string_view exchange, std::string_view key, std::string_view id, std::size_t bytes) {
    for (std::optional<Open>& open : open_) {
      if (open && open->returned.empty() && open->bytes == bytes && open->id == id && open->key == key &&
          open->exchange == exchange) {
        return &*open;
      }
    }
    return nullptr;
  }

  std::size_t size() const { return size_; }
  // With those that were answered before one that was not.
  std::size_t span() const { return open_.size(); }
  bool empty() const { return size_ == 0; }
  std::size_t size_with_given_up() const { return size_ + given_up_; }

 private:
  void drop_answered() {
    while (!open_.empty() && !open_.front()) {
      open_.pop_front();
      ++first_;
    }
  }

  std::deque<std::optional<Open>> open_;  // by number; the first one is open
  std::uint64_t first_ = 1;
  std::size_t size_ = 0, given_up_ = 0;
};

}  // namespace onceward::rabbitmq
