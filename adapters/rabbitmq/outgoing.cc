#include "adapters/rabbitmq/outgoing.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "adapters/rabbitmq/limits.h"
#include "adapters/rabbitmq/options.h"
#include "src/common/limits.h"

namespace onceward::rabbitmq {
namespace {

using std::chrono::milliseconds;
using namespace std::chrono_literals;
using Kind = Receipt::Kind;

// For which a broker may take nothing, before the rest of a batch is put off.
constexpr milliseconds longest_stall = 1s;
constexpr std::size_t most_other_properties = 2'048;  // all of them are short
constexpr std::size_t most_spans = 16;

std::string_view id_of(const amqp_basic_properties_t& properties) {
  return (properties._flags & AMQP_BASIC_MESSAGE_ID_FLAG) != 0 ? view(properties.message_id) : std::string_view();
}

}  // namespace

Outgoing::Outgoing(const RabbitmqPublisherOptions& options, std::string name, Log& log)
    : options_(options), name_(std::move(name)), log_(log) {
  check(options);
}

std::size_t Outgoing::room() const {
  const std::size_t most = one_by_one_ > 0 ? 1 : options_.window;
  if (window_.span() >= most_spans * options_.window) return 0;  // one of them is not answered, and many after it are
  return most - std::min(most, outstanding());
}

void Outgoing::require_connection() {
  if (connection_) tend();  // it may have ended while nobody looked
  if (connection_) return;
  connection_ = with_any_host(options_.connection, publisher_role, host_, [&](std::size_t host) {
    auto connection = std::make_unique<Connection>(options_.connection, host, publisher_role, name_);
    connection->confirm_publications();
    return connection;
  });
  if (std::exchange(connected_before_, true)) ++counters_.reconnects;
}

void Outgoing::begin() {
  end_ = Clock::now() + options_.confirm_deadline;
  if (connection_) cork_.emplace(*connection_);
}

void Outgoing::end() { cork_.reset(); }

void Outgoing::put(const OutgoingMessage& message) {
  ++counters_.published;
  if (!connection_) return put_off_unsent(message.tag, lost_why_);
  bool sending = false;
  try {
    std::string wrong = wrong_with(message);
    if (!wrong.empty()) return add_receipt(message.tag, Kind::refused, std::move(wrong));
    const auto until = std::min(end_, Clock::now() + longest_stall);
    if ((one_by_one_ > 0 && !answered(until)) || !connection_->make_room(*this, until)) {
      end_ = {};  // the others do not wait as well
      return add_receipt(message.tag, Kind::put_off, why_not_now());
    }
    sending = true;
    send(message);
  } catch (const Fault& fault) {
    drop_connection(fault);  // what was being sent is in doubt like the others
    if (!sending) put_off_unsent(message.tag, fault.what());
  }
}

// It comes again together with those that are in doubt, or before them.
void Outgoing::put_off_unsent(std::uint64_t tag, std::string_view lost_why) {
  if (one_by_one_ > 0 && one_by_one_ < options_.window) ++one_by_one_;
  add_receipt(tag, Kind::put_off, fmt::format("{}, before it was sent", lost_why));
}

void Outgoing::refuse(std::uint64_t tag, std::string why) {
  ++counters_.published;
  add_receipt(tag, Kind::refused, std::move(why));
}

// What the library or the broker would end the connection for.
std::string Outgoing::wrong_with(const OutgoingMessage& message) {
  if (message.exchange.size() > most_short_bytes || message.key.size() > most_short_bytes) {
    return "the names of an exchange and of a routing key have at most 255 bytes";
  }
  if (message.body.size() > Content::most_bytes) return "it is larger than the 512 MiB that RabbitMQ takes";
  const std::size_t most_headers = connection_->frame_bytes() - most_other_properties;
  if (message.header_bytes > most_headers) {
    return fmt::format("its headers have about {} bytes, and the broker's frame_max leaves {}", message.header_bytes,
                       most_headers);
  }
  if (!knows(message.exchange)) {
    return fmt::format("there is no exchange \"{}\" in this virtual host", one_line(message.exchange));
  }
  return {};
}

bool Outgoing::knows(std::string_view exchange) {
  if (exchange.empty() || exchanges_.contains(exchange) || !connection_->blocked().empty()) return true;
  const bool corked = cork_.has_value();
  cork_.reset();  // a question is not to wait for more to be sent
  const bool known = connection_->has_exchange(exchange);
  if (corked) cork_.emplace(*connection_);
  if (known) exchanges_.emplace(exchange);
  return known;
}

void Outgoing::send(const OutgoingMessage& message) {
  const auto deadline = Clock::now() + options_.confirm_deadline;
  window_.add({message.tag, std::string(message.exchange), std::string(message.key),
               std::string(id_of(*message.properties)), message.body.size(), deadline});
  if (one_by_one_ > 0) --one_by_one_;
  connection_->publish(*this, {message.exchange, message.key, message.properties, message.body}, deadline);
}

// All that were sent, at once or until `until`.
bool Outgoing::answered(Clock::time_point until) {
  const bool corked = cork_.has_value();
  cork_.reset();
  bool woken = false;
  for (;;) {
    connection_->pump(*this);
    if (window_.empty() || Clock::now() >= until) break;
    woken |= connection_->wait(waker_, until);
  }
  if (woken) waker_.wake();  // it is collect() that was meant
  if (corked) cork_.emplace(*connection_);
  return window_.empty();
}

std::string Outgoing::why_not_now() const {
  const std::string& why = connection_->blocked();
  return why.empty() ? fmt::format("{}: the broker takes no more at the moment", connection_->place())
                     : fmt::format("{}: the broker blocks publishing ({})", connection_->place(), why);
}

void Outgoing::collect(std::vector<Receipt>& into, milliseconds wait) {
  const auto end = Clock::now() + std::clamp<milliseconds>(wait, 0ms, longest_wait);
  tend();
  while (receipts_.empty() && !window_.empty() && connection_ && Clock::now() < end) {
    if (connection_->wait(waker_, std::min(end, window_.oldest()->deadline))) break;
    tend();
  }
  std::ranges::move(receipts_, std::back_inserter(into));
  receipts_.clear();
}

void Outgoing::tend() {
  if (connection_) try {
      connection_->pump(*this);
    } catch (const Fault& fault) {
      drop_connection(fault);
    }
  note_blocking();
  give_up_late_ones();
}

void Outgoing::note_blocking() {
  const bool blocked = connection_ && !connection_->blocked().empty();
  if (std::exchange(said_blocked_, blocked) == blocked) return;
  if (!connection_) return;  // that was said
  const LogField fields[] = {{"connection", name_}, {"why", std::string_view(connection_->blocked())}};
  if (blocked) return log_.write(LogLevel::warn, "the broker blocks publishing", fields);
  log_.write(LogLevel::info, "the broker takes publications again", std::span(fields).first(1));
}

// A channel whose quorum queue has lost its leader may stay silent though the queue has another one by then, and whatever is
// published on it is lost in it: the next has a channel of its own. One that is blocked says so, and goes on.
void Outgoing::give_up_late_ones() {
  if (window_.empty() || window_.oldest()->deadline > Clock::now()) return;
  if (connection_ && connection_->blocked().empty()) {
    return drop_connection(Fault(FaultCode::publisher_unavailable, Poisons::connection,
                                 fmt::format("{}: the broker has not confirmed in time", connection_->place())));
  }
  while (const Open* const oldest = window_.oldest()) {
    if (oldest->deadline > Clock::now()) return;
    add_receipt(window_.give_up_oldest()->tag, Kind::in_doubt, "the broker has not confirmed it in time");
  }
}

FrameTaker::Took Outgoing::take(const amqp_frame_t& frame) {
  if (frame.frame_type == AMQP_FRAME_METHOD) {
    take_method(frame.payload.method);
    return content_.begun() ? Took::part : Took::whole;
  }
  if (!content_.add(frame)) return Took::whole;
  if (!content_.is_whole()) return Took::part;
  take_return();
  content_.end();
  return Took::whole;
}

void Outgoing::take_method(const amqp_method_t& method) {
  if (method.id == AMQP_BASIC_ACK_METHOD) {
    const auto& ack = *static_cast<const amqp_basic_ack_t*>(method.decoded);
    confirm(ack.delivery_tag, ack.multiple != 0, Kind::confirmed);
  } else if (method.id == AMQP_BASIC_NACK_METHOD) {
    const auto& nack = *static_cast<const amqp_basic_nack_t*>(method.decoded);
    confirm(nack.delivery_tag, nack.multiple != 0, Kind::put_off);
  } else if (method.id == AMQP_BASIC_RETURN_METHOD) {
    const auto& sent_back = *static_cast<const amqp_basic_return_t*>(method.decoded);
    returned_ = {std::string(view(sent_back.exchange)), std::string(view(sent_back.routing_key)),
                 one_line(view(sent_back.reply_text))};
    content_.begin();
  }
}

// The message is confirmed all the same, later.
void Outgoing::take_return() {
  Open* const open =
      window_.like(returned_.exchange, returned_.key, id_of(content_.properties()), content_.body().size());
  if (open == nullptr) return;  // it was given up
  open->returned = fmt::format("no route from exchange \"{}\" with key \"{}\" ({})", one_line(returned_.exchange),
                               one_line(returned_.key), returned_.why);
}

void Outgoing::confirm(std::uint64_t number, bool multiple, Kind kind) {
  if (!multiple) {
    if (const auto open = window_.answer(number)) answer(*open, kind);
    return;
  }
  if (number == 0) number = UINT64_MAX;  // AMQP: all there are
  while (const auto open = window_.answer_up_to(number)) answer(*open, kind);
}

void Outgoing::answer(const Open& open, Kind kind) {
  if (!open.returned.empty()) return add_receipt(open.tag, Kind::refused, open.returned);
  add_receipt(open.tag, kind, kind == Kind::confirmed ? "" : "the broker could not take it: its queue is full or away");
}

void Outgoing::add_receipt(std::uint64_t tag, Kind kind, std::string why) {
  switch (kind) {
    case Kind::confirmed:
      ++counters_.confirmed;
      break;
    case Kind::refused:
      ++counters_.refused;
      break;
    case Kind::put_off:
      ++counters_.put_off;
      break;
    case Kind::in_doubt:
      ++counters_.in_doubt;
      break;
  }
  receipts_.push_back({tag, kind, std::move(why)});
}

void Outgoing::drop_connection(const Fault& fault) {
  if (dynamic_cast<const ClosedOverAMessage*>(&fault) != nullptr) settle_culprit(fault);
  const std::size_t doubtful = window_.size();
  while (const auto open = window_.answer_oldest()) {
    if (!open->returned.empty()) {
      answer(*open, Kind::refused);
    } else {
      add_receipt(open->tag, Kind::in_doubt, fmt::format("{}, before it was confirmed", fault.what()));
    }
  }
  const LogField fields[] = {{"connection", name_},
                             {"unconfirmed", static_cast<std::int64_t>(doubtful)},
                             {"why", std::string_view(fault.what())}};
  log_.write(LogLevel::warn, "the publisher's connection was lost", fields);
  lost_why_ = fault.what();
  cork_.reset();
  connection_.reset();
  said_blocked_ = false;
  window_ = {};
  content_ = {};
  exchanges_.clear();
}

// It does not say over which message, and ignores what came after it. Of several each may be stored, so each is in doubt; when
// they come again they go one by one, and the culprit is alone. One more goes like this, when the last of them is answered.
void Outgoing::settle_culprit(const Fault& closed) {
  if (const auto culprit = window_.answer_only()) return add_receipt(culprit->tag, Kind::refused, closed.what());
  one_by_one_ = std::max(one_by_one_, std::min(window_.size_with_given_up(), options_.window) + 1);
}

}  // namespace onceward::rabbitmq
