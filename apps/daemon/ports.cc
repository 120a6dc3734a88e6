#include "apps/daemon/ports.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include "apps/daemon/environment.h"
#include "onceward/adapter/postgres.h"
#include "onceward/adapter/sqlite.h"
#include "src/declaration/rules.h"

namespace onceward::daemon {
namespace {

bool is_rabbitmq(std::string_view url) { return url.starts_with("rabbitmq://") || url.starts_with("rabbitmqs://"); }

bool is_postgres(std::string_view url) { return url.starts_with("postgres://") || url.starts_with("postgresql://"); }

std::invalid_argument no_adapter(std::string_view url) {
  return std::invalid_argument(url.starts_with("amqp1:")
                                   ? "amqp1:// is not there yet; there are embedded:, rabbitmq://, rabbitmqs:// and "
                                     "kafka://"
                                   : "a queue is embedded:PATH, rabbitmq://..., rabbitmqs://... or kafka://...");
}

// What an adapter refuses before anybody was asked is a mistake in the URL.
template <class Read>
auto without_fault(Read read) {
  try {
    return read();
  } catch (const Fault& fault) {
    throw std::invalid_argument(fault.what());
  }
}

// By the rules that hold for a URL in a file, wherever it comes from.
std::string readable_store(const std::string& written) {
  const std::string url = with_environment(written);
  for (const declaration::Finding& finding : declaration::find_in_store(url)) {
    throw std::invalid_argument(fmt::format("the store's URL: {}; {}", finding.message, finding.hint));
  }
  return url;
}

SqliteOptions::Open sqlite_open_for(StoreUse use) {
  using enum SqliteOptions::Open;
  switch (use) {
    case StoreUse::all:
      return or_create;
    case StoreUse::existing:
      return existing;
    case StoreUse::reading:
      return to_read;
  }
  return to_read;
}

// A keeper that has nothing to keep is refused with the declaration, and by the worker.
using Keeper = std::unique_ptr<StreamKeeper>;
std::unique_ptr<Source> open(const EmbeddedOptions& options, Log&, Keeper) { return open_embedded(options); }
std::unique_ptr<Source> open(const RabbitmqSourceOptions& options, Log& log, Keeper) {
  return open_rabbitmq(options, log);
}
std::unique_ptr<Source> open(const KafkaSourceOptions& options, Log& log, Keeper keeper) {
  return open_kafka(options, log, std::move(keeper));
}

Target place_of(const EmbeddedOptions& options) { return {nullptr, options.queue, std::string()}; }
Target place_of(const RabbitmqTarget& target) { return {nullptr, target.exchange, target.routing_key}; }
Target place_of(const KafkaTarget& target) { return {nullptr, target.topic, std::nullopt}; }

std::unique_ptr<Publisher> publisher_to(const EmbeddedOptions& options, Log&) {
  return open_embedded_publisher(options);
}
std::unique_ptr<Publisher> publisher_to(const RabbitmqTarget& target, Log& log) {
  return open_rabbitmq_target(target, log);
}
std::unique_ptr<Publisher> publisher_to(const KafkaTarget& target, Log& log) { return open_kafka_target(target, log); }

bool is_same_place(const EmbeddedOptions& to, const EmbeddedOptions& from) {
  return to.path == from.path && to.queue == from.queue;
}
bool is_same_place(const RabbitmqTarget& to, const RabbitmqSourceOptions& from) {
  return is_same_broker(to.options.connection, from.connection) &&
         to.options.connection.vhost == from.connection.vhost && to.exchange.empty() && to.routing_key == from.queue;
}
bool is_same_place(const KafkaTarget& to, const KafkaSourceOptions& from) {
  const std::string all = "," + from.connection.brokers + ",";
  bool same_broker = false;
  std::istringstream brokers(to.options.connection.brokers);
  for (std::string broker; std::getline(brokers, broker, ',');) {
    same_broker = same_broker || all.find("," + broker + ",") != std::string::npos;
  }
  return same_broker && to.topic == from.topic;
}
template <class To, class From>
bool is_same_place(const To&, const From&) {
  return false;
}

}  // namespace

std::unique_ptr<Store> open_store(const std::string& written, std::chrono::milliseconds bound, StoreUse use) {
  const std::string url = readable_store(written);
  if (is_postgres(url)) {
    PostgresOptions options;
    options.url = url;
    options.statement_deadline = bound;
    options.lock_deadline = std::min(options.lock_deadline, bound);
    return open_postgres(options);
  }
  SqliteOptions options;
  options.path = url.substr(std::string_view("sqlite:").size());
  options.statement_deadline = bound;
  options.open = sqlite_open_for(use);
  return open_sqlite(options);
}

void check_store(const std::string& url) { readable_store(url); }

SourceOptions read_source(const std::string& written) {
  const std::string url = with_environment(written);
  return without_fault([&]() -> SourceOptions {
    if (url.starts_with("embedded:")) return read_embedded_url(url);
    if (is_rabbitmq(url)) return read_rabbitmq_source_url(url);
    if (url.starts_with("kafka://")) return read_kafka_source_url(url);
    throw no_adapter(url);
  });
}

SourceOptions read_source(const Declaration& consumer) {
  SourceOptions read = read_source(consumer.source);
  const auto* const kafka = std::get_if<KafkaSourceOptions>(&read);
  if (kafka != nullptr && consumer.workers > 1 && kafka->connection.properties.contains("group.instance.id")) {
    throw std::invalid_argument(
        fmt::format("kafka: group.instance.id is the name of one member, and of {} workers each would end the one "
                    "before it; leave it out, or write workers = 1",
                    consumer.workers));
  }
  return read;
}

std::unique_ptr<Source> open_source(const std::string& url, const EnvelopeLimits& limits, Log& log,
                                    std::unique_ptr<StreamKeeper> keeper) {
  SourceOptions read = read_source(url);
  return std::visit(
      [&](auto& options) {
        options.limits = limits;
        return open(options, log, std::move(keeper));
      },
      read);
}

std::unique_ptr<Source> open_to_look(const std::string& written, const Looking& looking) {
  const std::string url = with_environment(written);
  if (url.starts_with("kafka://")) {
    KafkaSourceOptions options = without_fault([&] { return read_kafka_reader_url(url); });
    using enum KafkaSourceOptions::Start;
    if (looking.from_end) options.start = *looking.from_end ? latest : earliest;
    return open_kafka_reader(options);
  }
  if (looking.from_end)
    throw std::invalid_argument("a queue has no place to begin from but its front: leave out --from");
  SourceOptions read = read_source(written);
  if (auto* const options = std::get_if<RabbitmqSourceOptions>(&read)) {
    options->declare = RabbitmqSourceOptions::Declare::never;
    options->prefetch = looking.most;
  }
  return std::visit([](const auto& options) { return open(options, silent_log(), nullptr); }, read);
}

std::string_view Target::key_of(const Envelope& envelope) const {
  if (key) return *key;
  const EnvelopeFields& fields = envelope.fields();
  return fields.partition_key.empty() ? fields.aggregate_id.text() : fields.partition_key;
}

TargetOptions read_target_options(const std::string& written) {
  const std::string url = with_environment(written);
  return without_fault([&]() -> TargetOptions {
    if (url.starts_with("embedded:")) return read_embedded_url(url);
    if (is_rabbitmq(url)) return read_rabbitmq_target_url(url);
    if (url.starts_with("kafka://")) return read_kafka_target_url(url);
    throw no_adapter(url);
  });
}

Target read_target(const std::string& url) {
  return std::visit([](const auto& options) { return place_of(options); }, read_target_options(url));
}

bool is_same_broker(const RabbitmqConnection& one, const RabbitmqConnection& other) {
  const bool other_port = one.tls != other.tls;  // of the same broker
  return std::ranges::any_of(one.hosts, [&](const auto& host) {
    return std::ranges::any_of(other.hosts, [&](const auto& there) {
      return there.name == host.name && (there.port == host.port || other_port);
    });
  });
}

bool leads_back(const std::string& target, const std::string& source) {
  const TargetOptions to = read_target_options(target);
  try {
    return std::visit([](const auto& there, const auto& here) { return is_same_place(there, here); }, to,
                      read_source(source));
  } catch (const std::invalid_argument&) {
    return false;  // it is said of the source itself
  }
}

Target open_target(const std::string& url, Log& log) {
  const TargetOptions read = read_target_options(url);
  Target target = std::visit([](const auto& options) { return place_of(options); }, read);
  target.publisher = std::visit([&](const auto& options) { return publisher_to(options, log); }, read);
  return target;
}

std::unique_ptr<PostgresBell> hang_bell(const std::string& store, std::function<void()> ring) {
  const std::string url = with_environment(store);
  if (!is_postgres(url)) return nullptr;
  PostgresOptions options;
  options.url = url;
  return std::make_unique<PostgresBell>(std::move(options), std::move(ring));
}

}  // namespace onceward::daemon
