// What a team writes: the effect of a message. A handler may run again for the same message (a crash, a neighbour that
// failed); only what it does through its transaction counts, and that commits once.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "onceward/envelope.h"
#include "onceward/outcome.h"
#include "onceward/transaction.h"

namespace onceward {

// One message. An exception is the message's own failure: it is tried again within its budget, then quarantined.
using MessageHandler = std::function<Outcome(const Envelope&, Transaction&)>;

// The new messages of one transaction, for a handler that writes them set-wise.
class Messages {
 public:
  virtual ~Messages() = default;
  virtual std::size_t size() const = 0;
  virtual const Envelope& operator[](std::size_t index) const = 0;
  // The transaction on behalf of one message: what is staged there is caused by it, and goes if it is taken out.
  virtual Transaction& on(std::size_t index) = 0;
  // The transaction for statements over all of them.
  virtual Transaction& whole() = 0;
  // Done, if it is never said.
  virtual void finish(std::size_t index, Outcome outcome) = 0;
};

// If it throws, or one of its statements fails, it is called again with parts of the messages until those that cannot
// succeed are found: what it does must be a function of the messages it is given.
using BatchHandler = std::function<void(Messages&)>;

// Statements that read the messages as the relation `messages`, with the declared fields as columns; run in order.
struct SqlHandler {
  std::vector<std::string> statements;
};

using Handler = std::variant<MessageHandler, BatchHandler, SqlHandler>;

}  // namespace onceward
