// A queue of RabbitMQ. Everything but wake() belongs to one thread.
//
// The broker pushes up to `prefetch` messages; what has come and was not handed out yet waits here. It begins with the
// first receive() that asks for messages, so that whoever only looks at a queue takes nothing from it.
//
// Whatever ends the channel ends the connection: all that was handed out comes back then, from the broker, to anybody.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <utility>

#include "adapters/rabbitmq/connection.h"
#include "adapters/rabbitmq/content.h"
#include "adapters/rabbitmq/limits.h"
#include "adapters/rabbitmq/options.h"
#include "adapters/rabbitmq/prefetch.h"
#include "adapters/rabbitmq/properties.h"
#include "src/common/limits.h"
#include "src/common/owner_thread.h"
#include "src/source/held.h"

namespace onceward {
namespace rabbitmq {
namespace {

using std::chrono::milliseconds;
using namespace std::chrono_literals;

constexpr std::size_t most_bytes_at_once = 64u << 20;

class RabbitmqSource final : public Source, private FrameTaker {
 public:
  RabbitmqSource(const RabbitmqSourceOptions& options, Log& log)
      : options_(options),
        place_(fmt::format("{}?queue={}", rabbitmq::describe(options.connection), options.queue)),
        log_(log),
        prefetch_(options.prefetch, options.consumer_timeout),
        reader_(options.format, options.limits) {
    check(options_);
    connect();
  }

  void receive(std::vector<Delivery>& into, std::size_t most, milliseconds wait) override {
    const OwnerThread::Turn turn(owner_);
    if (most == 0) return tend();
    const auto end = Clock::now() + std::clamp<milliseconds>(wait, 0ms, longest_wait);
    bool fresh = !connection_;
    if (fresh) connect();
    for (;;) try {
        receive_until(end, into, most);
        break;
      } catch (const Fault& fault) {
        take_fewer_if_late(fault);
        if (!fresh) tell_lost(fault);  // else whoever hears of it says so
        drop_connection();
        if (fresh) throw;
        connect();
        fresh = true;
      }
  }

  void settle(std::span<const Settlement> settlements) override {
    const OwnerThread::Turn turn(owner_);
    if (settlements.empty()) return;
    accepted_.clear();
    given_back_.clear();
    for (const Settlement& settlement : settlements) {
      const auto number = held_.release(settlement.tag);
      if (number) (settlement.how == Settle::redeliver ? given_back_ : accepted_).push_back(*number);
    }
    counters_.settle_failed += settlements.size();  // until more is known
    try {
      write_settlements();
    } catch (const Fault& fault) {
      lose_connection(fault);
      throw Fault(FaultCode::source_unavailable, Poisons::connection, fault.what());
    }
  }

  void wake() noexcept override { waker_.wake(); }
  std::optional<milliseconds> ack_timeout() const override { return options_.consumer_timeout; }
  SourceCounters counters() const override { return counters_; }
  std::string describe() const override { return place_; }

 private:
  struct Ready {
    Delivery delivery;
    std::uint64_t number = 0;  // the broker's tag on this channel
    std::size_t bytes = 0;
  };

  // Messages that the broker will not deliver again.
  struct LastDeliveries {
    std::size_t count = 0;
    std::string first_id{};
  };

  void connect() {
    const auto connected = [&](std::size_t host) {
      auto connection =
          std::make_unique<Connection>(options_.connection, host, source_role, "onceward " + options_.queue);
      connection->check_queue({options_.queue, options_.declare});
      connection->limit_unsettled(prefetch_.count());
      return connection;
    };
    connection_ =
        with_any_host(options_.connection, source_role, host_, connected, [&] { return waker_.slept_enough(); });
    delivery_limit_ =
        options_.delivery_limit.value_or(default_delivery_limit(connection_->server_version()).value_or(-1));
    if (std::exchange(connected_before_, true)) ++counters_.reconnects;
  }

  void tell_lost(const Fault& fault) {
    const LogField fields[] = {{"queue", std::string_view(options_.queue)},
                               {"unsettled", static_cast<std::int64_t>(held_.size())},
                               {"prefetch", std::int64_t{prefetch_.count()}},
                               {"why", std::string_view(fault.what())}};
    log_.write(LogLevel::warn, "the source's connection was lost", fields);
  }

  // The broker gives all of it to somebody.
  void drop_connection() {
    tell_last();
    connection_.reset();
    consuming_ = false;
    content_ = {};
    ready_.clear();
    while (!held_.empty()) held_.release_oldest();
  }
  void lose_connection(const Fault& fault) {
    take_fewer_if_late(fault);
    tell_lost(fault);
    drop_connection();
  }

  void take_fewer_if_late(const Fault& fault) {
    const auto* const closed = dynamic_cast<const Closed*>(&fault);
    if (closed != nullptr && is_late(*closed)) prefetch_.timed_out();
  }

  // Hears what the broker has to say, and answers its heartbeats.
  void tend() {
    if (!connection_) return;
    try {
      pump(options_.prefetch);  // more it does not push
    } catch (const Fault& fault) {
      lose_connection(fault);
    }
  }

  void pump(std::size_t most) {
    most_ = most;
    connection_->pump(*this);
    tell_last();
  }

  void receive_until(Clock::time_point end, std::vector<Delivery>& into, std::size_t most) {
    consume();
    for (;;) {
      pump(most);
      if (hand_out(into, most) || Clock::now() >= end) return;
      if (connection_->wait(waker_, end)) return;
    }
  }

  void consume() {
    const auto now = Clock::now();
    if (consuming_) {
      if (!prefetch_.grow(now)) return;
      connection_->stop_consuming();
      connection_->limit_unsettled(prefetch_.count());  // holds for consumers to come
    }
    connection_->consume(options_.queue);
    if (!std::exchange(consuming_, true)) prefetch_.begin(now);
  }

  bool hand_out(std::vector<Delivery>& into, std::size_t most) {
    std::size_t bytes = 0, count = 0;
    for (; !ready_.empty() && count < most; ++count) {
      bytes += ready_.front().bytes;
      if (count > 0 && bytes > most_bytes_at_once) break;
      Delivery& delivery = into.emplace_back(std::move(ready_.front().delivery));
      delivery.tag = held_.add(ready_.front().number);
      counters_.redelivered += delivery.redelivered ? 1 : 0;
      ready_.pop_front();
    }
    counters_.received += count;
    return count > 0;
  }

  // Said when it comes, though nobody has asked for it yet: the broker says nothing when it takes a message away that has come
  // back too often, and a lost connection is enough for that.
  void tell_last() {
    if (last_.count == 0) return;
    const LogField fields[] = {{"queue", std::string_view(options_.queue)},
                               {"delivery_limit", std::int64_t{delivery_limit_}},
                               {"messages", static_cast<std::int64_t>(last_.count)},
                               {"message_id", std::string_view(last_.first_id)}};
    log_.write(LogLevel::warn,
               "the delivery limit is reached: if it comes back once more, the broker drops it or sends it to the "
               "queue's dead-letter exchange",
               fields);
    last_ = {};
  }

  Took take(const amqp_frame_t& frame) override {
    if (frame.frame_type == AMQP_FRAME_METHOD) {
      take_method(frame.payload.method);
      return content_.begun() ? Took::part : Took::whole;
    }
    if (!content_.add(frame)) {
      throw Fault(FaultCode::source_unavailable, Poisons::connection,
                  connection_->place() + ": a frame came that has no place there");
    }
    if (!content_.is_whole()) return Took::part;
    take_delivery();
    content_.end();
    return ready_.size() >= most_ ? Took::enough : Took::whole;
  }

  void take_method(const amqp_method_t& method) {
    if (method.id == AMQP_BASIC_DELIVER_METHOD) {
      const auto& deliver = *static_cast<const amqp_basic_deliver_t*>(method.decoded);
      number_ = deliver.delivery_tag;
      redelivered_ = deliver.redelivered != 0;
      content_.begin();
    } else if (method.id == AMQP_BASIC_CANCEL_METHOD) {
      throw Fault(FaultCode::source_unavailable, Poisons::connection,
                  fmt::format("{}: the broker cancelled the consumer of \"{}\"; the queue was deleted or has moved",
                              connection_->place(), options_.queue));
    }
  }

  void take_delivery() {
    const Bytes body = Bytes::copy_of(content_.body());
    Ready& ready = ready_.emplace_back();
    ready.delivery = reader_.read(content_.properties(), body);
    ready.delivery.redelivered = redelivered_;
    // A first delivery is the first: a count that it has is that of the queue in which it died.
    if (!redelivered_) ready.delivery.deliveries = 1;
    if (delivery_limit_ >= 0 && ready.delivery.deliveries > static_cast<std::uint32_t>(delivery_limit_)) {
      if (last_.count++ == 0) last_.first_id = ready.delivery.envelope.message_id().text();
    }
    ready.number = number_;
    ready.bytes = body.view().size();
  }

  void write_settlements() {
    const std::uint64_t written = accepted_.size() + given_back_.size();
    if (written == 0) return;
    if (!connection_) throw Fault(FaultCode::source_unavailable, Poisons::connection, place_ + ": lost meanwhile");
    pump(options_.prefetch);  // a channel that was closed is no longer written to
    const Connection::Cork cork(*connection_);
    for (const std::uint64_t number : given_back_) connection_->give_back(*this, number);
    std::ranges::sort(accepted_);
    // All that is not held was settled before or is now: one word is enough for those before the first that is held.
    const std::uint64_t oldest = held_.oldest() == nullptr ? UINT64_MAX : *held_.oldest();
    const auto first_alone = std::ranges::lower_bound(accepted_, oldest);
    if (first_alone != accepted_.begin()) connection_->ack(*this, *std::prev(first_alone), true);
    for (auto alone = first_alone; alone != accepted_.end(); ++alone) connection_->ack(*this, *alone, false);
    prefetch_.settled(written);
    counters_.settled += written;
    counters_.settle_failed -= written;
  }

  const RabbitmqSourceOptions options_;
  const std::string place_;
  Log& log_;
  Waker waker_;
  const OwnerThread owner_;

  std::size_t host_ = 0;
  bool connected_before_ = false;
  std::unique_ptr<Connection> connection_;  // null after it was lost
  bool consuming_ = false;
  Prefetch prefetch_;
  std::int32_t delivery_limit_ = -1;  // -1: there is none
  MessageReader reader_;
  Content content_;
  std::uint64_t number_ = 0;  // of the message that is being read
  bool redelivered_ = false;
  std::size_t most_ = 0;  // that are read ahead
  std::deque<Ready> ready_;
  LastDeliveries last_;       // that nobody was told of
  Held<std::uint64_t> held_;  // their numbers
  SourceCounters counters_;

  // Of one settle().
  std::vector<std::uint64_t> accepted_, given_back_;
};

}  // namespace
}  // namespace rabbitmq

std::unique_ptr<Source> open_rabbitmq(const RabbitmqSourceOptions& options, Log& log) {
  return std::make_unique<rabbitmq::RabbitmqSource>(options, log);
}

}  // namespace onceward
