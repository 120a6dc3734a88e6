// The prepared statements of one handle: ours for as long as it lives, users' while they are among the last used.
#pragma once

#include <deque>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "adapters/sqlite/statement.h"

namespace onceward::sqlite {

class StatementCache {
 public:
  static constexpr std::size_t most_kept = 128;

  explicit StatementCache(sqlite3* handle) : handle_(handle) {}

  // Our own: `sql` is a constant, told by its address.
  Statement& own(std::string_view sql);
  // A user's. Valid until the next call of users().
  Statement& users(std::string_view sql);

  std::uint64_t executed() const { return executed_; }

 private:
  struct Kept {
    std::string sql;
    Statement statement;
  };

  sqlite3* handle_;
  std::uint64_t executed_ = 0;
  std::deque<std::pair<const char*, Statement>> own_;  // never moved: callers hold several
  std::list<Kept> kept_;                               // the last used is in front
  std::unordered_map<std::string_view, std::list<Kept>::iterator> by_text_;
};

}  // namespace onceward::sqlite
