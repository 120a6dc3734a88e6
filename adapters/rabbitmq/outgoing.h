// Messages on their way to a broker, as they are: a channel with confirms, and what became of each. Belongs to one thread,
// but for wake().
#pragma once

#include <set>
#include <string>
#include <vector>

#include "adapters/rabbitmq/connection.h"
#include "adapters/rabbitmq/content.h"
#include "adapters/rabbitmq/window.h"
#include "onceward/log.h"
#include "onceward/port/publisher.h"

namespace onceward::rabbitmq {

struct OutgoingMessage {
  std::uint64_t tag = 0;
  std::string_view exchange;
  std::string_view key;
  const amqp_basic_properties_t* properties = nullptr;
  std::string_view body;
  std::size_t header_bytes = 0;
};

class Outgoing final : private FrameTaker {
 public:
  Outgoing(const RabbitmqPublisherOptions& options, std::string name, Log& log);

  std::size_t room() const;
  std::size_t outstanding() const { return window_.size() + receipts_.size(); }

  // Connects if there is no connection. Throws Fault(publisher_unavailable) or Fault(publisher_refused).
  void require_connection();
  // Writes one message; it gets its receipt, whatever happens.
  void put(const OutgoingMessage& message);
  void refuse(std::uint64_t tag, std::string why);
  // Several put() in between are written together.
  void begin();
  void end();

  void collect(std::vector<Receipt>& into, std::chrono::milliseconds wait);
  void wake() noexcept { waker_.wake(); }
  const PublisherCounters& counters() const { return counters_; }

 private:
  Took take(const amqp_frame_t& frame) override;
  void take_method(const amqp_method_t& method);
  void take_return();
  void confirm(std::uint64_t number, bool multiple, Receipt::Kind kind);
  void answer(const Open& open, Receipt::Kind kind);
  void add_receipt(std::uint64_t tag, Receipt::Kind kind, std::string why);
  void put_off_unsent(std::uint64_t tag, std::string_view lost_why);

  std::string wrong_with(const OutgoingMessage& message);
  bool knows(std::string_view exchange);
  void send(const OutgoingMessage& message);
  std::string why_not_now() const;
  // What comes, as far as it has come.
  void tend();
  void give_up_late_ones();
  void note_blocking();
  void drop_connection(const Fault& fault);
  void settle_culprit(const Fault& closed);
  bool answered(Clock::time_point until);

  const RabbitmqPublisherOptions options_;
  const std::string name_;
  Log& log_;
  Waker waker_;

  std::size_t host_ = 0;
  bool connected_before_ = false;
  std::unique_ptr<Connection> connection_;  // null after it was lost
  std::string lost_why_;
  std::optional<Connection::Cork> cork_;
  std::set<std::string, std::less<>> exchanges_;  // that were there, on this connection
  Clock::time_point end_{};                       // until which put() waits for the broker
  bool said_blocked_ = false;
  // So many more go alone, each answered before the next: the broker closed a channel over one of several.
  std::size_t one_by_one_ = 0;
  Window window_;
  Content content_;
  struct Returned {
    std::string exchange, key, why;
  } returned_;
  std::vector<Receipt> receipts_;
  PublisherCounters counters_;
};

}  // namespace onceward::rabbitmq
