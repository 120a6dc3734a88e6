// From a request at the front door to the message that a consumer is sent: our JSON envelope, whose payload is the body.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "apps/daemon/admin_server.h"
#include "onceward/claim.h"
#include "onceward/declaration.h"
#include "src/effect/declared_calls.h"
#include "src/effect/sql_effect.h"
#include "src/records/claims.h"

namespace onceward::daemon {

struct CommandMessage {
  // Of the principal, the operation, the key and all that is asked. A repeat has the same, however late; another command has
  // another, also under a key that was forgotten: nothing that was accepted is ever taken for what came before it.
  std::string id;
  std::string identity;    // what must be the same in a repeat: the message without its ids and its trace
  std::string bytes;       // what is sent
  records::Claim claim{};  // of the consumer's inbox
};

// What is wrong with it.
struct CommandRefusal {
  std::string code, detail;
  unsigned status = 400;
};

// Of one consumer; belongs to one thread.
class CommandWriter {
 public:
  // The declaration has no mistakes and outlives this.
  explicit CommandWriter(const Declaration& consumer);

  // The message is one that the consumer will accept as its own: by the declaration's limits and identity policy and, where its
  // handler is SQL of the declaration, by its fields and its calls. It can be sent to an embedded queue.
  std::variant<CommandMessage, CommandRefusal> write(const Request& request, std::string_view principal);

  // Whose keys they are: the tenant, where the consumer tells tenants apart by a header.
  std::string_view principal_of(const Request& request) const;

 private:
  std::optional<Refusal> check(CommandMessage& message);

  const Declaration& consumer_;
  const std::string tenant_header_;  // in lower case
  std::optional<SqlEffect> effect_;
  DeclaredCalls calls_;
};

}  // namespace onceward::daemon
