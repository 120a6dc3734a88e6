// One PostgreSQL transaction. Two round trips for a batch without operation keys: BEGIN and claim; then the look-up of
// repeats, effects, staging and COMMIT together. One, where streams go on from where we left them.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "adapters/postgres/connection.h"
#include "adapters/postgres/tables.h"
#include "adapters/postgres/values.h"
#include "src/unit/session.h"

namespace onceward::postgres {

class PostgresSession final : public Session {
 public:
  // Ours begins with its first statement; the caller's connection is in a transaction already. One that only reads is
  // asked for nothing but query().
  enum class Begins { to_write, to_read, has_begun };
  PostgresSession(std::shared_ptr<Connection> connection, std::int32_t consumer, Begins begins);
  ~PostgresSession() override { vacate(); }

  void claim(Batch& batch) override;
  void look_up(Batch& batch) override;
  void resume(Batch& batch) override;
  Streams hold(std::span<const std::string_view> streams) override;
  std::optional<Streams> remembered(std::span<const std::string_view> streams) override;
  std::vector<TakenOver> take_over(std::span<const std::string> streams) override;
  std::optional<Stream> begin_stream(const Stream& stream, std::int64_t next) override;
  std::vector<int> attempts(std::span<const Key> messages) override;
  std::vector<Kept> take_due(std::size_t most, std::chrono::milliseconds lease) override;
  std::optional<Kept> start_due(std::chrono::milliseconds lease) override;
  void run(std::span<const BufferedStatement> statements) override;
  void run_over(const Relation& relation, std::string_view sql) override;
  std::int64_t count(std::span<const BufferedStatement> before, const BufferedStatement& statement) override;
  Rows query(std::span<const BufferedStatement> before, const BufferedStatement& statement) override;
  void write(const Writes& writes) override;
  std::vector<Repeats> repeats() override { return std::exchange(repeats_, {}); }
  Cancelled cancel_call(const Key& call, std::string_view who) override;
  void mark() override;
  void back_to_mark() override;
  RefusedWork refused() const override;
  void flush(Batch* batch) override;
  Commit commit(Batch* batch) override;
  void roll_back() override;
  bool in_transaction() const override { return connection_.in_transaction(); }

 private:
  void begin();
  void vacate();
  void undo();
  void claim_operations(Batch& batch);
  // The place of its result in the trip, or nowhere: nothing is left to look up.
  static constexpr std::size_t nowhere = ~std::size_t{0};
  std::size_t queue_look_up_of_repeats(const Batch& batch);
  static void read_look_up(const std::vector<Result>& results, std::size_t place, Batch& batch);
  void read_calls(const std::vector<Result>& results);
  Result answer_to(std::span<const BufferedStatement> before, const BufferedStatement& statement);

  const std::shared_ptr<Connection> shared_;  // its owners: the store and this, its one open session
  Connection& connection_;
  const std::int32_t consumer_;
  const bool reads_;
  bool begun_;
  bool commit_queued_ = false;
  std::vector<CallsWritten> calls_written_;  // in the trip that is not yet made
  std::vector<Repeats> repeats_;
  Streams moved_;  // remembered once it is committed
  bool occupies_ = true;
  std::uint32_t encoding_ = Statements::no_message;  // the message whose values are being made parameters
  ValueParameters parameters_;
};

}  // namespace onceward::postgres
