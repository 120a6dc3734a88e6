// What RabbitMQ's management API tells of a queue, and AMQP does not.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "onceward/adapter/rabbitmq.h"

namespace onceward::doctor {

// Where an exchange takes what comes from a queue.
struct ExchangeRoute {
  enum class Reaches : std::uint8_t { no, unknown, yes };
  Reaches another = Reaches::unknown;  // queue
  Reaches back = Reaches::unknown;     // the same queue
  std::string text{};                  // for people: to where, or why not
};

struct QueueSettings {
  std::string type;                                     // quorum, classic, stream
  std::optional<std::int64_t> delivery_limit{};         // nothing: there is none
  std::string delivery_limit_unknown{};                 // why, where nobody tells
  std::optional<std::string> dead_letter_exchange{};    // nothing: what is dead is dropped
  std::optional<std::string> dead_letter_key{};         // nothing: each message's own
  ExchangeRoute dead_letter_route{};                    // of a queue with a limit and such an exchange
  std::optional<std::chrono::milliseconds> lifetime{};  // the shortest of the queue's message TTL and its policy's
  std::optional<std::chrono::milliseconds> queue_lifetime{};  // unused for so long, the queue is deleted
};
// Else why it is not known; that holds no secret. The default limit is that of RabbitmqFacts.
std::variant<QueueSettings, std::string> ask_management(const RabbitmqSourceOptions& options,
                                                        std::optional<std::int32_t> default_limit);

// Where an exchange of the source's broker takes what is published there; unknown, with the reason, where the API does not tell.
ExchangeRoute ask_exchange(const RabbitmqSourceOptions& source, const RabbitmqTarget& target);

// As the API writes a queue. For what is not JSON of that kind, why.
std::variant<QueueSettings, std::string> read_queue_settings(const std::string& queue,
                                                             std::optional<std::int32_t> default_limit);
// As the API writes an exchange and the bindings from it, for what comes from the queue with that key; nothing: each message's own.
ExchangeRoute read_route(const std::string& exchange, const std::string& bindings, const std::string& queue,
                         const std::optional<std::string>& key);

}  // namespace onceward::doctor
