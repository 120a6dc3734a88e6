// The receiving end of a topic, as a member of a consumer group. Everything but wake() belongs to one thread.
#include <fmt/format.h>

#include <algorithm>

#include "adapters/kafka/member.h"
#include "adapters/kafka/options.h"
#include "adapters/kafka/record.h"
#include "src/common/limits.h"
#include "src/common/owner_thread.h"
#include "src/source/held.h"

namespace onceward {
namespace kafka {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr milliseconds commit_deadline = 5s;
constexpr int whole_cooperation = 0x020300ff;  // librdkafka 2.3

// Where a delivery came from; the books of the partition have the rest.
struct Handed {
  std::int32_t partition;
  std::uint64_t generation;
  std::int64_t offset;
};

class KafkaSource final : public Source {
 public:
  KafkaSource(const KafkaSourceOptions& options, Log& log, std::unique_ptr<StreamKeeper> keeper)
      : options_(options), log_(log), keeper_(std::move(keeper)) {
    check(options_);
    open();
    if (options_.cooperative && rd_kafka_version() < whole_cooperation) {
      member_->client().say(
          LogLevel::warn, fmt::format("rebalance=cooperative: librdkafka {} ends the process when a member ends before "
                                      "it was assigned anything; take 2.3 or newer, or rebalance=eager",
                                      rd_kafka_version_str()));
    }
    const auto end = steady_clock::now() + join_deadline;
    for (member_->tend(); !member_->joined() && steady_clock::now() < end; member_->tend()) {
      member_->complain();
      bell_.wait(std::min(end, member_->due_at()));
    }
  }

  void receive(std::vector<Delivery>& into, std::size_t most, milliseconds wait) override {
    const OwnerThread::Turn turn(owner_);
    if (most == 0 && !member_) return;
    const auto end = steady_clock::now() + std::clamp(wait, 0ms, longest_wait);
    for (;;) {
      tend();
      if (most > 0 && take(into, most)) return;
      of_member([&] { member_->complain(); });
      if (most == 0) return;
      if (bell_.wait(std::min(end, member_->due_at())) || steady_clock::now() >= end) return;
    }
  }

  void settle(std::span<const Settlement> settlements) override {
    const OwnerThread::Turn turn(owner_);
    for (const Settlement& settlement : settlements) {
      const auto handed = held_.release(settlement.tag);
      Partition* const partition = handed ? assignment_.find(handed->partition, handed->generation) : nullptr;
      if (partition == nullptr) {
        ++counters_.settle_failed;
      } else if (settlement.how == Settle::redeliver) {
        partition->give_back(handed->offset);
        // What is not ours by the worker's word is not ours by the keeper's.
        if (keeper_ && member_) member_->doubt(handed->partition);
        ++counters_.settled;
      } else {
        partition->settle(handed->offset);
      }
    }
    if (!member_) return;
    const auto trouble = member_->commit(member_->client().down() ? 0ms : commit_deadline);
    count();
    if (trouble && trouble->kind != Trouble::Kind::busy) throw member_->client().fault(*trouble);
  }

  void wake() noexcept override { bell_.wake(); }
  std::optional<milliseconds> ack_timeout() const override { return std::nullopt; }
  bool has_positions() const override { return keeper_ != nullptr; }
  SourceCounters counters() const override { return counters_; }
  std::string describe() const override {
    return fmt::format("kafka://{}/{}?group={}", options_.connection.brokers, options_.topic, options_.group);
  }

 private:
  void open() { member_ = std::make_unique<Member>(options_, assignment_, keeper_.get(), bell_, log_, begun_); }

  void tend() {
    if (!member_) {
      open();
      ++counters_.reconnects;
    }
    const bool was_down = member_->client().down();
    of_member([&] { member_->tend(); });
    if (was_down) ++counters_.reconnects;
    count();
  }

  template <class Call>
  void of_member(Call&& call) {
    try {
      call();
    } catch (const Fault&) {
      begun_ = begun_ || member_->joined();
      if (member_->over()) member_.reset();
      count();
      throw;
    }
  }

  void count() {
    if (member_) counters_.settled += member_->take_settled();
    counters_.settle_failed += assignment_.take_failed();
    if (!assignment_.take_changed()) return;
    held_.forget(
        [&](const Handed& handed) { return assignment_.find(handed.partition, handed.generation) == nullptr; });
  }

  bool take(std::vector<Delivery>& into, std::size_t most) {
    const std::size_t before = into.size();
    std::size_t bytes = 0;
    const auto is_room = [&] { return into.size() - before < most && bytes < options_.queued_bytes; };
    for (auto& [number, partition] : assignment_.partitions()) {
      while (is_room() && !partition.leaving) {
        const auto again = partition.hand_out_again();
        if (!again) break;
        bytes += deliver(into, again->delivery, {number, partition.generation(), again->offset}, true);
      }
    }
    while (is_room()) {
      Message message = member_->next();
      if (!message) break;
      Partition& partition = *assignment_.find(message->partition);
      Delivery delivery = read(*message, partition);
      bytes += deliver(into, delivery, {message->partition, partition.generation(), message->offset},
                       !partition.has_committed());
      partition.hand_out(message->offset, std::move(delivery));
    }
    return into.size() > before;
  }

  Delivery read(const rd_kafka_message_t& message, const Partition& partition) const {
    Reading how{options_.format, options_.id_header, options_.limits};
    if (!partition.stream) return read_record(record_of(message), how);
    const std::string place = fmt::format("{}@{}", partition.stream->name, message.offset);
    how.missing_id = place;
    Delivery delivery = read_record(record_of(message), how);
    delivery.position = {partition.stream, message.offset, partition.end()};
    return delivery;
  }

  // How many bytes it has.
  std::size_t deliver(std::vector<Delivery>& into, const Delivery& what, const Handed& handed, bool redelivered) {
    Delivery& delivery = into.emplace_back(what);
    delivery.tag = held_.add(handed);
    delivery.redelivered = redelivered;
    delivery.partition = handed.partition;
    ++counters_.received;
    counters_.redelivered += redelivered ? 1 : 0;
    return delivery.envelope.payload().size();
  }

  const KafkaSourceOptions options_;
  Log& log_;
  const std::unique_ptr<StreamKeeper> keeper_;
  Bell bell_;
  OwnerThread owner_;

  // Of the one thread.
  Assignment assignment_;
  std::unique_ptr<Member> member_;  // null after one that ended for good
  bool begun_ = false;              // one of them was assigned something, so that later ones skip nothing
  Held<Handed> held_;
  SourceCounters counters_;
};

}  // namespace
}  // namespace kafka

std::unique_ptr<Source> open_kafka(const KafkaSourceOptions& options, Log& log, std::unique_ptr<StreamKeeper> keeper) {
  return std::make_unique<kafka::KafkaSource>(options, log, std::move(keeper));
}

}  // namespace onceward
