#include "src/effect/sql_text.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "onceward/fault.h"

namespace onceward {
namespace {

bool blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v' || c == ';'; }
bool word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// PostgreSQL nests comments, SQLite does not; a statement on which they disagree is refused by one of them anyway.
std::size_t after_comment(std::string_view sql, std::size_t at) {
  if (sql.substr(at, 2) == "--") {
    const auto end = sql.find('\n', at);
    return end == std::string_view::npos ? sql.size() : end + 1;
  }
  if (sql.substr(at, 2) != "/*") return at;
  int depth = 0;
  while (at < sql.size()) {
    if (sql.substr(at, 2) == "/*") {
      ++depth;
      at += 2;
    } else if (sql.substr(at, 2) == "*/") {
      at += 2;
      if (--depth == 0) break;
    } else {
      ++at;
    }
  }
  return at;
}

std::size_t first_word_at(std::string_view sql, std::size_t at) {
  while (at < sql.size()) {
    if (blank(sql[at])) {
      ++at;
    } else if (const std::size_t after = after_comment(sql, at); after != at) {
      at = after;
    } else {
      break;
    }
  }
  return at;
}

std::string word_at(std::string_view sql, std::size_t at) {
  std::string lower;
  for (; at < sql.size() && word(sql[at]); ++at) {
    lower.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(sql[at]))));
  }
  return lower;
}

}  // namespace

std::string first_keyword(std::string_view sql) { return word_at(sql, first_word_at(sql, 0)); }

bool controls_transaction(std::string_view sql) {
  static constexpr std::array words{"begin",   "start",    "commit",  "end",        "rollback", "abort", "savepoint",
                                    "release", "prepare",  "execute", "deallocate", "discard",  "set",   "reset",
                                    "listen",  "unlisten", "attach",  "detach",     "pragma",   "vacuum"};
  const std::string keyword = first_keyword(sql);
  return std::find(words.begin(), words.end(), keyword) != words.end();
}

std::string with_table(std::string_view table_expression, std::string_view sql) {
  const std::size_t at = first_word_at(sql, 0);
  std::string merged = "WITH " + std::string(table_expression);
  if (word_at(sql, at) != "with") return merged + " " + std::string(sql);
  const std::size_t next = first_word_at(sql, at + 4);
  if (word_at(sql, next) == "recursive") {
    throw Fault(FaultCode::statement_failed, Poisons::transaction,
                "a statement over a batch cannot begin with WITH RECURSIVE: put the recursion into a subquery");
  }
  return merged + ", " + std::string(sql.substr(next));
}

std::string quoted(std::string_view identifier) {
  std::string text = "\"";
  for (const char c : identifier) {
    if (c == '"') text.push_back('"');
    text.push_back(c);
  }
  return text + "\"";
}

}  // namespace onceward
