#include <array>
#include <mutex>

#include "adapters/postgres/connection.h"
#include "adapters/postgres/schema.h"
#include "adapters/postgres/session.h"
#include "adapters/postgres/waiting.h"
#include "onceward/adapter/postgres.h"
#include "src/unit/faults.h"
#include "src/unit/look.h"
#include "src/unit/unit.h"

namespace onceward {
namespace postgres {
namespace {

class PostgresStore final : public Store {
 public:
  explicit PostgresStore(const PostgresOptions& options) : options_(options) { connect(); }

  SchemaStatus migrate() override { return postgres::migrate(connected()); }
  SchemaStatus schema() override { return schema_status(connected()); }

  Enrolled enroll(const Declaration& declaration) override { return postgres::enroll(ready(), declaration); }

  std::unique_ptr<UnitOfWork> begin(const Enrolled& consumer) override {
    ready();
    ++transactions_;
    auto session = std::make_unique<PostgresSession>(connection_, consumer.number, PostgresSession::Begins::to_write);
    return std::make_unique<Unit>(std::move(session), consumer, Owner::us, on_commit_, on_repeated_calls_);
  }

  std::unique_ptr<Look> look() override {
    ready();
    ++transactions_;
    return std::make_unique<SessionLook>(
        std::make_unique<PostgresSession>(connection_, std::int32_t{0}, PostgresSession::Begins::to_read));
  }

  std::optional<std::chrono::milliseconds> next_due(const Enrolled& consumer) override {
    Connection& connection = ready();
    queue_next_due(connection, consumer.number);
    return read_next_due(connection.sync().back().get());
  }

  // Asks the server over a connection of its own, which may take a while: the lock is not held meanwhile.
  void cancel() noexcept override {
    Connection::Cancel canceller;
    {
      const std::lock_guard lock(cancel_mutex_);
      canceller = canceller_;
    }
    std::array<char, 256> ignored;
    if (canceller) PQcancel(canceller.get(), ignored.data(), static_cast<int>(ignored.size()));
  }

  StoreCounters counters() const override {
    return {round_trips_ + connection_->round_trips(), statements_ + connection_->statements(), transactions_,
            reconnects_};
  }

  Dialect dialect() const override { return Dialect::postgres; }
  std::string describe() const override { return connection_->describe(); }

 private:
  void connect() {
    auto next = std::make_shared<Connection>(options_);
    if (connection_) {
      round_trips_ += connection_->round_trips();
      statements_ += connection_->statements();
      ++reconnects_;
    }
    connection_ = std::move(next);
    schema_checked_ = false;
    const std::lock_guard lock(cancel_mutex_);
    canceller_ = connection_->canceller();
  }

  // A connection that was lost, or whose last transaction could not be ended, is replaced.
  Connection& connected() {
    if (connection_->usable() && connection_->occupied()) throw unit_still_open();
    if (!connection_->usable() || connection_->in_transaction()) connect();
    return *connection_;
  }

  Connection& ready() {
    Connection& connection = connected();
    if (!schema_checked_) check_schema(connection);
    schema_checked_ = true;
    return connection;
  }

  const PostgresOptions options_;
  std::shared_ptr<Connection> connection_;  // with the session of the open unit
  bool schema_checked_ = false;
  std::uint64_t round_trips_ = 0;  // of connections that are gone
  std::uint64_t statements_ = 0;
  std::uint64_t transactions_ = 0;
  std::uint64_t reconnects_ = 0;
  std::mutex cancel_mutex_;
  Connection::Cancel canceller_;  // of the connection; by cancel_mutex_
};

}  // namespace
}  // namespace postgres

std::unique_ptr<Store> open_postgres(const PostgresOptions& options) {
  return std::make_unique<postgres::PostgresStore>(options);
}

std::unique_ptr<Enlistment> enlist(pg_conn* connection, const Enrolled& consumer) {
  if (PQtransactionStatus(connection) != PQTRANS_INTRANS || PQpipelineStatus(connection) != PQ_PIPELINE_OFF) {
    throw Fault(FaultCode::transaction_failed, Poisons::transaction,
                "enlist wants an idle connection inside a transaction: run BEGIN first, outside pipeline mode");
  }
  auto session =
      std::make_unique<postgres::PostgresSession>(std::make_shared<postgres::Connection>(connection), consumer.number,
                                                  postgres::PostgresSession::Begins::has_begun);
  return std::make_unique<Unit>(std::move(session), consumer, Owner::caller);
}

Enrolled enroll(pg_conn* connection, const Declaration& declaration) {
  postgres::Connection borrowed(connection);
  return postgres::enroll(borrowed, declaration);
}

}  // namespace onceward
