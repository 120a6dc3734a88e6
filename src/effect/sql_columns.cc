#include "src/effect/sql_columns.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>

#include "src/common/sql_tokens.h"

namespace onceward {
namespace {

using Kind = SqlToken::Kind;
using namespace std::string_view_literals;

// What may follow a table's name and is not its alias.
constexpr std::array after_table{"as"sv,      "cross"sv,  "do"sv,    "except"sv,    "fetch"sv, "for"sv,       "full"sv,
                                 "group"sv,   "having"sv, "inner"sv, "intersect"sv, "join"sv,  "left"sv,      "limit"sv,
                                 "natural"sv, "offset"sv, "on"sv,    "order"sv,     "right"sv, "returning"sv, "set"sv,
                                 "union"sv,   "using"sv,  "when"sv,  "where"sv,     "window"sv};

bool holds(std::span<const std::string_view> words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

// SQLite reads a name in quotes in either case.
std::vector<SqlToken> lower_case(std::vector<SqlToken> tokens) {
  for (SqlToken& token : tokens) {
    for (char& c : token.text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return tokens;
}

class Reading {
 public:
  Reading(std::string_view sql, std::string_view relation) : tokens_(lower_case(sql_tokens(sql))), relation_(relation) {
    for (std::size_t at = 0; at < tokens_.size(); ++at) {
      if (names(at, relation)) note_alias(at);
    }
  }

  bool whole() const {
    for (std::size_t at = 0; at < tokens_.size(); ++at) {
      if (tokens_[at].is_word("natural") || is_star(at) || is_whole_row(at)) return true;
    }
    return false;
  }

  bool reads(std::string_view column) const {
    return std::ranges::any_of(tokens_, [&](const SqlToken& token) {
      return (token.kind == Kind::word || token.kind == Kind::name) && token.text == column;
    });
  }

 private:
  // The token there, or a mark that is none.
  const SqlToken& token(std::size_t at) const {
    static const SqlToken nothing{Kind::mark, std::string(1, '\0')};
    return at < tokens_.size() ? tokens_[at] : nothing;
  }
  const SqlToken& before(std::size_t at) const { return token(at - 1); }
  bool names(std::size_t at, std::string_view name) const { return is_name(at) && token(at).text == name; }

  bool is_name(std::size_t at) const { return token(at).kind == Kind::word || token(at).kind == Kind::name; }

  // Where the alias stands: messages m, messages AS m. Nothing if there is none.
  std::optional<std::size_t> alias_of(std::size_t relation_at) const {
    const std::size_t next = relation_at + 1;
    if (token(next).is_word("as")) return next + 1;
    if (!is_name(next) || (token(next).kind == Kind::word && holds(after_table, token(next).text))) return std::nullopt;
    return next;
  }
  void note_alias(std::size_t relation_at) {
    const auto alias = alias_of(relation_at);
    if (!alias || !is_name(*alias)) return;
    aliases_.insert(token(*alias).text);
    alias_places_.insert(*alias);
  }

  // Not of count(*), and not a product.
  bool is_star(std::size_t at) const {
    if (!token(at).is_mark('*')) return false;
    const SqlToken& left = before(at);
    if (left.is_mark('.') || left.is_mark(',')) return true;
    if (left.is_mark(')')) return token(at + 1).is_word("from") || token(at + 1).is_mark(',');  // DISTINCT ON (a) *
    return left.is_word("select") || left.is_word("distinct") || left.is_word("all") || left.is_word("returning");
  }

  // A name of the relation that neither stands where a table does nor is followed by a column.
  bool is_whole_row(std::size_t at) const {
    if (token(at + 1).is_mark('.')) return false;
    if (names(at, relation_)) return !stands_for_table(at);
    return is_name(at) && aliases_.contains(token(at).text) && !alias_places_.contains(at);
  }
  bool stands_for_table(std::size_t at) const {
    const SqlToken& left = before(at);
    const auto alias = alias_of(at);
    if (alias && token(*alias + 1).is_mark('(')) return false;  // messages m (a, b) names columns by their place
    if (left.is_word("from") || left.is_word("join") || left.is_word("using")) return true;
    if (!left.is_mark(',')) return false;
    const SqlToken& right = token(at + 1);
    return !right.is_word("from") && !right.is_mark(',') && !right.is_mark(')');
  }

  const std::vector<SqlToken> tokens_;
  const std::string_view relation_;
  std::set<std::string> aliases_;
  std::set<std::size_t> alias_places_;
};

}  // namespace

std::vector<std::uint32_t> columns_read(std::string_view sql, std::string_view relation,
                                        std::span<const std::string_view> columns) {
  const Reading reading(sql, relation);
  const bool whole = reading.whole();
  std::vector<std::uint32_t> read;
  for (std::uint32_t column = 0; column < columns.size(); ++column) {
    if (whole || reading.reads(columns[column])) read.push_back(column);
  }
  return read;
}

}  // namespace onceward
