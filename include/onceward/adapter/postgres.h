// The PostgreSQL store: tables in the schema "onceward" of the user's own database.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "onceward/port/store.h"

struct pg_conn;  // libpq's PGconn

namespace onceward {

struct PostgresOptions {
  std::string url;  // anything libpq takes
  std::chrono::milliseconds connect_deadline{10'000};
  std::chrono::milliseconds statement_deadline{60'000};  // on the server, and a little later here
  std::chrono::milliseconds lock_deadline{30'000};       // waiting for another transaction's claim
  // Prepared statements: by default used unless a pooler stands between (told by the backend's pid).
  enum class Prepare { unless_pooled, never } prepare = Prepare::unless_pooled;
};

// Connects at once. Throws Fault; a standby or read-only server is refused.
std::unique_ptr<Store> open_postgres(const PostgresOptions& options);

// Our part in a transaction that the caller has begun (READ COMMITTED) on its own idle connection and will end
// itself. Call flush() before COMMIT. Waits are bounded by the transaction's own lock_timeout and statement_timeout, and by
// ten minutes without a word from the server.
std::unique_ptr<Enlistment> enlist(pg_conn* connection, const Enrolled& consumer);
// Makes the consumer known through the caller's connection, inside or outside a transaction.
Enrolled enroll(pg_conn* connection, const Declaration& declaration);

// Rings when somebody has staged the first message since the relays of this database fell idle, and whenever that may have
// been missed. Has a connection and a thread of its own, on which it rings, and connects again by itself. A relay needs none:
// it looks by itself, only later. Behind a pooler there is nothing to hear.
class PostgresBell {
 public:
  PostgresBell(PostgresOptions options, std::function<void()> ring);
  ~PostgresBell();
  PostgresBell(const PostgresBell&) = delete;
  PostgresBell& operator=(const PostgresBell&) = delete;

 private:
  class Body;
  std::unique_ptr<Body> body_;
};

}  // namespace onceward
