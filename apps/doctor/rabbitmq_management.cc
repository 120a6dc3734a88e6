#include "apps/doctor/rabbitmq_management.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "apps/doctor/http_get.h"

namespace onceward::doctor {
namespace {

using Json = nlohmann::json;

constexpr int default_delivery_limit = 20;  // of quorum queues, since version 4
constexpr int first_with_default_limit = 4;

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

// Set when the queue was declared, or by a policy. Of two numbers the smaller holds.
Json setting(const Json& queue, const std::string& name) {
  const Json argument = member(member(queue, "arguments"), "x-" + name);
  const Json policy = member(member(queue, "effective_policy_definition"), name);
  if (argument.is_number() && policy.is_number())
    return std::min(argument.get<double>(), policy.get<double>()) == argument.get<double>() ? argument : policy;
  return argument.is_null() ? policy : argument;
}

std::optional<std::chrono::milliseconds> span_of_setting(const Json& queue, const std::string& name) {
  const Json value = setting(queue, name);
  return value.is_number() ? std::optional(std::chrono::milliseconds(value.get<std::int64_t>())) : std::nullopt;
}

std::optional<std::int64_t> limit_of(const Json& queue, const std::string& version) {
  const Json set = setting(queue, "delivery-limit");
  if (set.is_number()) return set.get<std::int64_t>() < 0 ? std::nullopt : std::optional(set.get<std::int64_t>());
  const int major = std::atoi(version.c_str());
  return major >= first_with_default_limit ? std::optional<std::int64_t>(default_delivery_limit) : std::nullopt;
}

// What a reply means that is no answer; empty for one that is.
std::string wrong_with_reply(unsigned status) {
  if (status == 200) return {};
  if (status == 401) return "the management API refuses the user; check the name and the password in management=";
  if (status == 403) return "the user in management= may not look at the queue; it needs the tag monitoring";
  if (status == 404) return "the management API knows no such queue";
  return fmt::format("the management API answers with status {}", status);
}

}  // namespace

std::variant<QueueSettings, std::string> read_queue_settings(const std::string& text, const std::string& version) {
  const Json queue = Json::parse(text, nullptr, false);
  const Json type = member(queue, "type");
  if (!type.is_string()) return "the management API's answer is no queue";
  QueueSettings settings;
  settings.type = type.get<std::string>();
  if (settings.type == "quorum") settings.delivery_limit = limit_of(queue, version);
  const Json exchange = setting(queue, "dead-letter-exchange");
  if (exchange.is_string()) settings.dead_letter_exchange = exchange.get<std::string>();
  settings.lifetime = span_of_setting(queue, "message-ttl");
  settings.queue_lifetime = span_of_setting(queue, "expires");
  return settings;
}

std::variant<QueueSettings, std::string> ask_management(const RabbitmqSourceOptions& options) {
  const auto place = read_http_place(options.management);
  if (!place) return "management is written http://user:password@host:port";
  try {
    const HttpReply overview = http_get(*place, "/api/overview");
    if (std::string why = wrong_with_reply(overview.status); !why.empty()) return why;
    const HttpReply queue = http_get(*place, fmt::format("/api/queues/{}/{}", encoded_segment(options.connection.vhost),
                                                         encoded_segment(options.queue)));
    if (std::string why = wrong_with_reply(queue.status); !why.empty()) return why;
    const Json version = member(Json::parse(overview.body, nullptr, false), "rabbitmq_version");
    return read_queue_settings(queue.body, version.is_string() ? version.get<std::string>() : "");
  } catch (const std::runtime_error& failed) {
    return fmt::format("the management API does not answer: {}", failed.what());
  }
}

}  // namespace onceward::doctor
