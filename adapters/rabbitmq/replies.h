// What a broker, or the library that talks to it, says: as one line for people, and as the fault that it is.
#pragma once

#include <amqp.h>

#include <string>
#include <string_view>

#include "onceward/adapter/rabbitmq.h"
#include "onceward/fault.h"
#include "src/common/one_line.h"

namespace onceward::rabbitmq {

// Who hears of it.
struct Role {
  FaultCode unavailable;
  FaultCode refused;
};
inline constexpr Role source_role{FaultCode::source_unavailable, FaultCode::source_refused};
inline constexpr Role publisher_role{FaultCode::publisher_unavailable, FaultCode::publisher_refused};

// The broker closed a channel, or the whole connection.
class Closed : public Fault {
 public:
  Closed(FaultCode fault, std::string message, std::uint16_t code)
      : Fault(fault, Poisons::connection, std::move(message)), code_(code) {}
  std::uint16_t code() const { return code_; }  // of AMQP: 404

 private:
  std::uint16_t code_;
};
// A channel, and not as the answer to a question: over one of the messages that were sent on it.
class ClosedOverAMessage final : public Closed {
 public:
  explicit ClosedOverAMessage(Closed closed) : Closed(std::move(closed)) {}
};

std::string_view view(amqp_bytes_t bytes);
amqp_bytes_t bytes_of(std::string_view text);  // borrowed

// Words of the library's status, and of the time that was allowed.
Fault lost(const Role& role, const std::string& place, int status);
// While a connection was made.
Fault not_connected(const Role& role, const RabbitmqConnection& options, const RabbitmqConnection::Host& host,
                    int status);
// `alert` as OpenSSL writes it.
Fault tls_ended(const Role& role, const RabbitmqConnection& options, const RabbitmqConnection::Host& host,
                std::string_view alert);
// The other side has hung up without a word.
Fault tls_unanswered(const Role& role, const RabbitmqConnection& options, const RabbitmqConnection::Host& host);
Fault tls_wanted(const Role& role, const RabbitmqConnection::Host& host);
Fault not_logged_in(const Role& role, const RabbitmqConnection& options, const RabbitmqConnection::Host& host,
                    const amqp_rpc_reply_t& reply);
// On a connection that works. A channel that is closed costs its connection, so both are one.
Closed closed(const Role& role, const std::string& place, const amqp_channel_close_t& close);
Closed closed(const Role& role, const std::string& place, const amqp_connection_close_t& close);
// Whether the broker knows no such queue or exchange. One whose node is down is not found either.
bool is_missing(const Closed& closed);
// Whether the broker has waited for an acknowledgement for too long.
bool is_late(const Closed& closed);
// Whether it was closed over something that streams do not know.
bool is_of_a_stream(const Closed& closed);

}  // namespace onceward::rabbitmq
