// The three kinds of handler, each run over a part of a round's messages.
#pragma once

#include <memory>

#include "onceward/handler.h"
#include "src/worker/round.h"
#include "src/worker/watchdog.h"

namespace onceward {

enum class Ran {
  all,
  again,  // a message was taken out, and what it had sent can only be undone by a rollback
};

class Handling {
 public:
  virtual ~Handling() = default;
  // A new round, which outlives its runs.
  virtual void begin(const Round&) {}
  // Throws what the handler throws where it is not known which message is to blame, and Fault for an outage.
  virtual Ran run(UnitOfWork& unit, Round& round, Part part) = 0;
  // Whether the time bound holds for each message, and not for all of a run together.
  virtual bool one_by_one() const { return false; }
};

std::unique_ptr<Handling> handling_of(Handler handler, const Declaration& declaration, Watchdog& watchdog);

}  // namespace onceward
