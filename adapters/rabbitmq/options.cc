// The URL of a RabbitMQ:
//
//   url     = ( "rabbitmq://" / "rabbitmqs://" ) [ user [ ":" password ] "@" ] host *( "," host ) [ "/" [ vhost ] ] [ "?" options ]
//   host    = name [ ":" port ]
//
// Without a vhost, or with "/%2F", it is "/". Everything is percent-decoded.
#include "adapters/rabbitmq/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "adapters/rabbitmq/limits.h"
#include "src/declaration/duration.h"
#include "src/declaration/url.h"

namespace onceward {
namespace rabbitmq {
namespace {

using declaration::Url;
using declaration::UrlOptions;
using std::chrono::milliseconds;
using namespace std::chrono_literals;

constexpr std::string_view plain_scheme = "rabbitmq://", tls_scheme = "rabbitmqs://";
constexpr std::uint16_t plain_port = 5672, tls_port = 5671;

constexpr milliseconds least_deadline = 100ms, most_deadline = 600s;
constexpr milliseconds least_consumer_timeout = 1s, most_consumer_timeout = 24h * 30;
constexpr std::int32_t least_delivery_limit = -1, most_delivery_limit = 1'000'000;

// Those of both come first.
constexpr auto source_names = std::to_array<std::string_view>(
    {"cacertfile", "certfile", "keyfile", "verify", "heartbeat", "connection_timeout", "format", "queue", "prefetch",
     "declare", "consumer_timeout", "delivery_limit", "management"});
constexpr std::array<std::string_view, 9> publisher_names{"cacertfile", "certfile",  "keyfile",
                                                          "verify",     "heartbeat", "connection_timeout",
                                                          "format",     "window",    "confirm_deadline"};
constexpr std::array<std::string_view, 12> target_names{
    "cacertfile", "certfile", "keyfile",          "verify", "heartbeat", "connection_timeout",
    "format",     "window",   "confirm_deadline", "queue",  "exchange",  "routing_key"};

// What other clients call it when the broker is not to wait for an acknowledgement.
constexpr std::array<std::string_view, 6> acknowledged_unread{"no_ack",  "noack",   "auto_ack",
                                                              "autoack", "autoAck", "acknowledge"};

constexpr std::array<std::string_view, 2> verify_words{"verify_none", "verify_peer"};
constexpr std::array<std::string_view, 3> declare_words{"no", "classic", "quorum"};
constexpr std::array<std::string_view, 5> format_words{"auto", "native", "envelope", "cloudevents",
                                                       "cloudevents-binary"};

struct Read {
  RabbitmqConnection connection;
  UrlOptions options;
};

Fault wrong(FaultCode refused, std::string_view what) {
  return {refused, Poisons::connection, fmt::format("rabbitmq: {}", what)};
}

void take_place(const Url& url, RabbitmqConnection& connection, FaultCode refused) {
  for (const declaration::UrlHost& host : url.hosts) {
    connection.hosts.push_back({host.name, host.port.value_or(connection.tls ? tls_port : plain_port)});
  }
  if (!url.user.empty()) {
    connection.user = url.user;
    connection.password = url.password.value_or("");
  }
  if (url.segments.size() > 1) {
    throw wrong(refused, "the path is the virtual host alone; a / in its name is written %2F, the queue is queue=name");
  }
  if (!url.segments.empty()) connection.vhost = url.segments.front();
}

void take_shared(const UrlOptions& options, RabbitmqConnection& connection, WireFormat& format) {
  const auto take = [&](std::string_view name, std::string& into) {
    if (auto text = options.text(name)) into = std::move(*text);
  };
  take("cacertfile", connection.ca_file);
  take("certfile", connection.certificate_file);
  take("keyfile", connection.key_file);
  if (const auto verify = options.choice("verify", verify_words)) connection.verify_peer = *verify == 1;
  if (const auto heartbeat = options.duration("heartbeat", least_heartbeat, most_heartbeat)) {
    connection.heartbeat = std::chrono::floor<std::chrono::seconds>(*heartbeat);
    if (connection.heartbeat != *heartbeat) throw options.wrong("heartbeat is a number of whole seconds, such as 30s");
  }
  if (const auto deadline = options.duration("connection_timeout", least_deadline, most_deadline)) {
    connection.connect_deadline = *deadline;
  }
  if (const auto word = options.choice("format", format_words)) format = *wire_format_named(format_words[*word]);
}

Read read(std::string_view text, FaultCode refused, std::span<const std::string_view> allowed) {
  RabbitmqConnection connection;
  connection.tls = text.starts_with(tls_scheme);
  if (!connection.tls && !text.starts_with(plain_scheme)) {
    throw wrong(refused, "a URL is written rabbitmq://user:password@host:port/vhost, or rabbitmqs:// for TLS");
  }
  auto url = declaration::read_url(text);
  if (const auto* const what = std::get_if<1>(&url)) throw wrong(refused, *what);
  for (const declaration::UrlOption& option : std::get<0>(url).options) {
    if (std::ranges::find(acknowledged_unread, option.name) != acknowledged_unread.end()) {
      throw wrong(refused, fmt::format("{} is refused: a message is acknowledged only after its effect is committed, "
                                       "else the broker forgets it before anything was done",
                                       option.name));
    }
  }
  take_place(std::get<0>(url), connection, refused);
  return {std::move(connection), UrlOptions("rabbitmq", refused, std::get<0>(url).options, allowed)};
}

void take_publisher(Read&& read, RabbitmqPublisherOptions& options) {
  take_shared(read.options, read.connection, options.format);
  options.connection = std::move(read.connection);
  if (const auto window = read.options.number("window", 1, most_messages)) {
    options.window = static_cast<std::size_t>(*window);
  }
  const auto deadline = read.options.duration("confirm_deadline", least_deadline, most_deadline);
  if (deadline) options.confirm_deadline = *deadline;
}

void take_destination(const UrlOptions& options, RabbitmqTarget& target) {
  const auto queue = options.text("queue"), exchange = options.text("exchange"), key = options.text("routing_key");
  if (queue && (exchange || key)) {
    throw options.wrong("queue=name is the default exchange with that key; write it, or exchange= and routing_key=");
  }
  if (queue ? queue->empty() : !exchange || exchange->empty()) {
    throw options.wrong("it is not said where to publish; write ?queue=name, or ?exchange=name&routing_key=key");
  }
  target.exchange = exchange.value_or("");
  target.routing_key = queue ? *queue : key.value_or("");
}

void check_name(std::string_view what, std::string_view name, FaultCode refused) {
  if (name.size() <= most_short_bytes && name.find('\0') == name.npos) return;
  throw wrong(refused, fmt::format("{} is longer than {} bytes or holds a NUL", what, most_short_bytes));
}

void check_range(std::string_view what, milliseconds value, milliseconds least, milliseconds most, FaultCode refused) {
  if (value >= least && value <= most) return;
  throw wrong(refused, fmt::format("{} is {}; it goes from {} to {}", what, declaration::write_duration(value),
                                   declaration::write_duration(least), declaration::write_duration(most)));
}

void check_connection(const RabbitmqConnection& connection, FaultCode refused) {
  if (connection.hosts.empty()) throw wrong(refused, "the URL names no host");
  check_name("the user's name", connection.user, refused);
  check_name("the password", connection.password, refused);
  check_name("the virtual host", connection.vhost, refused);
  check_range("heartbeat", connection.heartbeat, least_heartbeat, most_heartbeat, refused);
  check_range("connection_timeout", connection.connect_deadline, least_deadline, most_deadline, refused);
  if (connection.certificate_file.empty() != connection.key_file.empty()) {
    throw wrong(refused, "certfile and keyfile belong together; give both or none");
  }
  const bool tls_options =
      !connection.ca_file.empty() || !connection.certificate_file.empty() || !connection.verify_peer;
  if (!connection.tls && tls_options) {
    throw wrong(refused, "cacertfile, certfile, keyfile and verify are for TLS; write rabbitmqs://");
  }
}

}  // namespace

void check(const RabbitmqSourceOptions& options) {
  constexpr FaultCode refused = FaultCode::source_refused;
  check_connection(options.connection, refused);
  if (options.queue.empty()) throw wrong(refused, "the queue is missing; write ?queue=name");
  check_name("the queue's name", options.queue, refused);
  if (options.prefetch == 0)
    throw wrong(refused, "prefetch=0 would let the broker push all it has; it goes from 1 to 65535");
  check_range("consumer_timeout", options.consumer_timeout, least_consumer_timeout, most_consumer_timeout, refused);
  const std::int32_t limit = options.delivery_limit.value_or(least_delivery_limit);
  if (limit < least_delivery_limit || limit > most_delivery_limit || limit == 0) {
    throw wrong(refused, fmt::format("delivery_limit goes from 1 to {}, or is -1 for none", most_delivery_limit));
  }
  const std::string_view management = options.management;
  if (!management.empty() && !management.starts_with("http://") && !management.starts_with("https://")) {
    throw wrong(refused, "management is written http://user:password@host:port or https://...");
  }
}

void check(const RabbitmqPublisherOptions& options) {
  constexpr FaultCode refused = FaultCode::publisher_refused;
  check_connection(options.connection, refused);
  if (options.window < 1 || options.window > most_messages) throw wrong(refused, "window goes from 1 to 65535");
  check_range("confirm_deadline", options.confirm_deadline, least_deadline, most_deadline, refused);
}

void check(const RabbitmqTarget& target) {
  check(target.options);
  check_name("the exchange's name", target.exchange, FaultCode::publisher_refused);
  check_name("the routing key", target.routing_key, FaultCode::publisher_refused);
}

std::string describe(const RabbitmqConnection& connection) {
  std::string hosts;
  for (const RabbitmqConnection::Host& host : connection.hosts) {
    const bool brackets = host.name.find(':') != std::string::npos;
    hosts +=
        fmt::format(fmt::runtime(brackets ? "{}[{}]:{}" : "{}{}:{}"), hosts.empty() ? "" : ",", host.name, host.port);
  }
  const std::string_view vhost = connection.vhost == "/" ? "%2F" : std::string_view(connection.vhost);
  return fmt::format("{}{}/{}", connection.tls ? tls_scheme : plain_scheme, hosts, vhost);
}

}  // namespace rabbitmq

RabbitmqSourceOptions read_rabbitmq_source_url(std::string_view url) {
  using namespace rabbitmq;
  Read read = rabbitmq::read(url, FaultCode::source_refused, source_names);
  RabbitmqSourceOptions options;
  take_shared(read.options, read.connection, options.format);
  options.connection = std::move(read.connection);
  if (auto queue = read.options.text("queue")) options.queue = std::move(*queue);
  if (const auto prefetch = read.options.number("prefetch", 0, most_messages)) {
    options.prefetch = static_cast<std::uint16_t>(*prefetch);
  }
  const auto timeout = read.options.duration("consumer_timeout", least_consumer_timeout, most_consumer_timeout);
  if (timeout) options.consumer_timeout = *timeout;
  if (const auto limit = read.options.number("delivery_limit", least_delivery_limit, most_delivery_limit)) {
    options.delivery_limit = static_cast<std::int32_t>(*limit);
  }
  if (const auto word = read.options.choice("declare", declare_words)) {
    options.declare = static_cast<RabbitmqSourceOptions::Declare>(*word);
  }
  options.management = read.options.text("management").value_or("");
  check(options);
  return options;
}

RabbitmqPublisherOptions read_rabbitmq_publisher_url(std::string_view url) {
  using namespace rabbitmq;
  RabbitmqPublisherOptions options;
  take_publisher(rabbitmq::read(url, FaultCode::publisher_refused, publisher_names), options);
  check(options);
  return options;
}

RabbitmqTarget read_rabbitmq_target_url(std::string_view url) {
  using namespace rabbitmq;
  Read read = rabbitmq::read(url, FaultCode::publisher_refused, target_names);
  RabbitmqTarget target;
  take_destination(read.options, target);
  take_publisher(std::move(read), target.options);
  check(target);
  return target;
}

}  // namespace onceward
