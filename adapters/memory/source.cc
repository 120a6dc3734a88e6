#include "adapters/memory/queue.h"
#include "src/common/owner_thread.h"
#include "src/source/reading.h"

namespace onceward {
namespace memory {
namespace {

using std::chrono::steady_clock;

class MemorySource final : public Source {
 public:
  explicit MemorySource(std::shared_ptr<Queue> queue)
      : queue_(std::move(queue)), disturber_(queue_->options().disturbance) {
    queue_->add_holder(held_);
  }
  ~MemorySource() override { queue_->remove_holder(held_); }

  void receive(std::vector<Delivery>& into, std::size_t most, std::chrono::milliseconds wait) override {
    const OwnerThread::Turn turn(owner_);
    if (most == 0) return;  // there is no connection to tend
    const auto timeout = queue_->options().ack_timeout;
    queue_->take(most, wait, disturber_, woken_, [&](MessagePtr message) {
      Delivery& delivery = message->delivery;
      delivery.redelivered = delivery.deliveries++ > 0;
      into.push_back(delivery);
      const auto due_at = timeout ? steady_clock::now() + *timeout : steady_clock::time_point::max();
      into.back().tag = held_.add({std::move(message), due_at});
      ++counters_.received;
      counters_.redelivered += into.back().redelivered ? 1 : 0;
    });
  }

  void settle(std::span<const Settlement> settlements) override {
    const OwnerThread::Turn turn(owner_);
    queue_->change([&] {
      for (const Settlement& settlement : settlements) {
        auto handed = held_.release(settlement.tag);
        if (!handed) {
          ++counters_.settle_failed;
          continue;
        }
        ++counters_.settled;
        const bool again =
            settlement.how == Settle::redeliver || (settlement.how == Settle::accept && disturber_.comes_again());
        if (again) {
          queue_->give_back(std::move(handed->message));
        } else {
          gone_.push_back(std::move(handed->message));
        }
      }
    });
    gone_.clear();  // outside of the lock
  }

  void wake() noexcept override {
    queue_->change([&] { woken_ = true; });
  }

  std::optional<std::chrono::milliseconds> ack_timeout() const override { return queue_->options().ack_timeout; }
  SourceCounters counters() const override { return counters_; }
  std::string describe() const override { return "memory"; }

 private:
  const std::shared_ptr<Queue> queue_;
  const OwnerThread owner_;

  // Of the one thread.
  Disturber disturber_;
  SourceCounters counters_;
  std::vector<MessagePtr> gone_;

  // Under the lock of the queue.
  Held<Handed> held_;
  bool woken_ = false;
};

}  // namespace
}  // namespace memory

MemoryQueue::MemoryQueue(const MemoryOptions& options) : queue_(std::make_shared<memory::Queue>(options)) {
  const Disturber checked(options.disturbance);
}

void MemoryQueue::push(std::span<const Envelope> envelopes) {
  std::vector<Delivery> deliveries(envelopes.size());
  for (std::size_t i = 0; i < envelopes.size(); ++i) deliveries[i].envelope = envelopes[i];
  queue_->push(std::move(deliveries));
}

void MemoryQueue::push(std::span<const std::string_view> messages) {
  std::vector<Delivery> deliveries;
  deliveries.reserve(messages.size());
  for (const std::string_view message : messages) {
    deliveries.push_back(read_delivery(Bytes::copy_of(message), queue_->options().limits));
  }
  queue_->push(std::move(deliveries));
}

std::unique_ptr<Source> MemoryQueue::open() { return std::make_unique<memory::MemorySource>(queue_); }

QueueDepth MemoryQueue::depth() const { return queue_->depth(); }

}  // namespace onceward
