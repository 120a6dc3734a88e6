// The effect of an SQL handler: its statements, run in order over a batch of messages or any part of it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "onceward/claim.h"
#include "onceward/declaration.h"
#include "onceward/transaction.h"
#include "src/effect/messages_relation.h"

namespace onceward {

class SqlEffect {
 public:
  // The declaration has no mistakes and outlives this; `statements` are its own or those of a handler made in C++. Throws
  // std::invalid_argument where one of them could not be declared: with a parameter, it would read our own.
  SqlEffect(std::span<const std::string> statements, const Declaration& declaration);

  // Begins a batch, which must outlive it. `received_at` is the column of that name.
  void begin(std::span<const Claimant> batch, Timestamp received_at);
  // Reads the fields of message `index`, before or after it was claimed. A refusal is that message's own: it can be no row,
  // and its detail names a column or "payload".
  std::optional<Refusal> take(std::uint32_t index);
  // Runs the statements over these messages, all of which were taken; over none, nothing is run. May be called again for
  // any part of the batch. Throws Fault as Transaction::execute_over does.
  void run(Transaction& whole, std::span<const std::uint32_t> indexes);

 private:
  struct Statement {
    std::string sql;
    std::vector<std::uint32_t> columns;
  };

  MessagesRelation messages_;
  std::vector<Statement> statements_;
  std::vector<Column> columns_;  // of one statement
};

}  // namespace onceward
