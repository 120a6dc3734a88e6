// One PostgreSQL transaction. Two round trips for a batch without operation keys: BEGIN and claim; then the look-up of
// repeats, effects, staging and COMMIT together.
#pragma once

#include <memory>
#include <vector>

#include "adapters/postgres/connection.h"
#include "adapters/postgres/values.h"
#include "src/unit/session.h"

namespace onceward::postgres {

class PostgresSession final : public Session {
 public:
  // Ours: begins with the first statement. `connection` must outlive it.
  PostgresSession(Connection& connection, std::int32_t consumer);
  // The caller's: `borrowed` wraps the caller's own connection, which is in a transaction.
  PostgresSession(std::unique_ptr<Connection> borrowed, std::int32_t consumer);

  void claim(Batch& batch) override;
  void look_up(Batch& batch) override;
  void run(std::span<const BufferedStatement> statements) override;
  void run_over(const Relation& relation, std::string_view sql) override;
  std::int64_t count(std::span<const BufferedStatement> before, const BufferedStatement& statement) override;
  Rows query(std::span<const BufferedStatement> before, const BufferedStatement& statement) override;
  void write(const Writes& writes) override;
  void flush(Batch* batch) override;
  Commit commit(Batch* batch) override;
  void roll_back() override;
  bool in_transaction() const override { return connection_.in_transaction(); }

 private:
  void begin();
  void claim_operations(Batch& batch);
  // The place of its result in the trip, or nowhere: nothing is left to look up.
  static constexpr std::size_t nowhere = ~std::size_t{0};
  std::size_t queue_look_up_of_repeats(const Batch& batch);
  static void read_look_up(const std::vector<Result>& results, std::size_t place, Batch& batch);
  Result answer_to(std::span<const BufferedStatement> before, const BufferedStatement& statement);

  const std::unique_ptr<Connection> borrowed_;
  Connection& connection_;
  const std::int32_t consumer_;
  bool begun_;
  ValueParameters parameters_;
};

}  // namespace onceward::postgres
