// What a statement of an SQL handler may be, as far as that can be known without a store. The store has the last word.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "src/common/sql_tokens.h"
#include "src/common/stored_text.h"
#include "src/declaration/rules.h"
#include "src/declaration/text.h"

namespace onceward::declaration {
namespace {

using namespace std::string_view_literals;

// What can follow WITH messages AS (...), which is put before each statement. Everything that begins, ends or divides the
// transaction is something else.
constexpr std::array beginnings{"insert"sv,  "update"sv, "delete"sv, "merge"sv,
                                "replace"sv, "select"sv, "values"sv, "with"sv};

struct Wrong {
  std::string message;
  std::string_view hint;
};

std::optional<Wrong> wrong_with_beginning(const std::vector<SqlToken>& tokens) {
  constexpr std::string_view hint =
      "one INSERT, UPDATE, DELETE, MERGE, REPLACE, SELECT or WITH that reads messages; the transaction is Onceward's";
  if (tokens.empty()) return Wrong{"holds no statement", hint};
  const SqlToken& first = tokens.front();
  if (first.kind != SqlToken::Kind::word) return Wrong{"does not begin with a word of SQL", hint};
  if (std::ranges::find(beginnings, first.text) == beginnings.end())
    return Wrong{fmt::format("begins with {}", in_quotes(first.text)), hint};
  if (first.text == "with" && tokens.size() > 1 && tokens[1].is_word("recursive"))
    return Wrong{"begins with WITH RECURSIVE",
                 "put the recursion into a subquery: messages is put before the statement"};
  return std::nullopt;
}

std::optional<Wrong> wrong_with(std::string_view sql) {
  if (sql.size() > most_statement_bytes)
    return Wrong{fmt::format("has {} bytes, more than {}", sql.size(), most_statement_bytes),
                 "what is longer belongs into a function of the database"};
  if (const TextFlaw flaw = flaw_of(sql); flaw != TextFlaw::none)
    return Wrong{std::string(describe(flaw)), "SQL is UTF-8 without NUL"};
  std::vector<SqlToken> tokens = sql_tokens(sql);
  while (!tokens.empty() && tokens.back().is_mark(';')) tokens.pop_back();
  if (auto wrong = wrong_with_beginning(tokens)) return wrong;
  for (const SqlToken& token : tokens) {
    if (token.is_mark(';'))
      return Wrong{"holds several statements", "sql = [\"...\", \"...\"], one statement each; they run in order"};
    if (token.kind == SqlToken::Kind::parameter)
      return Wrong{"has a parameter", "what a message brings is a column of messages: declare a field for it"};
  }
  return std::nullopt;
}

}  // namespace

void check_sql(const std::vector<std::string>& statements, const Path& path, Findings& findings) {
  if (statements.size() > most_statements)
    findings.add(path, fmt::format("{} statements, more than {}", statements.size(), most_statements),
                 "what takes so many belongs into a handler in C++, or into a function of the database");
  for (std::size_t i = 0; i < statements.size(); ++i) {
    if (const auto wrong = wrong_with(statements[i]))
      findings.add(statements.size() == 1 ? path : path[i], wrong->message, std::string(wrong->hint), {path[i]});
  }
}

}  // namespace onceward::declaration
