// What RabbitMQ's management API tells of a queue, and AMQP does not.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "onceward/adapter/rabbitmq.h"

namespace onceward::doctor {

// Whether what reached the delivery limit is kept somewhere.
struct DeadLetterRoute {
  enum class Leads : std::uint8_t { somewhere, nowhere, unknown };
  Leads leads = Leads::unknown;
  std::string text{};  // for people: to where, or why not
};

struct QueueSettings {
  std::string type;                                     // quorum, classic, stream
  std::optional<std::int64_t> delivery_limit{};         // nothing: there is none
  std::string delivery_limit_unknown{};                 // why, where nobody tells
  std::optional<std::string> dead_letter_exchange{};    // nothing: what is dead is dropped
  std::optional<std::string> dead_letter_key{};         // nothing: each message's own
  DeadLetterRoute dead_letter_route{};                  // of a queue with a limit and such an exchange
  std::optional<std::chrono::milliseconds> lifetime{};  // the shortest of the queue's message TTL and its policy's
  std::optional<std::chrono::milliseconds> queue_lifetime{};  // unused for so long, the queue is deleted
};
// Else why it is not known; that holds no secret. The default limit is that of RabbitmqFacts.
std::variant<QueueSettings, std::string> ask_management(const RabbitmqSourceOptions& options,
                                                        std::optional<std::int32_t> default_limit);

// As the API writes a queue. For what is not JSON of that kind, why.
std::variant<QueueSettings, std::string> read_queue_settings(const std::string& queue,
                                                             std::optional<std::int32_t> default_limit);
// As the API writes an exchange and the bindings from it.
DeadLetterRoute read_route(const std::string& exchange, const std::string& bindings,
                           const std::optional<std::string>& key);

}  // namespace onceward::doctor
