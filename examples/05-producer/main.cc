// A producer: no message comes in, and one leaves for each purchase that was committed. The transaction is your own, on your own
// handle; Onceward adds a row to it. Usage: producer place PURCHASE CENTS, or anything that onceward can do.
#include <onceward/adapter/sqlite.h>
#include <onceward/run.h>
#include <sqlite3.h>

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

namespace once = onceward;

namespace {

using Database = std::unique_ptr<sqlite3, decltype(&sqlite3_close)>;

Database open(const char* path) {
  sqlite3* handle = nullptr;
  const int opened = sqlite3_open(path, &handle);
  Database database(handle, &sqlite3_close);
  if (opened != SQLITE_OK) throw std::runtime_error(sqlite3_errmsg(handle));
  sqlite3_busy_timeout(handle, 5'000);
  return database;
}

void sql(sqlite3* database, const char* text) {
  if (sqlite3_exec(database, text, nullptr, nullptr, nullptr) != SQLITE_OK)
    throw std::runtime_error(sqlite3_errmsg(database));
}

// What your service does today.
void insert(sqlite3* database, const std::string& purchase, long cents) {
  sqlite3_stmt* prepared = nullptr;
  sqlite3_prepare_v2(database, "INSERT INTO purchase (id, cents) VALUES (?, ?)", -1, &prepared, nullptr);
  const std::unique_ptr<sqlite3_stmt, decltype(&sqlite3_finalize)> statement(prepared, &sqlite3_finalize);
  sqlite3_bind_text(prepared, 1, purchase.c_str(), -1, SQLITE_TRANSIENT);
  sqlite3_bind_int64(prepared, 2, cents);
  if (sqlite3_step(prepared) != SQLITE_DONE) throw std::runtime_error(sqlite3_errmsg(database));
}

// The three lines that are new: enlist, stage, flush. If anything throws, neither the purchase nor its message was ever there.
void place(sqlite3* database, const std::string& purchase, long cents) {
  const std::string payload = R"({"purchase":")" + purchase + R"(","cents":)" + std::to_string(cents) + "}";
  const std::string id = "placed-" + purchase;  // the same whenever the same fact is staged
  sql(database, "BEGIN IMMEDIATE");
  try {
    const auto outbox = once::enlist(database, once::Enrolled{});
    insert(database, purchase, cents);
    outbox->whole().stage(once::Outgoing{.type = "order.placed", .key = purchase, .payload = payload, .id = id});
    outbox->flush();
    sql(database, "COMMIT");
  } catch (...) {
    sqlite3_exec(database, "ROLLBACK", nullptr, nullptr, nullptr);
    throw;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4 || std::string_view(argv[1]) != "place") return once::run(argc, argv, {});
  try {
    place(open("shop.db").get(), argv[2], std::stol(argv[3]));
    return 0;
  } catch (const std::exception& wrong) {
    std::fprintf(stderr, "%s was not placed: %s\n", argv[2], wrong.what());
    return 1;
  }
}
