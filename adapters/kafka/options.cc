// The URL of a topic:
//
//   url     = "kafka://" [ user [ ":" password ] "@" ] host [ ":" port ] *( "," host [ ":" port ] ) "/" topic
//             "?group=" name *( "&" option )
//   option  = name "=" value
//
// A name with a dot in it is a property of librdkafka's. That of a publisher has no group, and a topic only where it is a
// target's.
#include "adapters/kafka/options.h"

#include <fmt/format.h>
#include <librdkafka/rdkafka.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "src/common/one_line.h"
#include "src/declaration/text.h"
#include "src/declaration/url.h"

namespace onceward {
namespace kafka {
namespace {

using namespace std::chrono_literals;
using declaration::UrlOption;
using declaration::UrlOptions;

constexpr std::string_view scheme = "kafka://";
constexpr int default_port = 9092;
constexpr std::size_t most_topic_bytes = 249;  // Kafka's own
constexpr std::size_t most_group_bytes = 255;

struct Ours {
  std::string_view property;
  std::string_view why;
};
constexpr std::array ours{
    Ours{"bootstrap.servers", "the hosts stand in the URL"},
    Ours{"metadata.broker.list", "the hosts stand in the URL"},
    Ours{"group.id", "write group=name"},
    Ours{"enable.auto.commit", "an offset is committed only after the effect is, so it stays off"},
    Ours{"auto.commit.enable", "an offset is committed only after the effect is, so it stays off"},
    Ours{"auto.commit.interval.ms",
         "an offset is committed only after the effect is, so nothing is committed by a clock"},
    Ours{"enable.auto.offset.store", "an offset is committed only after the effect is, so it stays off"},
    Ours{"offset.store.method", "offsets are kept by the brokers"},
    Ours{"auto.offset.reset", "write start=earliest or latest, and out_of_range=refuse, earliest or latest"},
    Ours{"partition.assignment.strategy", "write rebalance=cooperative or eager"},
    Ours{"group.protocol", "write rebalance=cooperative or eager"},
    Ours{"isolation.level", "what a producer took back must have no effect, so it stays read_committed"},
    Ours{"enable.partition.eof", "the end of a partition is no message"},
    Ours{"queued.max.messages.kbytes", "write queued_bytes=number"},
    Ours{"acks", "nothing is called published that not all replicas have, so it stays all"},
    Ours{"request.required.acks", "nothing is called published that not all replicas have, so it stays all"},
    Ours{"enable.idempotence", "a retry would double or reorder messages, so it stays on"},
    Ours{"max.in.flight", "the order of a key would be lost, so it stays as idempotence needs it"},
    Ours{"max.in.flight.requests.per.connection",
         "the order of a key would be lost, so it stays as idempotence needs it"},
    Ours{"transactional.id", "the outbox needs no transactions of Kafka's"},
    Ours{"message.timeout.ms", "write confirm_deadline=30s"},
    Ours{"delivery.timeout.ms", "write confirm_deadline=30s"},
    Ours{"queue.buffering.max.messages", "write window=number"},
    Ours{"plugin.library.paths", "a URL loads no code"},
    Ours{"log.queue", "the log goes to the program's own"},
};

constexpr auto source_names = std::to_array<std::string_view>(
    {"group", "start", "out_of_range", "rebalance", "format", "revoke_deadline", "id_header", "queued_bytes"});
constexpr std::array<std::string_view, 3> publisher_names{"window", "confirm_deadline", "format"};
constexpr std::array<std::string_view, 2> starts{"earliest", "latest"};
constexpr std::array<std::string_view, 3> policies{"refuse", "earliest", "latest"};
constexpr std::array<std::string_view, 2> rebalances{"cooperative", "eager"};
constexpr std::array formats{WireFormat::automatic, WireFormat::native, WireFormat::envelope, WireFormat::structured,
                             WireFormat::binary};

Fault wrong(FaultCode refused, std::string_view what) {
  return {refused, Poisons::connection, fmt::format("kafka: {}", what)};
}

std::optional<std::string> wrong_with_topic(std::string_view topic) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  if (!topic.empty() && topic.size() <= most_topic_bytes && topic != "." && topic != ".." &&
      topic.find_first_not_of(letters) == topic.npos) {
    return std::nullopt;
  }
  return fmt::format("{} is no name of a topic: at most {} letters, digits, '.', '_' and '-'",
                     declaration::in_quotes(topic), most_topic_bytes);
}

void check_property(const std::string& name, const std::string& value, FaultCode refused) {
  if (const auto why = why_refused(name)) throw wrong(refused, fmt::format("{} is not passed on: {}", name, *why));
  const std::unique_ptr<rd_kafka_conf_t, decltype(&rd_kafka_conf_destroy)> scratch(rd_kafka_conf_new(),
                                                                                   rd_kafka_conf_destroy);
  std::array<char, 512> why{};
  const auto answer = rd_kafka_conf_set(scratch.get(), name.c_str(), value.c_str(), why.data(), why.size());
  if (answer == RD_KAFKA_CONF_OK) return;
  if (answer == RD_KAFKA_CONF_UNKNOWN) {
    throw wrong(refused, fmt::format("librdkafka has no property {}", declaration::in_quotes(name)));
  }
  throw wrong(refused,
              is_secret(name) ? fmt::format("librdkafka does not take this value of {}", name) : one_line(why.data()));
}

void check_connection(const KafkaConnection& connection, FaultCode refused) {
  if (connection.brokers.empty()) throw wrong(refused, "no host is named");
  for (const auto& [name, value] : connection.properties) check_property(name, value, refused);
}

void check_format(WireFormat format, FaultCode refused) {
  if (std::ranges::find(formats, format) == formats.end()) throw wrong(refused, "the format is none");
}

template <class Value>
void check_range(std::string_view name, Value value, Value least, Value most, FaultCode refused) {
  if (value < least || value > most) {
    throw wrong(refused, fmt::format("{} is {}; it goes from {} to {}", name, value, least, most));
  }
}

// A group goes on without a member that does not give up its partitions for so long.
void check_patience(const KafkaSourceOptions& options) {
  const auto found = options.connection.properties.find("max.poll.interval.ms");
  if (found == options.connection.properties.end()) return;
  const long long patience_ms = std::strtoll(found->second.c_str(), nullptr, 0);  // as librdkafka reads it
  if (options.revoke_deadline.count() < patience_ms) return;
  throw wrong(FaultCode::source_refused,
              fmt::format("revoke_deadline is {} ms, and must be less than max.poll.interval.ms, which is {}",
                          options.revoke_deadline.count(), patience_ms));
}

// What a URL says about the connection, and its other options.
struct Read {
  declaration::Url url;
  KafkaConnection connection;
  std::vector<UrlOption> options;
};

void add_login(const declaration::Url& url, KafkaConnection& connection) {
  if (url.user.empty()) return;
  auto& properties = connection.properties;
  properties.try_emplace("sasl.username", url.user);
  if (url.password) properties.try_emplace("sasl.password", *url.password);
  // A password is sent to nobody in the clear unless somebody says so.
  properties.try_emplace("security.protocol", "sasl_ssl");
  if (!properties.contains("sasl.mechanisms")) properties.try_emplace("sasl.mechanism", "PLAIN");
}

Read read(std::string_view text, FaultCode refused) {
  if (!text.starts_with(scheme)) {
    throw wrong(refused, "a topic is written kafka://host:9092/topic?group=name");
  }
  auto answer = declaration::read_url(text);
  if (const auto* const why = std::get_if<1>(&answer)) throw wrong(refused, *why);
  Read read{std::get<0>(std::move(answer)), {}, {}};
  for (const declaration::UrlHost& host : read.url.hosts) {
    const bool is_v6 = host.name.find(':') != host.name.npos;
    if (!read.connection.brokers.empty()) read.connection.brokers += ',';
    read.connection.brokers += fmt::format(fmt::runtime(is_v6 ? "[{}]:{}" : "{}:{}"), host.name,
                                           host.port.value_or(static_cast<std::uint16_t>(default_port)));
  }
  for (const UrlOption& option : read.url.options) {
    if (const auto why = why_refused(option.name)) {
      throw wrong(refused, fmt::format("{} is not passed on: {}", option.name, *why));
    }
    if (option.name.find('.') == option.name.npos) {
      read.options.push_back(option);
    } else if (!read.connection.properties.emplace(option.name, option.value).second) {
      throw wrong(refused, fmt::format("{} is there twice; keep one", option.name));
    } else if (!option.has_value) {
      throw wrong(refused, fmt::format("write {}=value", option.name));
    }
  }
  add_login(read.url, read.connection);
  return read;
}

std::optional<WireFormat> format_of(const UrlOptions& given) {
  std::array<std::string_view, formats.size()> words;
  std::ranges::transform(formats, words.begin(), [](WireFormat format) { return name(format); });
  const auto chosen = given.choice("format", words);
  return chosen ? std::optional(formats[*chosen]) : std::nullopt;
}

}  // namespace

std::optional<std::string> why_refused(std::string_view property) {
  const auto* const found = std::ranges::find(ours, property, &Ours::property);
  return found == ours.end() ? std::nullopt : std::optional(std::string(found->why));
}

bool is_secret(std::string_view property) {
  for (const std::string_view word : {"password", "secret", "key.pem", "token", "oauthbearer.config", "jaas"}) {
    if (property.find(word) != property.npos) return true;
  }
  return false;
}

void check(const KafkaSourceOptions& options) {
  constexpr FaultCode refused = FaultCode::source_refused;
  check_reader(options);
  if (options.group.empty() || options.group.size() > most_group_bytes) {
    throw wrong(refused, fmt::format("write group=name, of at most {} bytes: consumers of one group share the topic",
                                     most_group_bytes));
  }
  check_patience(options);
}

void check_reader(const KafkaSourceOptions& options) {
  constexpr FaultCode refused = FaultCode::source_refused;
  check_connection(options.connection, refused);
  if (const auto why = wrong_with_topic(options.topic)) throw wrong(refused, *why);
  if (options.id_header.empty()) throw wrong(refused, "id_header is empty; write the name of a header");
  using Limits = KafkaSourceOptions;
  check_range("revoke_deadline in ms", options.revoke_deadline.count(), std::int64_t{0},
              std::int64_t{Limits::most_revoke_deadline.count()}, refused);
  check_range("queued_bytes", options.queued_bytes, Limits::least_queued_bytes, Limits::most_queued_bytes, refused);
  check_format(options.format, refused);
}

void check(const KafkaPublisherOptions& options) {
  constexpr FaultCode refused = FaultCode::publisher_refused;
  using Limits = KafkaPublisherOptions;
  check_connection(options.connection, refused);
  check_range("window", options.window, std::size_t{1}, Limits::most_window, refused);
  check_range("confirm_deadline in ms", options.confirm_deadline.count(),
              std::int64_t{Limits::least_confirm_deadline.count()}, std::int64_t{Limits::most_confirm_deadline.count()},
              refused);
  check_format(options.format, refused);
}

void check(const KafkaTarget& target) {
  check(target.options);
  if (const auto why = wrong_with_topic(target.topic)) throw wrong(FaultCode::publisher_refused, *why);
}

namespace {

KafkaPublisherOptions publisher_options(Read&& read) {
  const UrlOptions given("kafka", FaultCode::publisher_refused, std::move(read.options), publisher_names);
  KafkaPublisherOptions options;
  options.connection = std::move(read.connection);
  const auto window = given.number("window", 1, static_cast<std::int64_t>(KafkaPublisherOptions::most_window));
  if (window) options.window = static_cast<std::size_t>(*window);
  const auto deadline = given.duration("confirm_deadline", KafkaPublisherOptions::least_confirm_deadline,
                                       KafkaPublisherOptions::most_confirm_deadline);
  if (deadline) options.confirm_deadline = *deadline;
  if (const auto format = format_of(given)) options.format = *format;
  check(options);
  return options;
}

}  // namespace
}  // namespace kafka

KafkaSourceOptions read_kafka_source_url(std::string_view url) {
  KafkaSourceOptions options = read_kafka_reader_url(url);
  kafka::check(options);
  return options;
}

KafkaSourceOptions read_kafka_reader_url(std::string_view url) {
  using namespace kafka;
  Read read = kafka::read(url, FaultCode::source_refused);
  const UrlOptions given("kafka", FaultCode::source_refused, std::move(read.options), source_names);
  KafkaSourceOptions options;
  options.connection = std::move(read.connection);
  if (read.url.segments.size() != 1) throw given.wrong("the URL names one topic: kafka://host:9092/topic?group=name");
  options.topic = read.url.segments[0];
  options.group = given.text("group").value_or("");
  if (const auto start = given.choice("start", starts)) options.start = static_cast<KafkaSourceOptions::Start>(*start);
  if (const auto policy = given.choice("out_of_range", policies)) {
    options.out_of_range = static_cast<KafkaSourceOptions::OutOfRange>(*policy);
  }
  if (const auto rebalance = given.choice("rebalance", rebalances)) options.cooperative = *rebalance == 0;
  const auto deadline = given.duration("revoke_deadline", 0ms, KafkaSourceOptions::most_revoke_deadline);
  if (deadline) options.revoke_deadline = *deadline;
  if (auto header = given.text("id_header")) options.id_header = std::move(*header);
  const auto bytes = given.number("queued_bytes", KafkaSourceOptions::least_queued_bytes,
                                  static_cast<std::int64_t>(KafkaSourceOptions::most_queued_bytes));
  if (bytes) options.queued_bytes = static_cast<std::size_t>(*bytes);
  if (const auto format = format_of(given)) options.format = *format;
  check_reader(options);
  return options;
}

KafkaPublisherOptions read_kafka_publisher_url(std::string_view url) {
  using namespace kafka;
  Read read = kafka::read(url, FaultCode::publisher_refused);
  if (!read.url.segments.empty()) {
    throw wrong(FaultCode::publisher_refused, "a publisher's URL names no topic: a message's destination does");
  }
  return publisher_options(std::move(read));
}

KafkaTarget read_kafka_target_url(std::string_view url) {
  using namespace kafka;
  Read read = kafka::read(url, FaultCode::publisher_refused);
  KafkaTarget target;
  if (read.url.segments.size() != 1) {
    throw wrong(FaultCode::publisher_refused, "the URL names one topic: kafka://host:9092/topic");
  }
  target.topic = read.url.segments[0];
  target.options = publisher_options(std::move(read));
  check(target);
  return target;
}

}  // namespace onceward
