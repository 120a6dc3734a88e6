// A sqlite3*, ours or the caller's, with what we keep on it. Belongs to one thread.
#pragma once

#include <sqlite3.h>

#include <chrono>
#include <memory>
#include <string>

#include "adapters/sqlite/rows.h"
#include "adapters/sqlite/statement_cache.h"
#include "onceward/adapter/sqlite.h"
#include "src/common/owner_thread.h"

namespace onceward::sqlite {

class Connection {
 public:
  // Opens the file: WAL, synchronous=FULL, unless it is only to be read. A library with the WAL-reset bug gets the file for itself alone.
  Connection(const SqliteOptions& options, int library_version);
  // Around the caller's handle, on which nothing of ours stays behind.
  explicit Connection(sqlite3* borrowed);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  sqlite3* handle() const { return handle_.get(); }
  bool in_transaction() const { return sqlite3_get_autocommit(handle()) == 0; }
  // An abandoned connection is only fit to be closed.
  bool usable() const { return usable_; }
  void abandon() { usable_ = false; }

  Statement& own(std::string_view sql) {
    const OwnerThread::Turn turn(owner_);
    return statements_.own(sql);
  }
  Statement& users(std::string_view sql) {
    const OwnerThread::Turn turn(owner_);
    return statements_.users(sql);
  }
  RowsTable& rows() { return rows_; }
  std::uint64_t statements() const { return statements_.executed(); }

  // While one lives, statements are a handler's: those that control transactions or settings are denied, also when
  // SQLite prepares them again by itself. On a borrowed handle, whose authorizer is the caller's, the text is checked.
  class UsersTurn {
   public:
    explicit UsersTurn(Connection& connection) : connection_(connection) {
      connection_.users_turn_ = true;
      connection_.ends_at_ = std::chrono::steady_clock::now() + connection_.bound_;
    }
    ~UsersTurn() { connection_.users_turn_ = false; }
    UsersTurn(const UsersTurn&) = delete;
    UsersTurn& operator=(const UsersTurn&) = delete;

   private:
    Connection& connection_;
  };

  // BEGIN IMMEDIATE; waits for the write lock up to the deadline. Throws Fault.
  void begin();
  // BEGIN; waits for nobody, and sees what was committed when it is first asked. Throws Fault.
  void begin_reading();
  // COMMIT, again while it is busy. SQLite's own answer.
  int commit() noexcept;
  // Undoes whatever is open. A connection that cannot is abandoned.
  void roll_back() noexcept;

 private:
  struct Close {
    bool owned;
    void operator()(sqlite3* handle) const {
      if (owned) sqlite3_close_v2(handle);
    }
  };

  void set_up(bool alone);
  void set_up_to_read(bool alone);
  void watch_users();
  void begin_with(std::string_view sql);
  std::string pragma(const std::string& text);
  template <class Attempt>
  int until_not_busy(Attempt&& attempt) noexcept;
  static int wait_for_lock(void* self, int waits);
  static int is_past_its_bound(void* self);
  static int authorize(void* self, int action, const char*, const char*, const char*, const char*);

  const OwnerThread owner_;
  const std::string path_;
  const std::chrono::milliseconds patience_;
  const std::chrono::milliseconds bound_;         // of a handler's statements
  const std::unique_ptr<sqlite3, Close> handle_;  // closed after everything below is gone
  StatementCache statements_;
  RowsTable rows_;
  bool usable_ = true;
  bool users_turn_ = false;
  std::chrono::steady_clock::time_point waits_until_;
  std::chrono::steady_clock::time_point ends_at_;  // of the user's turn
};

}  // namespace onceward::sqlite
