#include "apps/demo/tables.h"

#include <fmt/format.h>

#include "apps/demo/payment.h"

namespace onceward::demo {
namespace {

const Enrolled nobody{};

// No constraint keeps a second capture out: a double one is to be seen, not prevented.
void create(Transaction& transaction, const Run& run) {
  transaction.execute(
      fmt::format("CREATE TABLE {} (message_id text NOT NULL, capture_request_id text NOT NULL, invoice text NOT NULL, "
                  "amount bigint NOT NULL, currency text NOT NULL CHECK (length(currency) = 3))",
                  run.capture_table));
  transaction.execute(
      fmt::format("CREATE TABLE {} (currency text NOT NULL PRIMARY KEY, amount bigint NOT NULL)", run.balance_table));
  transaction.execute(fmt::format("INSERT INTO {} (currency, amount) VALUES ('EUR', 0)", run.balance_table));
}

}  // namespace

void make_tables(Store& store, const Run& run) {
  store.migrate();
  transact(store, nobody, RetryLimit{}, [&](UnitOfWork& unit) { create(unit.whole(), run); });
}

void remove_tables(Store& store, const Run& run) {
  const std::string_view ours = run.store.starts_with("sqlite:") ? "onceward_" : "onceward.";
  const std::int32_t consumer = run.naive ? 0 : store.enroll(payments(run)).number;
  transact(store, nobody, RetryLimit{}, [&](UnitOfWork& unit) {
    Transaction& transaction = unit.whole();
    transaction.execute(fmt::format("DROP TABLE {}", run.capture_table));
    transaction.execute(fmt::format("DROP TABLE {}", run.balance_table));
    if (consumer == 0) return;
    for (const char* const by_key : {"attempt", "inbox_body"}) {
      transaction.execute(
          fmt::format("DELETE FROM {0}{1} WHERE key IN (SELECT key FROM {0}inbox WHERE consumer = $1)", ours, by_key),
          consumer);
    }
    transaction.execute(
        fmt::format("DELETE FROM {0}ledger_attempt WHERE key IN (SELECT key FROM {0}ledger WHERE consumer = $1)", ours),
        consumer);
    for (const char* const by_consumer : {"inbox", "inbox_outcome", "outbox", "ledger", "quarantine"}) {
      transaction.execute(fmt::format("DELETE FROM {}{} WHERE consumer = $1", ours, by_consumer), consumer);
    }
    transaction.execute(fmt::format("DELETE FROM {}consumer WHERE number = $1", ours), consumer);
  });
}

}  // namespace onceward::demo
