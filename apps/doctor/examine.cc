#include "apps/doctor/examine.h"

#include <fmt/format.h>

#include <stdexcept>

#include "apps/daemon/ports.h"
#include "src/declaration/duration.h"
#include "src/declaration/route.h"

namespace onceward::doctor {
namespace {

using std::chrono::milliseconds;
using Observations = std::vector<Observation>;
using Status = Observation::Status;
using Span = HorizonInputs::Span;

constexpr const char* acknowledged_by_us =
    "a message is acknowledged after its effect is committed; a URL cannot ask for less";

constexpr const char* add_management = "add management=http://user:password@host:15672 to the source's URL";

// How long a broker keeps what nobody takes.
struct Kept {
  std::string place;
  std::optional<milliseconds> time;  // nothing: for good
  std::string parts{};               // of which it is made, where it is made of several
};

// A message that the broker still has after we have forgotten it would be applied twice.
Observation compare_retention(const Kept& kept, const Span& declared) {
  const std::string keeps =
      fmt::format("{} keeps messages {}{}", kept.place,
                  kept.time ? "for " + declaration::write_duration(*kept.time) : "for good", kept.parts);
  if (!declared) {
    return {"retention", Status::unknown,
            keeps + "; declare broker_retention in [consumer.retention] to have it compared"};
  }
  const std::string promised = declaration::write_duration(*declared);
  if (kept.time && *kept.time <= *declared) {
    return {"retention", Status::ok, fmt::format("{}, broker_retention is {}", keeps, promised)};
  }
  return {"retention", Status::problem,
          fmt::format("{}, longer than the declared broker_retention of {}: a message could come back after its "
                      "identity was forgotten; declare more, or let the broker keep less",
                      keeps, promised)};
}

Kept kept_by(const KafkaFacts& facts) {
  if (!facts.retention) return {"the topic", std::nullopt};
  return {"the topic", *facts.retention + facts.segment,
          fmt::format(" (retention.ms is {}, and segment.ms {}: a segment is deleted as a whole)",
                      declaration::write_duration(*facts.retention), declaration::write_duration(facts.segment))};
}

void look_at(const EmbeddedOptions& options, const Declaration&, Observations& seen) {
  const QueueDepth depth = EmbeddedSender(options).depth();
  seen.push_back({"connection", Status::ok, "the file can be read and written"});
  seen.push_back({"queue", Status::ok, fmt::format("{}: {} message(s) wait", options.queue, depth.ready)});
  seen.push_back({"acknowledgement", Status::ok, acknowledged_by_us});
  seen.push_back({"retention", Status::ok, "a message is gone once it is accepted"});
}

Status status_of(ExchangeRoute::Reaches reaches) {
  switch (reaches) {
    case ExchangeRoute::Reaches::yes:
      return Status::ok;
    case ExchangeRoute::Reaches::no:
      return Status::problem;
    case ExchangeRoute::Reaches::unknown:
      break;
  }
  return Status::unknown;
}

void add_lifetime(const QueueSettings& settings, const Span& declared, Observations& seen) {
  if (settings.queue_lifetime) {
    seen.push_back({"expiry", Status::problem,
                    fmt::format("unused for {}, the queue is deleted with its messages; take the setting expires away",
                                declaration::write_duration(*settings.queue_lifetime))});
  }
  if (settings.lifetime) return seen.push_back(compare_retention({"the queue", settings.lifetime}, declared));
  seen.push_back({"retention", Status::unknown,
                  "the queue has no message TTL: a message waits until it is received, however long that takes"});
}

// What only the management API tells of a queue that is there.
void add_settings(const RabbitmqSourceOptions& options, const RabbitmqFacts& facts, const Span& declared,
                  Observations& seen) {
  const auto asked =
      options.management.empty()
          ? std::variant<QueueSettings, std::string>(fmt::format("AMQP does not tell; {}", add_management))
          : ask_management(options, facts.default_delivery_limit);
  if (const auto* const why = std::get_if<std::string>(&asked)) {
    seen.push_back({"delivery_limit", Status::unknown, *why});
    seen.push_back({"retention", Status::unknown, *why});
    return;
  }
  const QueueSettings& settings = std::get<QueueSettings>(asked);
  const std::int32_t believed = options.delivery_limit.value_or(facts.default_delivery_limit.value_or(-1));
  seen.push_back(look_at_limit(settings, believed));
  add_lifetime(settings, declared, seen);
}

void look_at(const RabbitmqSourceOptions& options, const Declaration& consumer, Observations& seen) {
  const RabbitmqFacts facts = examine_rabbitmq(options);
  seen.push_back({"connection", Status::ok, "reached and logged in"});
  if (facts.queue_is_there) {
    seen.push_back(
        {"queue", Status::ok,
         fmt::format("{}: {} message(s) wait, {} consumer(s)", options.queue, facts.ready, facts.consumers)});
  } else {
    seen.push_back({"queue", Status::unknown,
                    fmt::format("{} is not there; the first worker makes it, since declare= says so", options.queue)});
  }
  seen.push_back({"prefetch", Status::ok, fmt::format("{} messages", options.prefetch)});
  seen.push_back({"acknowledgement", Status::ok, acknowledged_by_us});
  if (facts.queue_is_there) add_settings(options, facts, consumer.horizon.broker_retention, seen);
}

std::optional<RabbitmqSourceOptions> rabbitmq_source(const Declaration& consumer) {
  try {
    const daemon::SourceOptions read = daemon::read_source(consumer);
    if (const auto* const options = std::get_if<RabbitmqSourceOptions>(&read)) return *options;
  } catch (const std::invalid_argument&) {  // it is said of the source itself
  }
  return std::nullopt;
}

struct Behind {
  Status status = Status::ok;
  std::string text{};
};
// Where dead letters come to behind a place that is there. Any but an exchange keeps them.
Behind look_behind(const daemon::TargetOptions& to, const Declaration& consumer) {
  const auto* const target = std::get_if<RabbitmqTarget>(&to);
  if (target == nullptr || target->exchange.empty()) return {};
  const std::string exchange = fmt::format(" to the exchange \"{}\"", target->exchange);
  const auto source = rabbitmq_source(consumer);
  if (!source || !daemon::is_same_broker(target->options.connection, source->connection)) {
    return {Status::unknown, exchange + ", and AMQP does not tell where that leads"};
  }
  if (source->management.empty()) {
    return {Status::unknown, exchange + ", and AMQP does not tell where that leads; " + add_management};
  }
  const ExchangeRoute route = ask_exchange(*source, *target);
  using enum ExchangeRoute::Reaches;
  if (route.back == yes) return {Status::problem, exchange + ", which leads back to the consumer; send them elsewhere"};
  const std::string says = exchange + ", " + route.text;
  if (route.another == no) return {Status::problem, says + "; bind another queue to it"};
  if (route.back == unknown) return {Status::unknown, says + (route.another == yes ? ", and perhaps back" : "")};
  return {status_of(route.another), says};
}

void look_at(const KafkaSourceOptions& options, const Declaration& consumer, Observations& seen) {
  const KafkaFacts facts = examine_kafka(options);
  seen.push_back({"connection", Status::ok, "reached and logged in"});
  seen.push_back({"topic", Status::ok, fmt::format("{}: {} partition(s)", options.topic, facts.partitions)});
  if (facts.group_trouble.empty()) {
    seen.push_back({"group", Status::ok, fmt::format("the offsets of {} can be read", options.group)});
  } else {
    seen.push_back({"group", facts.group_refused ? Status::problem : Status::unknown,
                    fmt::format("{}: {}", options.group, facts.group_trouble)});
  }
  seen.push_back({"acknowledgement", Status::ok, acknowledged_by_us});
  if (!facts.retention_unknown.empty()) {
    seen.push_back({"retention", Status::unknown, facts.retention_unknown});
  } else {
    seen.push_back(compare_retention(kept_by(facts), consumer.horizon.broker_retention));
  }
}

}  // namespace

std::string_view name(Observation::Status status) {
  switch (status) {
    case Status::ok:
      return "ok";
    case Status::problem:
      return "problem";
    case Status::unknown:
      break;
  }
  return "unknown";
}

Observation look_at_limit(const QueueSettings& settings, std::int32_t believed) {
  constexpr const char* check = "delivery_limit";
  if (!settings.delivery_limit_unknown.empty()) return {check, Status::unknown, settings.delivery_limit_unknown};
  const std::int64_t limit = settings.delivery_limit.value_or(-1);
  std::string hint;
  if (settings.type == "quorum" && limit != believed) {
    hint = fmt::format(
        "; write delivery_limit={} in the URL, so that it is known when a message comes for the last time", limit);
  }
  if (!settings.delivery_limit) return {check, Status::ok, fmt::format("the {} queue has none{}", settings.type, hint)};
  const std::string says = fmt::format("a message comes back {} time(s)", limit);
  if (!settings.dead_letter_exchange) {
    return {check, Status::problem,
            fmt::format("{}, then the broker drops it, since the queue has no dead-letter exchange; set one by a "
                        "policy, or the limit to -1{}",
                        says, hint)};
  }
  // Whatever comes back to its queue without anybody's rejection is dropped as a cycle.
  const ExchangeRoute& route = settings.dead_letter_route;
  const bool lost = route.another == ExchangeRoute::Reaches::no;
  return {
      check, status_of(route.another),
      fmt::format("{}, then it goes to the exchange \"{}\", {}{}{}", says, *settings.dead_letter_exchange, route.text,
                  lost ? ": the broker drops it then; lead it to another queue, or set the limit to -1" : "", hint)};
}

Examination examine(const Declaration& consumer) {
  Examination examination;
  Observations& seen = examination.observations;
  std::optional<daemon::SourceOptions> options;
  try {
    options = daemon::read_source(consumer);
  } catch (const std::invalid_argument& mistake) {
    examination.connected = true;  // nobody was asked
    seen.push_back({"url", Status::problem, mistake.what()});
    return examination;
  }
  try {
    std::visit([&](const auto& read) { look_at(read, consumer, seen); }, *options);
    examination.connected = true;
  } catch (const Fault& fault) {
    seen.push_back({"connection", Status::problem, fault.what()});
  }
  return examination;
}

Examination examine_dead_letters(const Declaration& consumer, const std::vector<RouteDeclaration>& routes) {
  Examination examination{.observations = {}, .connected = true};
  if (!consumer.dead_letters) return examination;
  const auto say = [&](Status status, std::string text) {
    examination.observations.push_back({"dead_letters", status, std::move(text)});
  };
  const RouteDeclaration* const route = declaration::route_for(dead_letter_type(consumer.name), routes);
  if (route == nullptr) {
    say(Status::unknown, "this file has no route: another process has to relay them");
    return examination;
  }
  try {
    if (daemon::leads_back(route->to, consumer.source)) {
      say(Status::problem, fmt::format("the route {} leads back to the consumer; send them elsewhere", route->name));
      return examination;
    }
    // An embedded queue is made by whoever opens it.
    if (!route->to.starts_with("embedded:")) daemon::open_target(route->to);
    const auto [status, leads] = look_behind(daemon::read_target_options(route->to), consumer);
    say(status, fmt::format("they leave by the route {}{}", route->name, leads));
  } catch (const std::invalid_argument& mistake) {
    say(Status::problem, fmt::format("route {}: {}", route->name, mistake.what()));
  } catch (const Fault& fault) {
    examination.connected = false;
    say(Status::problem, fmt::format("route {}: {}", route->name, fault.what()));
  }
  return examination;
}

}  // namespace onceward::doctor
