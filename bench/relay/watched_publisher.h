// A publisher that a bench looks at: when receipts come. The contract is that of the publisher it is put before.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <utility>

#include "onceward/port/publisher.h"

namespace onceward::bench {

class WatchedPublisher final : public Publisher {
 public:
  using Answered = std::function<void(std::span<const Receipt>)>;  // on the publisher's thread
  WatchedPublisher(std::unique_ptr<Publisher> publisher, Answered answered)
      : publisher_(std::move(publisher)), answered_(std::move(answered)) {}

  std::size_t room() const override { return publisher_->room(); }
  std::size_t outstanding() const override { return publisher_->outstanding(); }
  void publish(std::span<const Publication> publications) override { publisher_->publish(publications); }
  void collect(std::vector<Receipt>& into, std::chrono::milliseconds wait) override {
    const std::size_t before = into.size();
    publisher_->collect(into, wait);
    if (into.size() > before) answered_(std::span(into).subspan(before));
  }
  void wake() noexcept override { publisher_->wake(); }
  PublisherCounters counters() const override { return publisher_->counters(); }
  std::string describe() const override { return publisher_->describe(); }

 private:
  const std::unique_ptr<Publisher> publisher_;
  const Answered answered_;
};

}  // namespace onceward::bench
