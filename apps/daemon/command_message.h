// From a request at the front door to the message that a consumer is sent: our JSON envelope, whose payload is the body.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "apps/daemon/admin_server.h"
#include "onceward/declaration.h"

namespace onceward::daemon {

struct CommandMessage {
  std::string id;        // of the principal, the operation and the key, and nothing else: a repeat has the same
  std::string identity;  // what must be the same in a repeat: the message without its trace
  std::string bytes;     // what is sent
};

// What is wrong with it.
struct CommandRefusal {
  std::string code, detail;
};

// The message is one that the consumer will accept as its own, by the declaration's limits and identity policy.
std::variant<CommandMessage, CommandRefusal> command_message(const Request& request, std::string_view principal,
                                                             const Declaration& consumer);

}  // namespace onceward::daemon
