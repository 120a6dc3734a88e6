#include "bench/relay/beside.h"

#include <fmt/format.h>

#include <stdexcept>

#include "bench/work/postgres_connection.h"
#include "onceward/port/store.h"

namespace onceward::bench {
namespace {

class HeldSnapshot final : public Beside {
 public:
  HeldSnapshot(PostgresDatabase& database, std::vector<DeadRows>& into)
      : database_(database), into_(into), holder_(database.url()) {
    holder_.run("BEGIN ISOLATION LEVEL REPEATABLE READ");
    before_ = holder_.value("SELECT pg_current_snapshot()");
  }
  void finish(RelayProcesses&, Arrivals&) override {
    if (holder_.value("SELECT pg_current_snapshot()") != before_) throw std::runtime_error("the snapshot was not held");
    into_.push_back(database_.dead_rows_by_table());
  }

 private:
  PostgresDatabase& database_;
  std::vector<DeadRows>& into_;
  PostgresConnection holder_;
  std::string before_;
};

class OpenWriter final : public Beside {
 public:
  OpenWriter(const RelayBench& bench, Index message)
      : bench_(bench), message_(message), store_(bench.database.open()), unit_(store_->begin({})) {
    const Message& staged = bench.work.messages[message];
    unit_->whole().stage(Outgoing{.type = outgoing_type,
                                  .key = staged.account_key,
                                  .payload = staged.outgoing,
                                  .id = staged.id,
                                  .aggregate_type = aggregate_type,
                                  .aggregate_id = staged.account_key,
                                  .aggregate_version = staged.version});
    unit_->flush();
  }
  std::size_t keeps() const override { return 1; }

  void finish(RelayProcesses& relay, Arrivals& arrivals) override {
    if (arrivals.has(message_)) throw std::runtime_error("a message has arrived that was never committed");
    const std::uint64_t before = arrivals.found().distinct;
    if (unit_->commit() != Commit::committed) throw std::runtime_error("the open writer was not committed");
    relay.await_published(before + 1);
    arrivals.drain(bench_.broker, before + 1);
    if (!arrivals.has(message_)) throw std::runtime_error("the open writer's message has not arrived");
  }

 private:
  const RelayBench bench_;
  const Index message_;
  const std::unique_ptr<Store> store_;
  const std::unique_ptr<UnitOfWork> unit_;
};

}  // namespace

std::unique_ptr<Beside> held_snapshot(const RelayBench& bench, std::vector<DeadRows>& into) {
  return std::make_unique<HeldSnapshot>(bench.database, into);
}

std::unique_ptr<Beside> open_writer(const RelayBench& bench, std::span<const Index> messages) {
  return std::make_unique<OpenWriter>(bench, messages.back());
}

std::vector<Bar> dead_row_bars(const DeadRows& dead, std::size_t messages, std::size_t page) {
  std::uint64_t in_outbox = 0, elsewhere = 0;
  std::string tables;
  for (const auto& [table, count] : dead) {
    (table.starts_with("outbox") ? in_outbox : elsewhere) += count;
    tables += fmt::format("{}{} in {}", tables.empty() ? "" : ", ", count, table);
  }
  const std::uint64_t most = 2 * ((messages + page - 1) / page) + 100;
  return {{fmt::format("held snapshot: {} dead rows in the outbox (0)", in_outbox), in_outbox == 0, true},
          {fmt::format("held snapshot: {} dead rows in all tables of the relay (two a page and 100: {}): {}", elsewhere,
                       most, tables),
           elsewhere <= most, true}};
}

}  // namespace onceward::bench
