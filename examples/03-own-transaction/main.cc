// Onceward inside a transaction that you began yourself, on your own handle: claim, your SQL, stage, flush, your COMMIT.
// No worker, no thread, no broker. The same message comes twice; the balance moves once.
#include <onceward/adapter/sqlite.h>
#include <sqlite3.h>

#include <cstdio>
#include <stdexcept>

namespace once = onceward;

namespace {

void sql(sqlite3* database, const char* text) {
  if (sqlite3_exec(database, text, nullptr, nullptr, nullptr) != SQLITE_OK)
    throw std::runtime_error(sqlite3_errmsg(database));
}

// What your service does today, with four lines more.
once::Verdict apply(sqlite3* database, const once::Declaration& declaration, const once::Enrolled& consumer,
                    const once::Envelope& message) {
  const once::Claimant claimants[] = {std::get<once::Claimant>(once::identify(message, declaration))};
  sql(database, "BEGIN IMMEDIATE");
  try {
    const auto unit = once::enlist(database, consumer);
    unit->claim(claimants);
    const once::Verdict verdict = unit->answers()[0].verdict;
    if (verdict == once::Verdict::first) {
      sql(database, "UPDATE account SET balance = balance + 250 WHERE id = 'A-1'");
      unit->on(0).stage(once::Outgoing{"account.credited", "A-1", message.payload()});
    }
    unit->flush();
    sql(database, "COMMIT");
    return verdict;
  } catch (...) {
    sqlite3_exec(database, "ROLLBACK", nullptr, nullptr, nullptr);
    throw;
  }
}

int number(sqlite3* database, const char* query) {
  sqlite3_stmt* statement = nullptr;
  sqlite3_prepare_v2(database, query, -1, &statement, nullptr);
  const int value = sqlite3_step(statement) == SQLITE_ROW ? sqlite3_column_int(statement, 0) : -1;
  sqlite3_finalize(statement);
  return value;
}

}  // namespace

int main() {
  const char* const path = "own-transaction.db";
  std::remove(path);
  once::SqliteOptions options;
  options.path = path;
  once::open_sqlite(options)->migrate();

  sqlite3* database = nullptr;
  if (sqlite3_open(path, &database) != SQLITE_OK) return 1;
  sql(database, "CREATE TABLE account (id TEXT PRIMARY KEY, balance INTEGER); INSERT INTO account VALUES ('A-1', 0)");

  once::Declaration declaration;
  declaration.name = "accounts";
  declaration.owner = "accounts-team";
  const once::Enrolled consumer = once::enroll(database, declaration);

  once::EnvelopeFields fields;
  fields.producer = once::Producer("checkout");
  fields.message_id = once::MessageId("payment-1");
  fields.payload = R"({"account":"A-1","amount":250})";
  const once::Envelope message = once::Envelope::copy_of(fields);

  for (int delivery = 1; delivery <= 2; ++delivery) {
    const once::Verdict verdict = apply(database, declaration, consumer, message);
    std::printf("delivery %d: %s\n", delivery, std::string(once::name(verdict)).c_str());
  }
  const int balance = number(database, "SELECT balance FROM account");
  const int outgoing = number(database, "SELECT count(*) FROM onceward_outbox");
  std::printf("balance %d, messages to publish %d\n", balance, outgoing);
  sqlite3_close(database);
  std::remove(path);
  return balance == 250 && outgoing == 1 ? 0 : 1;
}
