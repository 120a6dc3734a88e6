// What can be seen of a consumer's source before anybody works with it, and what is wrong with it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "apps/doctor/rabbitmq_management.h"
#include "onceward/declaration.h"

namespace onceward::doctor {

struct Observation {
  enum class Status : std::uint8_t { ok, problem, unknown };
  std::string check;  // connection, queue, prefetch...
  Status status = Status::ok;
  std::string text;  // for people: what was seen, and what to do
};
std::string_view name(Observation::Status status);

// Whether a message that is delivered too often is lost, and whether the source, which believes in a limit (-1: none), logs it.
Observation look_at_limit(const QueueSettings& settings, std::int32_t believed);

struct Examination {
  std::vector<Observation> observations;
  bool connected = false;
};
// Connects, looks and leaves; takes no message and makes nothing. Throws nothing that the world can do.
Examination examine(const Declaration& consumer);
// The same of the place that its dead letters go to, by the routes of its file; nothing where it has none.
Examination examine_dead_letters(const Declaration& consumer, const std::vector<RouteDeclaration>& routes);

}  // namespace onceward::doctor
