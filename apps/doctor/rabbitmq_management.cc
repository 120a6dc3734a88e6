#include "apps/doctor/rabbitmq_management.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "apps/doctor/http_get.h"

namespace onceward::doctor {
namespace {

using Json = nlohmann::json;
using Reaches = ExchangeRoute::Reaches;

std::string encoded_segment(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = std::isalnum(byte) != 0 || c == '-' || c == '.' || c == '_' || c == '~';
    encoded += plain ? std::string(1, c) : fmt::format("%{:02X}", byte);
  }
  return encoded;
}

Json member(const Json& object, const std::string& name) {
  return object.is_object() && object.contains(name) ? object.at(name) : Json();
}

// Set when the queue was declared, or by a policy. Of two numbers the smaller holds; one below 0, which means none, gives way.
Json setting(const Json& queue, const std::string& name) {
  const Json argument = member(member(queue, "arguments"), "x-" + name);
  const Json policy = member(member(queue, "effective_policy_definition"), name);
  if (argument.is_number() && policy.is_number()) {
    const std::int64_t one = argument.get<std::int64_t>(), other = policy.get<std::int64_t>();
    return std::min(one, other) < 0 ? std::max(one, other) : std::min(one, other);
  }
  return argument.is_null() ? policy : argument;
}

std::optional<std::chrono::milliseconds> span_of_setting(const Json& queue, const std::string& name) {
  const Json value = setting(queue, name);
  return value.is_number() ? std::optional(std::chrono::milliseconds(value.get<std::int64_t>())) : std::nullopt;
}

void take_limit(const Json& queue, std::optional<std::int32_t> by_default, QueueSettings& settings) {
  const Json set = setting(queue, "delivery-limit");
  if (!set.is_number() && !by_default) {
    settings.delivery_limit_unknown =
        "the queue sets no limit, and the server does not tell its version, which decides the default";
    return;
  }
  const std::int64_t limit = set.is_number() ? set.get<std::int64_t>() : *by_default;
  if (limit >= 0) settings.delivery_limit = limit;
}

std::string text_of(const Json& object, const std::string& name) {
  const Json value = member(object, name);
  return value.is_string() ? value.get<std::string>() : std::string();
}

Json setting_of_exchange(const Json& exchange, const std::string& name) {
  const Json argument = member(member(exchange, "arguments"), name);
  // The API names the policy of an exchange, and not what it says.
  return argument.is_null() ? member(exchange, "policy") : argument;
}

// Whether a message takes a binding.
Reaches reach_of(const std::string& type, const std::string& binding, const std::optional<std::string>& key) {
  if (type == "fanout" || (type == "topic" && binding == "#")) return Reaches::yes;
  if (!key || (type != "direct" && type != "topic")) return Reaches::unknown;
  if (binding == *key) return Reaches::yes;
  const bool pattern = type == "topic" && binding.find_first_of("*#") != binding.npos;
  return pattern ? Reaches::unknown : Reaches::no;
}

std::string only_back(const std::string& queue) {
  return fmt::format("which leads only back to the queue \"{}\"", queue);
}

std::string text_of(const ExchangeRoute& route, const std::string& queue, bool unbound) {
  if (route.another == Reaches::yes) return "which leads to a queue";
  if (route.another == Reaches::unknown) return "whose bindings do not tell whether every message has a queue there";
  if (route.back != Reaches::no) return only_back(queue);
  return unbound ? "which has no binding" : "which has no binding for the routing key";
}

// What a reply means that is no answer; empty for one that is.
std::string wrong_with_reply(int status) {
  if (status == 200) return {};
  if (status == 401) return "the management API refuses the user; check the name and the password in management=";
  if (status == 403) return "the user in management= may not look at this; it needs the tag monitoring";
  if (status == 404) return "the management API knows no such queue";
  return fmt::format("the management API answers with status {}", status);
}

ExchangeRoute ask_default_route(const HttpPlace& place, const std::string& vhost, const std::string& queue,
                                const std::optional<std::string>& key) {
  if (!key) return {.text = "which takes each message to the queue that its own routing key names"};
  if (*key == queue) return {Reaches::no, Reaches::yes, only_back(queue)};
  const int status = http_get(place, fmt::format("/api/queues/{}/{}", vhost, encoded_segment(*key))).status;
  if (status == 404) return {Reaches::no, Reaches::no, fmt::format("where there is no queue \"{}\"", *key)};
  if (std::string why = wrong_with_reply(status); !why.empty()) return {.text = why};
  return {Reaches::yes, Reaches::no, fmt::format("which leads to the queue \"{}\"", *key)};
}

ExchangeRoute ask_route(const HttpPlace& place, const std::string& vhost, const std::string& exchange,
                        const std::string& queue, const std::optional<std::string>& key) {
  if (exchange.empty()) return ask_default_route(place, vhost, queue, key);
  const std::string path = fmt::format("/api/exchanges/{}/{}", vhost, encoded_segment(exchange));
  const HttpReply found = http_get(place, path);
  if (found.status == 404) return {Reaches::no, Reaches::no, "which is not there"};
  if (std::string why = wrong_with_reply(found.status); !why.empty()) return {.text = why};
  const HttpReply bindings = http_get(place, path + "/bindings/source");
  if (std::string why = wrong_with_reply(bindings.status); !why.empty()) return {.text = why};
  return read_route(found.body, bindings.body, queue, key);
}

constexpr const char* written = "management is written http://user:password@host:port or https://...";

std::optional<HttpPlace> place_of(const RabbitmqSourceOptions& source) {
  auto place = read_http_place(source.management);
  if (place) place->ca_file = source.connection.ca_file;
  return place;
}

std::string no_answer(const std::runtime_error& failed) {
  return fmt::format("the management API does not answer: {}", failed.what());
}

}  // namespace

std::variant<QueueSettings, std::string> read_queue_settings(const std::string& text,
                                                             std::optional<std::int32_t> default_limit) {
  const Json queue = Json::parse(text, nullptr, false);
  const Json type = member(queue, "type");
  if (!type.is_string()) return "the management API's answer is no queue";
  QueueSettings settings;
  settings.type = type.get<std::string>();
  if (settings.type == "quorum") take_limit(queue, default_limit, settings);
  const Json exchange = setting(queue, "dead-letter-exchange");
  if (exchange.is_string()) settings.dead_letter_exchange = exchange.get<std::string>();
  const Json key = setting(queue, "dead-letter-routing-key");
  if (key.is_string()) settings.dead_letter_key = key.get<std::string>();
  settings.lifetime = span_of_setting(queue, "message-ttl");
  settings.queue_lifetime = span_of_setting(queue, "expires");
  return settings;
}

ExchangeRoute read_route(const std::string& exchange_text, const std::string& bindings_text, const std::string& queue,
                         const std::optional<std::string>& key) {
  const Json exchange = Json::parse(exchange_text, nullptr, false),
             bindings = Json::parse(bindings_text, nullptr, false);
  const std::string type = text_of(exchange, "type");
  if (type.empty() || !bindings.is_array()) return {.text = "the management API's answer is no exchange"};
  ExchangeRoute route{Reaches::no, Reaches::no};
  // An exchange behind this one may take it anywhere, or nowhere.
  const auto doubt = [&] {
    route.another = std::max(route.another, Reaches::unknown);
    route.back = std::max(route.back, Reaches::unknown);
  };
  for (const Json& binding : bindings) {
    const Reaches reach = reach_of(type, text_of(binding, "routing_key"), key);
    if (reach == Reaches::no) continue;
    if (text_of(binding, "destination_type") != "queue") {
      doubt();
      continue;
    }
    Reaches& reached = text_of(binding, "destination") == queue ? route.back : route.another;
    reached = std::max(reached, reach);
  }
  const bool overflows = !setting_of_exchange(exchange, "alternate-exchange").is_null();
  if (overflows && std::max(route.another, route.back) != Reaches::yes) doubt();
  route.text = text_of(route, queue, bindings.empty());
  return route;
}

std::variant<QueueSettings, std::string> ask_management(const RabbitmqSourceOptions& options,
                                                        std::optional<std::int32_t> default_limit) {
  const auto place = place_of(options);
  if (!place) return written;
  const std::string vhost = encoded_segment(options.connection.vhost);
  try {
    const HttpReply queue = http_get(*place, fmt::format("/api/queues/{}/{}", vhost, encoded_segment(options.queue)));
    if (std::string why = wrong_with_reply(queue.status); !why.empty()) return why;
    auto read = read_queue_settings(queue.body, default_limit);
    auto* const settings = std::get_if<QueueSettings>(&read);
    if (settings != nullptr && settings->delivery_limit && settings->dead_letter_exchange) {
      settings->dead_letter_route =
          ask_route(*place, vhost, *settings->dead_letter_exchange, options.queue, settings->dead_letter_key);
    }
    return read;
  } catch (const std::runtime_error& failed) {
    return no_answer(failed);
  }
}

ExchangeRoute ask_exchange(const RabbitmqSourceOptions& source, const RabbitmqTarget& target) {
  const auto place = place_of(source);
  if (!place) return {.text = written};
  const std::string& vhost = target.options.connection.vhost;
  const std::string queue = vhost == source.connection.vhost ? source.queue : std::string();  // no binding names that
  try {
    return ask_route(*place, encoded_segment(vhost), target.exchange, queue, target.routing_key);
  } catch (const std::runtime_error& failed) {
    return {.text = no_answer(failed)};
  }
}

}  // namespace onceward::doctor
