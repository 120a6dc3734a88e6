#include "adapters/rabbitmq/replies.h"

#include <fmt/format.h>

#include "adapters/rabbitmq/options.h"

namespace onceward::rabbitmq {
namespace {

Fault fault(FaultCode code, std::string line) { return {code, Poisons::connection, std::move(line)}; }

std::string place_of(const RabbitmqConnection& options, const RabbitmqConnection::Host& host) {
  return fmt::format("rabbitmq at {}:{}", host.name, host.port) + (options.tls ? " (TLS)" : "");
}

// "no queue 'orders' in vhost '/'", and not "home node 'rabbit@b' of durable queue 'orders' in vhost '/' is down or inaccessible".
constexpr std::string_view missing = "NOT_FOUND - no ";

constexpr std::string_view late = "PRECONDITION_FAILED - delivery acknowledgement on channel ";

// What only somebody with rights on the broker can change.
bool needs_help(std::uint16_t code, std::string_view text) {
  if (code == AMQP_NOT_FOUND) return text.starts_with(missing);
  if (code == AMQP_PRECONDITION_FAILED) return !text.starts_with(late);
  return code == AMQP_ACCESS_REFUSED || code == AMQP_NOT_ALLOWED || code == AMQP_RESOURCE_LOCKED ||
         code == AMQP_NOT_IMPLEMENTED;
}

std::string why_lost(int status) {
  switch (status) {
    case AMQP_STATUS_HEARTBEAT_TIMEOUT:
      return "nothing was heard for two heartbeats";
    case AMQP_STATUS_CONNECTION_CLOSED:
    case AMQP_STATUS_SOCKET_CLOSED:
      return "the other side ended the connection";
    case AMQP_STATUS_TIMEOUT:
      return "no answer came in time";
    default:
      return fmt::format("the connection broke ({})", amqp_error_string2(status));
  }
}

}  // namespace

std::string_view view(amqp_bytes_t bytes) { return {static_cast<const char*>(bytes.bytes), bytes.len}; }

amqp_bytes_t bytes_of(std::string_view text) {
  // The library's type has no const; it does not write.
  return {text.size(), const_cast<char*>(text.data())};
}

Fault lost(const Role& role, const std::string& place, int status) {
  return fault(role.unavailable, fmt::format("{}: {}", place, why_lost(status)));
}

Fault not_connected(const Role& role, const RabbitmqConnection& options, const RabbitmqConnection::Host& host,
                    int status) {
  const std::string place = place_of(options, host);
  switch (status) {
    case AMQP_STATUS_HOSTNAME_RESOLUTION_FAILED:
      return fault(role.unavailable, place + ": the host's name is not known; is it spelled right?");
    case AMQP_STATUS_TIMEOUT:
      return fault(role.unavailable,
                   place + ": no answer in time; is the host up, and does a firewall let us through?");
    case AMQP_STATUS_SSL_HOSTNAME_VERIFY_FAILED:
      return fault(role.refused,
                   place + ": the certificate is for another name than this host's; write the name that stands in it");
    case AMQP_STATUS_SSL_PEER_VERIFY_FAILED:
      return fault(
          role.refused,
          fmt::format("{}: the certificate is not signed by anyone in {}, or has expired; name the right CA in "
                      "cacertfile=",
                      place, options.ca_file.empty() ? "the system's list" : "the cacertfile"));
    case AMQP_STATUS_SSL_CONNECTION_FAILED:
    case AMQP_STATUS_SSL_ERROR:
      return fault(
          role.refused,
          place + ": no TLS there; write the broker's TLS port (usually 5671), or rabbitmq:// for a plain connection");
    default:
      return fault(role.unavailable, place + ": nothing listens there; is the broker running, and is this its port?");
  }
}

Fault tls_ended(const Role& role, const RabbitmqConnection& options, const RabbitmqConnection::Host& host,
                std::string_view alert) {
  return fault(role.refused, fmt::format("{}: the broker ended TLS ({}); {}", place_of(options, host), alert,
                                         options.key_file.empty()
                                             ? "if it wants a certificate of ours, name it in certfile= and keyfile="
                                             : "does it know who signed our certfile=?"));
}

Fault tls_unanswered(const Role& role, const RabbitmqConnection& options, const RabbitmqConnection::Host& host) {
  return fault(role.unavailable, place_of(options, host) +
                                     ": the other side hung up when TLS began; is the broker "
                                     "starting, and is this its TLS port (usually 5671)?");
}

Fault tls_wanted(const Role& role, const RabbitmqConnection::Host& host) {
  return fault(role.refused,
               fmt::format("rabbitmq at {}:{}: this port is for TLS; write rabbitmqs://, or the broker's plain "
                           "port (usually 5672)",
                           host.name, host.port));
}

Fault not_logged_in(const Role& role, const RabbitmqConnection& options, const RabbitmqConnection::Host& host,
                    const amqp_rpc_reply_t& reply) {
  const std::string place = place_of(options, host);
  if (reply.reply_type == AMQP_RESPONSE_SERVER_EXCEPTION && reply.reply.id == AMQP_CONNECTION_CLOSE_METHOD) {
    const auto& close = *static_cast<const amqp_connection_close_t*>(reply.reply.decoded);
    const std::string text = one_line(view(close.reply_text));
    if (close.reply_code == AMQP_ACCESS_REFUSED) {
      return fault(role.refused, fmt::format("{}: the broker refuses the user \"{}\"; check the name and the password",
                                             place, one_line(options.user)));
    }
    if (close.reply_code == AMQP_NOT_ALLOWED || close.reply_code == AMQP_INVALID_PATH) {
      return fault(role.refused,
                   fmt::format("{}: the virtual host \"{}\" is not there, or not for the user \"{}\" ({})", place,
                               one_line(options.vhost), one_line(options.user), text));
    }
    return fault(needs_help(close.reply_code, text) ? role.refused : role.unavailable,
                 fmt::format("{}: {}", place, text));
  }
  if (reply.reply_type == AMQP_RESPONSE_LIBRARY_EXCEPTION) {
    const int status = reply.library_error;
    if (status == AMQP_STATUS_BAD_AMQP_DATA || status == AMQP_STATUS_INCOMPATIBLE_AMQP_VERSION) {
      return fault(role.refused, place + ": no AMQP 0-9-1 there; is it another service's port?");
    }
    if (status == AMQP_STATUS_BROKER_UNSUPPORTED_SASL_METHOD) {
      return fault(role.refused, place + ": the broker does not allow the log-in by name and password (PLAIN)");
    }
    return fault(role.unavailable, fmt::format("{}: {} while logging in; is it starting, or is it another service?",
                                               place, why_lost(status)));
  }
  return fault(role.unavailable, place + ": the log-in was not answered");
}

Closed closed(const Role& role, const std::string& place, const amqp_channel_close_t& close) {
  const std::string text = one_line(view(close.reply_text));
  std::string line = fmt::format("{}: the broker closed the channel: {}", place, text);
  return {needs_help(close.reply_code, text) ? role.refused : role.unavailable, std::move(line), close.reply_code};
}

Closed closed(const Role& role, const std::string& place, const amqp_connection_close_t& close) {
  std::string line = fmt::format("{}: the broker closed the connection: {}", place, one_line(view(close.reply_text)));
  return {role.unavailable, std::move(line), close.reply_code};
}

bool is_missing(const Closed& closed) { return closed.code() == AMQP_NOT_FOUND && !closed.transient(); }

bool is_late(const Closed& closed) { return closed.code() == AMQP_PRECONDITION_FAILED && closed.transient(); }

// "invalid arg 'x-priority' for queue 'orders' in vhost '/' of queue type rabbit_stream_queue"
bool is_of_a_stream(const Closed& closed) {
  return closed.code() == AMQP_PRECONDITION_FAILED && std::string_view(closed.what()).ends_with("rabbit_stream_queue");
}

}  // namespace onceward::rabbitmq
