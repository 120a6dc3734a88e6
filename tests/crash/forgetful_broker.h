// A publisher to a queue file that stops the process at the points of a relay's publishing. The broker behind it keeps what it has
// confirmed, and forgets all else with its process: what a relay took for published too early is lost.
#pragma once

#include <algorithm>
#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "onceward/adapter/embedded.h"
#include "onceward/relay.h"
#include "tests/crash/point.h"

namespace onceward::crash {

// What the broker's thread lets the store's thread know.
struct UnderWay {
  std::atomic<std::size_t> unconfirmed = 0;  // published
  std::atomic<std::size_t> confirmed = 0;    // since the beginning
};

class ForgetfulBroker final : public Publisher {
 public:
  using Told = std::function<void(std::string_view id)>;

  ForgetfulBroker(std::unique_ptr<Publisher> queue, Stop& stop, UnderWay& under_way, Told told)
      : queue_(std::move(queue)), stop_(stop), under_way_(under_way), told_(std::move(told)) {}

  std::size_t room() const override { return most_held - held_.size(); }
  std::size_t outstanding() const override { return held_.size() + queue_->outstanding(); }

  void publish(std::span<const Publication> publications) override {
    stop_.reach(Point::read_page);
    for (const Publication& publication : publications) {
      told_(publication.envelope.message_id().text());
      held_.push_back(
          {publication.tag, std::string(publication.destination), std::string(publication.key), publication.envelope});
    }
    under_way_.unconfirmed = held_.size();
    stop_.reach(Point::published);
  }

  // Keeps half of what it holds, and confirms that.
  void collect(std::vector<Receipt>& into, std::chrono::milliseconds wait) override {
    if (held_.empty()) return queue_->collect(into, wait);
    const bool enough = stop_.wants(Point::some_confirmed) && under_way_.confirmed > 0;
    if (enough || stop_.wants(Point::renewing)) return std::this_thread::sleep_for(std::min(wait, longest_silence));
    const std::size_t before = into.size();
    keep_half(into);
    for (std::size_t at = before; at < into.size(); ++at) {
      if (into[at].kind == Receipt::Kind::confirmed) ++under_way_.confirmed;
      stop_.reach(into[at].kind == Receipt::Kind::refused ? Point::returned : Point::confirmed);
    }
  }
  void wake() noexcept override { queue_->wake(); }
  PublisherCounters counters() const override { return queue_->counters(); }
  std::string describe() const override { return queue_->describe(); }

 private:
  struct Held {
    std::uint64_t tag;
    std::string destination, key;
    Envelope envelope;
  };
  static constexpr std::size_t most_held = 256;
  static constexpr std::chrono::milliseconds longest_silence{10};

  void keep_half(std::vector<Receipt>& into) {
    const std::size_t count = (held_.size() + 1) / 2;
    std::vector<Publication> publications;
    for (std::size_t i = 0; i < count; ++i) {
      publications.push_back({held_[i].tag, held_[i].destination, held_[i].key, held_[i].envelope});
    }
    queue_->publish(publications);
    queue_->collect(into, std::chrono::milliseconds(0));
    held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(count));
    under_way_.unconfirmed = held_.size();
  }

  const std::unique_ptr<Publisher> queue_;
  Stop& stop_;
  UnderWay& under_way_;
  const Told told_;
  std::deque<Held> held_;  // its memory
};

}  // namespace onceward::crash
