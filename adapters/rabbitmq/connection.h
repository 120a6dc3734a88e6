// A connection to RabbitMQ with one channel for the work. librabbitmq speaks the protocol; here is what it leaves open: that
// no wait lasts longer than was said and can be ended by another thread, that we never wait to write while the broker
// waits for us to read, and what is made of everything that can go wrong.
//
// Belongs to one thread. After a Fault it is of no more use.
#pragma once

#include <amqp.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "adapters/rabbitmq/replies.h"
#include "adapters/rabbitmq/waker.h"
#include "onceward/adapter/rabbitmq.h"

namespace onceward::rabbitmq {

using Clock = std::chrono::steady_clock;

// Takes what comes on the channel.
class FrameTaker {
 public:
  enum class Took : std::uint8_t {
    part,    // of a message: what the frame points to must stay
    whole,   // nothing of what came before is needed any more
    enough,  // whole, and no more now
  };
  virtual Took take(const amqp_frame_t& frame) = 0;

 protected:
  ~FrameTaker() = default;
};

struct QueueCheck {
  std::string_view name;
  RabbitmqSourceOptions::Declare declare;
};

// Calls `attempt` with the hosts one after the other, from `first` on, which is the one that worked then. If none does, throws
// what tells most: the first refusal, which somebody has to help with, or else the last outage.
// Before each but the first, `hurried` may say that it is not to be tried now.
template <class Attempt, class Hurried>
auto with_any_host(const RabbitmqConnection& options, const Role& role, std::size_t& first, Attempt&& attempt,
                   Hurried&& hurried) {
  const std::size_t begin = first, hosts = options.hosts.size();
  std::optional<Fault> refusal;
  for (std::size_t tried = 1;; ++tried) {
    try {
      return attempt(first);
    } catch (const Fault& fault) {
      if (!refusal && fault.fault() == role.refused) refusal = fault;
      first = tried < hosts ? (first + 1) % hosts : begin;
      if (tried < hosts && !hurried()) continue;
      if (refusal) throw Fault(*refusal);
      throw;
    }
  }
}

template <class Attempt>
auto with_any_host(const RabbitmqConnection& options, const Role& role, std::size_t& first, Attempt&& attempt) {
  return with_any_host(options, role, first, attempt, [] { return false; });
}

class Connection {
 public:
  // Connects and logs in, within the deadline of `options`. `name` is how it is called in the broker's own lists.
  Connection(const RabbitmqConnection& options, std::size_t host, const Role& role, const std::string& name);
  // Orderly, if it can be without a long wait.
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Asked and answered, within the connect deadline each.
  void check_queue(const QueueCheck& queue);
  struct QueueState {
    std::uint32_t ready = 0;
    std::uint32_t consumers = 0;
  };
  // Nothing where there is none: then the connection is of no more use.
  std::optional<QueueState> look_at_queue(std::string_view name);
  // That messages of the queue may be received; takes none.
  void check_reading(std::string_view queue);
  void limit_unsettled(std::uint16_t messages);
  void consume(std::string_view queue);
  // What has come already is still to be taken and settled.
  void stop_consuming();
  void confirm_publications();
  bool has_exchange(std::string_view name);

  // Gives the taker what has come, without waiting; sends a heartbeat if one is due.
  void pump(FrameTaker& taker);
  // Waits until something has come or `until`; true if it was woken instead.
  bool wait(Waker& waker, Clock::time_point until);

  // The channel's words, all of them written on return.
  void ack(FrameTaker& taker, std::uint64_t tag, bool multiple);
  void give_back(FrameTaker& taker, std::uint64_t tag);
  // Whether a message can be published without waiting: at once or until `until`.
  bool make_room(FrameTaker& taker, Clock::time_point until) { return make_room(taker, until, Word::publication); }
  struct Message {
    std::string_view exchange;
    std::string_view key;
    const amqp_basic_properties_t* properties = nullptr;
    std::string_view body;
  };
  // After make_room(). Throws if it stopped in the middle until `give_up`.
  void publish(FrameTaker& taker, const Message& message, Clock::time_point give_up);
  // Small writes are sent together while it is held.
  class Cork {
   public:
    explicit Cork(Connection& connection) : connection_(connection) { connection_.set_cork(true); }
    ~Cork() { connection_.set_cork(false); }
    Cork(const Cork&) = delete;
    Cork& operator=(const Cork&) = delete;

   private:
    Connection& connection_;
  };

  // Why the broker takes no publications at the moment; empty while it does.
  const std::string& blocked() const { return blocked_; }
  // What fits into one frame, as both sides have agreed.
  std::size_t frame_bytes() const { return frame_bytes_; }
  // As the server says it, "3.10.8"; empty if it does not.
  std::string_view server_version() const;
  // For messages to people.
  const std::string& place() const { return place_; }

 private:
  struct End {
    void operator()(amqp_connection_state_t state) const { amqp_destroy_connection(state); }
  };

  void open_socket(const RabbitmqConnection& options, const RabbitmqConnection::Host& host);
  void log_in(const RabbitmqConnection& options, const RabbitmqConnection::Host& host, const std::string& name);
  void tune_socket(const RabbitmqConnection& options) const;
  void open_channel(amqp_channel_t channel);
  // Throws what the last answer says.
  void require_answer(const std::string& asked_for);
  void require_messages(std::string_view queue);
  void declare(const QueueCheck& queue);

  // A broker that blocks publishing still takes the others.
  enum class Word : std::uint8_t { publication, settlement };
  bool make_room(FrameTaker& taker, Clock::time_point until, Word word);
  void control(const amqp_frame_t& frame);
  void require_room(FrameTaker& taker);
  void require(int status);
  void send_large(FrameTaker& taker, const Message& message, Clock::time_point give_up);
  void set_cork(bool on) const;
  void answer_close(amqp_channel_t channel);
  std::chrono::milliseconds left() const;

  const Role& role_;
  const std::string place_;
  Clock::time_point deadline_;  // of connecting
  std::unique_ptr<std::remove_pointer_t<amqp_connection_state_t>, End> state_;
  std::chrono::seconds heartbeat_{};  // both as agreed
  std::size_t frame_bytes_ = 0;
  bool usable_ = false;
  bool probing_ = false;  // the second channel is open
  std::string blocked_;
  std::string consumer_;  // that was made last
};

}  // namespace onceward::rabbitmq
