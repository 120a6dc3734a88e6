// Envelopes to queues of one file. Everything but wake() belongs to one thread.
#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "adapters/embedded/options.h"
#include "adapters/embedded/queue.h"
#include "src/common/owner_thread.h"
#include "src/declaration/text.h"

namespace onceward {
namespace embedded {
namespace {

using Kind = Receipt::Kind;

constexpr std::size_t window = 1'000;

Fault as_publisher_fault(const Fault& fault) {
  const FaultCode code =
      fault.fault() == FaultCode::source_refused ? FaultCode::publisher_refused : FaultCode::publisher_unavailable;
  return {code, Poisons::connection, fault.what(), fault.store_code()};
}

class EmbeddedPublisher final : public Publisher {
 public:
  explicit EmbeddedPublisher(const EmbeddedOptions& options) : options_(options) {
    check_options();
    open();
  }

  std::size_t room() const override { return window - receipts_.size(); }
  std::size_t outstanding() const override { return receipts_.size(); }

  void publish(std::span<const Publication> publications) override {
    const OwnerThread::Turn turn(owner_);
    assert(publications.size() <= room());
    if (queue_ && !queue_->usable()) queue_.reset();
    if (!queue_) {
      open();
      ++counters_.reconnects;
    }
    counters_.published += publications.size();
    bodies_.clear();
    bodies_.reserve(publications.size());  // they are pointed to
    addressed_.clear();
    tags_.clear();
    for (const Publication& publication : publications) take(publication);
    if (!addressed_.empty()) send();
  }

  void collect(std::vector<Receipt>& into, std::chrono::milliseconds) override {
    const OwnerThread::Turn turn(owner_);
    std::ranges::move(receipts_, std::back_inserter(into));
    receipts_.clear();
  }

  void wake() noexcept override {}  // nobody ever waits
  PublisherCounters counters() const override { return counters_; }
  std::string describe() const override { return "embedded:" + options_.path; }

 private:
  void check_options() const {
    try {
      check(options_);
    } catch (const Fault& fault) {
      throw as_publisher_fault(fault);
    }
  }

  void open() {
    try {
      queue_ = std::make_unique<Queue>(options_);
    } catch (const Fault& fault) {
      throw as_publisher_fault(fault);
    }
  }

  void take(const Publication& publication) {
    const std::string_view queue = publication.destination;
    if (const auto wrong = declaration::wrong_with_name(queue)) {
      return add_receipt(publication.tag, Kind::refused, fmt::format("the queue's name {}", *wrong));
    }
    std::string body = write_json_envelope(publication.envelope);
    if (body.size() > EmbeddedOptions::most_message_bytes) {
      return add_receipt(publication.tag, Kind::refused,
                         fmt::format("it has {} bytes, and an embedded queue takes up to {}", body.size(),
                                     EmbeddedOptions::most_message_bytes));
    }
    addressed_.push_back({queue, bodies_.emplace_back(std::move(body))});
    tags_.push_back(publication.tag);
  }

  // All or nothing; if the disk failed at the end, nobody knows which.
  void send() {
    Kind kind = Kind::confirmed;
    std::string why;
    try {
      queue_->send_to(addressed_);
    } catch (const Fault& fault) {
      kind = fault.fault() == FaultCode::source_refused ? Kind::refused : Kind::in_doubt;
      why = fault.what();
    }
    for (const std::uint64_t tag : tags_) add_receipt(tag, kind, why);
  }

  void add_receipt(std::uint64_t tag, Kind kind, std::string why) {
    counters_.confirmed += kind == Kind::confirmed ? 1 : 0;
    counters_.refused += kind == Kind::refused ? 1 : 0;
    counters_.in_doubt += kind == Kind::in_doubt ? 1 : 0;
    receipts_.push_back({tag, kind, std::move(why)});
  }

  const EmbeddedOptions options_;
  const OwnerThread owner_;
  std::unique_ptr<Queue> queue_;  // null after it could not be opened again
  std::vector<Receipt> receipts_;
  PublisherCounters counters_;
  // Of one publish().
  std::vector<std::string> bodies_;
  std::vector<Addressed> addressed_;
  std::vector<std::uint64_t> tags_;
};

}  // namespace
}  // namespace embedded

std::unique_ptr<Publisher> open_embedded_publisher(const EmbeddedOptions& options) {
  return std::make_unique<embedded::EmbeddedPublisher>(options);
}

}  // namespace onceward
