// One SQLite transaction. Everything runs at once, in process; only what a handler executes is buffered by the unit.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "adapters/sqlite/connection.h"
#include "adapters/sqlite/tables.h"
#include "src/unit/session.h"

namespace onceward::sqlite {

class SqliteSession final : public Session {
 public:
  // The connection is in a transaction. One that only reads is asked for nothing but query().
  enum class For { writing, reading };
  SqliteSession(std::shared_ptr<Connection> connection, std::int32_t consumer, For what = For::writing);

  void claim(Batch& batch) override;
  void look_up(Batch& batch) override;
  void resume(Batch& batch) override;
  Streams hold(std::span<const std::string_view> streams) override;
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
  RefusedWork refused() const override { return refused_; }
  void flush(Batch* batch) override;
  Commit commit(Batch* batch) override;
  void roll_back() override { connection_.roll_back(); }
  bool in_transaction() const override { return connection_.in_transaction(); }

 private:
  template <class Work>
  auto guarded(Work&& work);
  Statement& bound(const BufferedStatement& statement);

  const std::shared_ptr<Connection> shared_;  // its owners: the store and this, its one open session
  Connection& connection_;
  const Stamp stamp_;
  const For for_;
  std::vector<Repeats> repeats_;
  RefusedWork refused_;  // set before it is tried
};

}  // namespace onceward::sqlite
