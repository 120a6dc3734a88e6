// A look at a queue, by a connection of its own that takes nothing.
#include "adapters/rabbitmq/connection.h"
#include "adapters/rabbitmq/limits.h"
#include "adapters/rabbitmq/options.h"

namespace onceward {
namespace rabbitmq {
namespace {

RabbitmqFacts facts_of(const RabbitmqSourceOptions& options, Connection&& connection) {
  using enum RabbitmqSourceOptions::Declare;
  if (options.declare == nothing) connection.check_queue({options.queue, nothing});
  const auto state = connection.look_at_queue(options.queue);
  if (!state) return {};
  connection.check_reading(options.queue);
  return {true, state->ready, state->consumers, default_delivery_limit(connection.server_version())};
}

}  // namespace
}  // namespace rabbitmq

RabbitmqFacts examine_rabbitmq(const RabbitmqSourceOptions& options) {
  rabbitmq::check(options);
  std::size_t first = 0;
  return rabbitmq::with_any_host(options.connection, rabbitmq::source_role, first, [&](std::size_t host) {
    return rabbitmq::facts_of(options,
                              rabbitmq::Connection(options.connection, host, rabbitmq::source_role, "onceward doctor"));
  });
}

}  // namespace onceward
