#include "adapters/rabbitmq/connection.h"

#include <amqp_ssl_socket.h>
#include <amqp_tcp_socket.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <span>

#include "adapters/rabbitmq/limits.h"
#include "onceward/version.h"

namespace onceward::rabbitmq {
namespace {

using std::chrono::milliseconds;
using namespace std::chrono_literals;

constexpr amqp_channel_t work_channel = 1, probe_channel = 2;
// poll() says that a socket has room when a third of its buffer is free, which is more than one of these: so a write that
// poll() has allowed does not wait.
constexpr int send_buffer_bytes = 512 * 1024;
constexpr std::size_t fragment_bytes = 64 * 1024;
constexpr std::size_t frame_overhead_bytes = 8;
constexpr std::size_t small_body_bytes = 32 * 1024;
constexpr milliseconds longest_close = 2s;
constexpr milliseconds longest_write = 10s;  // of an acknowledgement

timeval time_of(milliseconds time) {
  const milliseconds positive = std::max(time, 1ms);
  return {positive.count() / 1000, positive.count() % 1000 * 1000};
}

// librabbitmq 0.11 cannot be told to use the system's list, only a file.
std::string system_ca_file() {
  if (const char* const named = std::getenv(X509_get_default_cert_file_env())) return named;
  for (const char* const file : {X509_get_default_cert_file(), "/etc/ssl/certs/ca-certificates.crt",
                                 "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"}) {
    if (access(file, R_OK) == 0) return file;
  }
  return {};
}

amqp_table_entry_t entry(const char* name, std::string_view text) {
  amqp_table_entry_t made{};
  made.key = amqp_cstring_bytes(name);
  made.value.kind = AMQP_FIELD_KIND_UTF8;
  made.value.value.bytes = bytes_of(text);
  return made;
}

amqp_table_entry_t number(const char* name, std::int32_t value) {
  amqp_table_entry_t made{};
  made.key = amqp_cstring_bytes(name);
  made.value.kind = AMQP_FIELD_KIND_I32;
  made.value.value.i32 = value;
  return made;
}

amqp_table_entry_t yes(const char* name) {
  amqp_table_entry_t made{};
  made.key = amqp_cstring_bytes(name);
  made.value.kind = AMQP_FIELD_KIND_BOOLEAN;
  made.value.value.boolean = 1;
  return made;
}

// Who hangs up on AMQP may be starting, or may wait for TLS: only asking tells.
bool speaks_tls(const RabbitmqConnection::Host& host, milliseconds wait) {
  const std::unique_ptr<std::remove_pointer_t<amqp_connection_state_t>, int (*)(amqp_connection_state_t)> asked(
      amqp_new_connection(), &amqp_destroy_connection);
  amqp_socket_t* const socket = asked ? amqp_ssl_socket_new(asked.get()) : nullptr;
  if (socket == nullptr) return false;
  amqp_ssl_socket_set_verify_peer(socket, 0);
  amqp_ssl_socket_set_verify_hostname(socket, 0);
  const timeval time = time_of(wait);
  return amqp_socket_open_noblock(socket, host.name.c_str(), host.port, &time) == AMQP_STATUS_OK;
}

// What the other side has said of TLS on this thread's last connection; empty if nothing. With TLS 1.3 a broker that wants our
// certificate says so when we believe to be connected already.
std::string_view tls_alert() {
  const unsigned long error = ERR_peek_last_error();
  if (ERR_GET_LIB(error) != ERR_LIB_SSL || ERR_GET_REASON(error) < SSL_AD_REASON_OFFSET) return {};
  const char* const text = ERR_reason_error_string(error);
  return text ? text : "an alert without a name";
}

// Nobody who speaks something else, whose first bytes would be no TLS.
bool hung_up_in_tls() {
  const unsigned long error = ERR_peek_last_error();
  return error == 0 ||
         (ERR_GET_LIB(error) == ERR_LIB_SSL && ERR_GET_REASON(error) == SSL_R_UNEXPECTED_EOF_WHILE_READING);
}

int milliseconds_until(Clock::time_point until) {
  const auto left = std::chrono::ceil<milliseconds>(until - Clock::now());
  return static_cast<int>(std::clamp<milliseconds>(left, 0ms, 60s).count());
}

}  // namespace

Connection::Connection(const RabbitmqConnection& options, std::size_t host, const Role& role, const std::string& name)
    : role_(role),
      place_(fmt::format("rabbitmq at {}:{}", options.hosts[host].name, options.hosts[host].port)),
      deadline_(Clock::now() + options.connect_deadline),
      state_(amqp_new_connection()) {
  if (!state_) throw std::bad_alloc();
  open_socket(options, options.hosts[host]);
  log_in(options, options.hosts[host], name);
  heartbeat_ = std::chrono::seconds(amqp_get_heartbeat(state_.get()));
  frame_bytes_ = static_cast<std::size_t>(amqp_get_frame_max(state_.get())) - frame_overhead_bytes;
  const timeval answer = time_of(options.connect_deadline);
  amqp_set_rpc_timeout(state_.get(), &answer);
  open_channel(work_channel);
  usable_ = true;
}

Connection::~Connection() {
  if (!usable_) return;
  pollfd socket{amqp_get_sockfd(state_.get()), POLLOUT, 0};
  if (poll(&socket, 1, 0) != 1 || (socket.revents & (POLLERR | POLLHUP)) != 0) return;
  const timeval answer = time_of(longest_close);
  amqp_set_rpc_timeout(state_.get(), &answer);
  amqp_connection_close(state_.get(), AMQP_REPLY_SUCCESS);
}

milliseconds Connection::left() const { return std::chrono::ceil<milliseconds>(deadline_ - Clock::now()); }

void Connection::open_socket(const RabbitmqConnection& options, const RabbitmqConnection::Host& host) {
  amqp_socket_t* const socket = options.tls ? amqp_ssl_socket_new(state_.get()) : amqp_tcp_socket_new(state_.get());
  if (socket == nullptr) throw std::bad_alloc();
  if (options.tls) {
    amqp_ssl_socket_set_verify_peer(socket, options.verify_peer ? 1 : 0);
    amqp_ssl_socket_set_verify_hostname(socket, options.verify_peer ? 1 : 0);
    const std::string ca_file = options.ca_file.empty() ? system_ca_file() : options.ca_file;
    if (!ca_file.empty() && amqp_ssl_socket_set_cacert(socket, ca_file.c_str()) != AMQP_STATUS_OK) {
      throw Fault(role_.refused, Poisons::connection,
                  fmt::format("{}: {} cannot be read as PEM", place_,
                              options.ca_file.empty() ? "the system's list of CAs" : "the cacertfile"));
    }
    if (!options.key_file.empty() &&
        amqp_ssl_socket_set_key(socket, options.certificate_file.c_str(), options.key_file.c_str()) != AMQP_STATUS_OK) {
      throw Fault(role_.refused, Poisons::connection,
                  fmt::format("{}: certfile and keyfile cannot be read as PEM", place_));
    }
  }
  ERR_clear_error();
  const timeval time = time_of(left());
  const int status = amqp_socket_open_noblock(socket, host.name.c_str(), host.port, &time);
  if (const auto alert = tls_alert(); status != AMQP_STATUS_OK && !alert.empty()) {
    throw tls_ended(role_, options, host, alert);
  }
  if (status == AMQP_STATUS_SSL_CONNECTION_FAILED && hung_up_in_tls()) throw tls_unanswered(role_, options, host);
  if (status != AMQP_STATUS_OK) throw not_connected(role_, options, host, status);
  tune_socket(options);
}

void Connection::tune_socket(const RabbitmqConnection& options) const {
  const int socket = amqp_get_sockfd(state_.get());
  setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &send_buffer_bytes, sizeof send_buffer_bytes);
  // The library writes without a deadline. Here is one: what is not taken by then ends the connection.
  const auto stuck = static_cast<unsigned>(std::max<milliseconds>(2 * options.heartbeat, longest_write).count());
  setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &stuck, sizeof stuck);
}

void Connection::log_in(const RabbitmqConnection& options, const RabbitmqConnection::Host& host,
                        const std::string& name) {
  const timeval time = time_of(left());
  amqp_set_handshake_timeout(state_.get(), &time);
  std::array capabilities{yes("authentication_failure_close"), yes("basic.nack"), yes("connection.blocked"),
                          yes("consumer_cancel_notify"), yes("publisher_confirms")};
  std::array properties{entry("product", "Onceward"), entry("version", version()), entry("connection_name", name),
                        amqp_table_entry_t{}};
  properties.back().key = amqp_cstring_bytes("capabilities");
  properties.back().value.kind = AMQP_FIELD_KIND_TABLE;
  properties.back().value.value.table = {static_cast<int>(capabilities.size()), capabilities.data()};
  const amqp_table_t said{static_cast<int>(properties.size()), properties.data()};
  const amqp_rpc_reply_t reply = amqp_login_with_properties(
      state_.get(), options.vhost.c_str(), 0, most_frame_bytes, static_cast<int>(options.heartbeat.count()), &said,
      AMQP_SASL_METHOD_PLAIN, options.user.c_str(), options.password.c_str());
  if (reply.reply_type == AMQP_RESPONSE_NORMAL) return;
  const bool hung_up =
      reply.reply_type == AMQP_RESPONSE_LIBRARY_EXCEPTION && reply.library_error != AMQP_STATUS_TIMEOUT;
  if (const auto alert = tls_alert(); hung_up && options.tls && !alert.empty()) {
    throw tls_ended(role_, options, host, alert);
  }
  const bool tls_there = hung_up && !options.tls && speaks_tls(host, left());
  throw tls_there ? tls_wanted(role_, host) : not_logged_in(role_, options, host, reply);
}

void Connection::open_channel(amqp_channel_t channel) {
  amqp_channel_open(state_.get(), channel);
  require_answer("a channel");
}

void Connection::require_answer(const std::string& asked_for) {
  const amqp_rpc_reply_t reply = amqp_get_rpc_reply(state_.get());
  if (reply.reply_type == AMQP_RESPONSE_NORMAL) return;
  usable_ = false;
  if (reply.reply_type == AMQP_RESPONSE_SERVER_EXCEPTION && reply.reply.id == AMQP_CHANNEL_CLOSE_METHOD) {
    const auto& close = *static_cast<const amqp_channel_close_t*>(reply.reply.decoded);
    usable_ = true;
    throw closed(role_, fmt::format("{}, asked for {}", place_, asked_for), close);
  }
  if (reply.reply_type == AMQP_RESPONSE_SERVER_EXCEPTION && reply.reply.id == AMQP_CONNECTION_CLOSE_METHOD) {
    throw closed(role_, place_, *static_cast<const amqp_connection_close_t*>(reply.reply.decoded));
  }
  throw lost(role_, place_,
             reply.reply_type == AMQP_RESPONSE_LIBRARY_EXCEPTION ? reply.library_error : AMQP_STATUS_TIMEOUT);
}

void Connection::answer_close(amqp_channel_t channel) {
  amqp_channel_close_ok_t ok{};
  require(amqp_send_method(state_.get(), channel, AMQP_CHANNEL_CLOSE_OK_METHOD, &ok));
}

void Connection::check_queue(const QueueCheck& queue) {
  amqp_queue_declare(state_.get(), work_channel, bytes_of(queue.name), 1, 0, 0, 0, amqp_empty_table);
  try {
    return require_answer(fmt::format("the queue \"{}\"", one_line(queue.name)));
  } catch (const Closed& closed) {
    if (!is_missing(closed)) throw;
    using enum RabbitmqSourceOptions::Declare;
    if (queue.declare == nothing || queue.declare == never) {
      const bool can_be_told = queue.declare == nothing && role_.refused == FaultCode::source_refused;
      throw Fault(role_.refused, Poisons::connection,
                  fmt::format("{}: there is no queue \"{}\" in this virtual host; create it, or {}", place_,
                              one_line(queue.name),
                              can_be_told ? "write declare=quorum or declare=classic" : "correct the name"));
    }
  }
  answer_close(work_channel);
  open_channel(work_channel);
  declare(queue);
}

std::optional<Connection::QueueState> Connection::look_at_queue(std::string_view name) {
  const auto* const state =
      amqp_queue_declare(state_.get(), work_channel, bytes_of(name), 1, 0, 0, 0, amqp_empty_table);
  try {
    require_answer(fmt::format("the queue \"{}\"", one_line(name)));
  } catch (const Closed& closed) {
    if (!is_missing(closed)) throw;
    return std::nullopt;
  }
  return QueueState{state->message_count, state->consumer_count};
}

void Connection::declare(const QueueCheck& queue) {
  amqp_table_entry_t type =
      entry("x-queue-type", queue.declare == RabbitmqSourceOptions::Declare::quorum ? "quorum" : "classic");
  amqp_queue_declare(state_.get(), work_channel, bytes_of(queue.name), 0, 1, 0, 0, {1, &type});
  require_answer(fmt::format("a new queue \"{}\"", one_line(queue.name)));
}

void Connection::limit_unsettled(std::uint16_t messages) {
  amqp_basic_qos(state_.get(), work_channel, 0, messages, 0);
  require_answer("a prefetch");
}

// Zero is a consumer's priority where none is said, but streams have no such thing and refuse it. They must be: each consumer
// would begin with what comes next, and what came between two of them would be lost. Its name is the broker's choice, each time
// another one: a quorum queue takes a second of the same name for the first, which still has messages to settle.
void Connection::consume(std::string_view queue) {
  amqp_table_entry_t priority = number("x-priority", 0);
  const auto* const answer =
      amqp_basic_consume(state_.get(), work_channel, bytes_of(queue), amqp_empty_bytes, 0, 0, 0, {1, &priority});
  require_messages(queue);
  consumer_ = view(answer->consumer_tag);
}

void Connection::stop_consuming() {
  amqp_basic_cancel(state_.get(), work_channel, bytes_of(consumer_));
  require_answer("no more messages");
}

void Connection::require_messages(std::string_view queue) {
  try {
    require_answer(fmt::format("messages of the queue \"{}\"", one_line(queue)));
  } catch (const Closed& closed) {
    if (!is_of_a_stream(closed)) throw;
    throw Fault(
        role_.refused, Poisons::connection,
        fmt::format("{}: \"{}\" is a stream, which this source does not read yet; name a classic or a quorum queue",
                    place_, one_line(queue)));
  }
}

void Connection::confirm_publications() {
  amqp_confirm_select(state_.get(), work_channel);
  require_answer("confirms");
}

// On a channel of its own: the answer "no" closes it.
bool Connection::has_exchange(std::string_view name) {
  if (!probing_) open_channel(probe_channel);
  probing_ = true;
  amqp_exchange_declare(state_.get(), probe_channel, bytes_of(name), bytes_of("direct"), 1, 0, 0, 0, amqp_empty_table);
  try {
    require_answer(fmt::format("the exchange \"{}\"", one_line(name)));
    return true;
  } catch (const Closed& closed) {
    if (closed.code() != AMQP_NOT_FOUND && closed.code() != AMQP_ACCESS_REFUSED) throw;
  }
  answer_close(probe_channel);
  probing_ = false;
  return false;
}

// A consumer with an argument of the wrong type is refused after permissions were looked at, and before anything is delivered.
void Connection::check_reading(std::string_view queue) {
  if (!probing_) open_channel(probe_channel);
  probing_ = true;
  amqp_table_entry_t no_number = entry("x-priority", "none");
  amqp_basic_consume(state_.get(), probe_channel, bytes_of(queue), amqp_empty_bytes, 0, 0, 0, {1, &no_number});
  try {
    require_messages(queue);
    return;  // one that takes any argument: what it delivers goes back with the connection
  } catch (const Closed& closed) {
    if (closed.code() == AMQP_ACCESS_REFUSED) {
      throw Fault(role_.refused, Poisons::connection,
                  fmt::format("{}: reading is not permitted of the queue \"{}\"; grant the user the permission read",
                              place_, one_line(queue)));
    }
    if (closed.code() != AMQP_PRECONDITION_FAILED) throw;
  }
  answer_close(probe_channel);
  probing_ = false;
}

void Connection::pump(FrameTaker& taker) {
  for (;;) {
    amqp_frame_t frame;
    const timeval none{};
    const int status = amqp_simple_wait_frame_noblock(state_.get(), &frame, &none);
    if (status == AMQP_STATUS_TIMEOUT) return;
    require(status);
    if (frame.channel != work_channel) {
      control(frame);
      amqp_maybe_release_buffers_on_channel(state_.get(), frame.channel);
      continue;
    }
    if (frame.frame_type == AMQP_FRAME_METHOD && frame.payload.method.id == AMQP_CHANNEL_CLOSE_METHOD) {
      throw ClosedOverAMessage(
          closed(role_, place_, *static_cast<const amqp_channel_close_t*>(frame.payload.method.decoded)));
    }
    const FrameTaker::Took took = taker.take(frame);
    if (took != FrameTaker::Took::part) amqp_maybe_release_buffers_on_channel(state_.get(), work_channel);
    if (took == FrameTaker::Took::enough) return;
  }
}

// What is said about the connection as a whole.
void Connection::control(const amqp_frame_t& frame) {
  if (frame.frame_type != AMQP_FRAME_METHOD) return;
  const amqp_method_t& method = frame.payload.method;
  if (method.id == AMQP_CONNECTION_CLOSE_METHOD) {
    usable_ = false;
    throw closed(role_, place_, *static_cast<const amqp_connection_close_t*>(method.decoded));
  }
  if (method.id == AMQP_CONNECTION_BLOCKED_METHOD) {
    blocked_ = one_line(view(static_cast<const amqp_connection_blocked_t*>(method.decoded)->reason));
    if (blocked_.empty()) blocked_ = "no reason was given";
  }
  if (method.id == AMQP_CONNECTION_UNBLOCKED_METHOD) blocked_.clear();
}

bool Connection::wait(Waker& waker, Clock::time_point until) {
  // The library sends heartbeats when it is called. Without any, nothing has to be sent.
  const auto pause = heartbeat_.count() > 0 ? heartbeat_ : most_heartbeat;
  const auto next_heartbeat = Clock::now() + std::chrono::duration_cast<Clock::duration>(pause) / 2;
  pollfd files[] = {{amqp_get_sockfd(state_.get()), POLLIN, 0}, {waker.file(), POLLIN, 0}};
  poll(files, 2, milliseconds_until(std::min(until, next_heartbeat)));
  return (files[1].revents & POLLIN) != 0 && waker.slept_enough();
}

// Whatever we want to write, the broker may be waiting for us to read.
bool Connection::make_room(FrameTaker& taker, Clock::time_point until, Word word) {
  const auto held_up = [&] { return word == Word::publication && !blocked_.empty(); };
  for (;;) {
    pollfd socket{amqp_get_sockfd(state_.get()), POLLIN | POLLOUT, 0};
    const bool out_of_time = Clock::now() >= until;
    poll(&socket, 1, 0);
    if ((socket.revents & POLLIN) != 0) pump(taker);
    if ((socket.revents & (POLLERR | POLLHUP)) != 0) pump(taker);  // it says what has happened
    if ((socket.revents & POLLOUT) != 0 && !held_up()) return true;
    if (out_of_time) return false;
    // A taker that has enough leaves bytes unread, and the socket readable.
    const auto pause = std::min(until, Clock::now() + 100ms);
    socket.events = held_up() ? POLLIN : POLLIN | POLLOUT;
    poll(&socket, 1, milliseconds_until(pause));
  }
}

void Connection::require_room(FrameTaker& taker) {
  if (make_room(taker, Clock::now() + longest_write, Word::settlement)) return;
  usable_ = false;
  throw Fault(role_.unavailable, Poisons::connection, fmt::format("{}: the broker has stopped reading", place_));
}

void Connection::require(int status) {
  if (status == AMQP_STATUS_OK) return;
  usable_ = false;
  throw lost(role_, place_, status);
}

void Connection::ack(FrameTaker& taker, std::uint64_t tag, bool multiple) {
  require_room(taker);
  require(amqp_basic_ack(state_.get(), work_channel, tag, multiple ? 1 : 0));
}

void Connection::give_back(FrameTaker& taker, std::uint64_t tag) {
  require_room(taker);
  require(amqp_basic_nack(state_.get(), work_channel, tag, 0, 1));
}

void Connection::publish(FrameTaker& taker, const Message& message, Clock::time_point give_up) {
  if (message.body.size() > small_body_bytes) return send_large(taker, message, give_up);
  require(amqp_basic_publish(state_.get(), work_channel, bytes_of(message.exchange), bytes_of(message.key), 1, 0,
                             message.properties, bytes_of(message.body)));
}

// Frame by frame, since amqp_basic_publish() writes all of it without reading.
void Connection::send_large(FrameTaker& taker, const Message& message, Clock::time_point give_up) {
  amqp_basic_publish_t method{};
  method.exchange = bytes_of(message.exchange);
  method.routing_key = bytes_of(message.key);
  method.mandatory = 1;
  require(amqp_send_method(state_.get(), work_channel, AMQP_BASIC_PUBLISH_METHOD, &method));
  amqp_frame_t frame{};
  frame.frame_type = AMQP_FRAME_HEADER;
  frame.channel = work_channel;
  frame.payload.properties.class_id = AMQP_BASIC_CLASS;
  frame.payload.properties.body_size = message.body.size();
  frame.payload.properties.decoded = const_cast<amqp_basic_properties_t*>(message.properties);  // it is only read
  require(amqp_send_frame(state_.get(), &frame));
  frame.frame_type = AMQP_FRAME_BODY;
  for (std::string_view rest = message.body; !rest.empty();) {
    if (!make_room(taker, give_up)) {
      usable_ = false;
      throw Fault(role_.unavailable, Poisons::connection,
                  fmt::format("{}: the broker has stopped reading in the middle of a message{}{}", place_,
                              blocked_.empty() ? "" : ", it blocks publishing: ", blocked_));
    }
    const std::string_view fragment = rest.substr(0, std::min(fragment_bytes, frame_bytes_));
    frame.payload.body_fragment = bytes_of(fragment);
    require(amqp_send_frame(state_.get(), &frame));
    rest.remove_prefix(fragment.size());
  }
}

std::string_view Connection::server_version() const {
  const amqp_table_t& said = *amqp_get_server_properties(state_.get());
  for (const amqp_table_entry_t& one : std::span(said.entries, static_cast<std::size_t>(said.num_entries))) {
    if (view(one.key) == "version" && one.value.kind == AMQP_FIELD_KIND_UTF8) return view(one.value.value.bytes);
  }
  return {};
}

void Connection::set_cork(bool on) const {
  const int value = on ? 1 : 0;
  setsockopt(amqp_get_sockfd(state_.get()), IPPROTO_TCP, TCP_CORK, &value, sizeof value);
}

}  // namespace onceward::rabbitmq
