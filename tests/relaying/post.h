// A publisher that does as it is told, and remembers what it was given.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "onceward/port/publisher.h"

namespace onceward::relay {

struct Posted {
  std::string id, key, payload, destination;
  friend bool operator==(const Posted&, const Posted&) = default;
};

// The world behind all publishers of a test: shared by threads.
class Post {
 public:
  using Answer = std::function<Receipt::Kind(const Posted&, int times)>;  // how often it has come, this time included

  void answer_with(Answer answer) {
    const std::lock_guard lock(mutex_);
    answer_ = std::move(answer);
  }
  void go_away(bool away) {
    const std::lock_guard lock(mutex_);
    away_ = away;
  }
  // Takes messages, and answers none while it is silent.
  void fall_silent(bool silent) {
    const std::lock_guard lock(mutex_);
    silent_ = silent;
  }
  bool silent() const {
    const std::lock_guard lock(mutex_);
    return silent_;
  }
  void require_here() {
    const std::lock_guard lock(mutex_);
    turned_away_ += away_ ? 1 : 0;
    if (away_) throw Fault(FaultCode::publisher_unavailable, Poisons::connection, "the post is closed");
  }
  int turned_away() const {
    const std::lock_guard lock(mutex_);
    return turned_away_;
  }
  Receipt take(const Publication& publication) {
    const std::lock_guard lock(mutex_);
    Posted posted{std::string(publication.envelope.message_id().text()), std::string(publication.key),
                  std::string(publication.envelope.payload()), std::string(publication.destination)};
    const Receipt::Kind kind = answer_ ? answer_(posted, ++times_[posted.id]) : Receipt::Kind::confirmed;
    if (kind == Receipt::Kind::confirmed || kind == Receipt::Kind::in_doubt) all_.push_back(std::move(posted));
    return {.tag = publication.tag, .kind = kind, .why = kind == Receipt::Kind::confirmed ? "" : "as told"};
  }
  std::vector<Posted> all() const {
    const std::lock_guard lock(mutex_);
    return all_;
  }
  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return all_.size();
  }

 private:
  mutable std::mutex mutex_;
  Answer answer_;
  bool away_ = false, silent_ = false;
  int turned_away_ = 0;
  std::vector<Posted> all_;
  std::map<std::string, int> times_;
};

class PostPublisher final : public Publisher {
 public:
  explicit PostPublisher(Post& post) : post_(post) { post_.require_here(); }

  std::size_t room() const override { return 256 - outstanding(); }
  std::size_t outstanding() const override {
    const std::lock_guard lock(mutex_);
    return receipts_.size();
  }
  void publish(std::span<const Publication> publications) override {
    post_.require_here();
    const std::lock_guard lock(mutex_);
    for (const Publication& publication : publications) receipts_.push_back(post_.take(publication));
  }
  // Half of them, the last ones first: receipts come late and in any order.
  void collect(std::vector<Receipt>& into, std::chrono::milliseconds wait) override {
    std::unique_lock lock(mutex_);
    if (post_.silent() && !receipts_.empty()) {
      woken_.wait_for(lock, std::min(wait, std::chrono::milliseconds(20)));
      return;
    }
    for (std::size_t left = (receipts_.size() + 1) / 2; left > 0; --left) {
      into.push_back(std::move(receipts_.back()));
      receipts_.pop_back();
    }
  }
  void wake() noexcept override { woken_.notify_all(); }
  PublisherCounters counters() const override { return {}; }
  std::string describe() const override { return "post"; }

 private:
  Post& post_;
  mutable std::mutex mutex_;
  std::condition_variable woken_;
  std::deque<Receipt> receipts_;
};

}  // namespace onceward::relay
