#include "src/common/sql_tokens.h"

#include <algorithm>

#include "src/common/digits.h"

namespace onceward {
namespace {

using Kind = SqlToken::Kind;

bool is_sql_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool begins_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}
bool is_in_word(char c) { return begins_word(c) || is_digit(c) || c == '$'; }
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

class Lexer {
 public:
  explicit Lexer(std::string_view sql) : sql_(sql) {}

  std::vector<SqlToken> run() {
    while (at_ < sql_.size()) {
      if (is_sql_space(sql_[at_]))
        ++at_;
      else if (looking_at("--"))
        at_ = after("\n", at_);
      else if (looking_at("/*"))
        skip_comment();
      else
        take();
    }
    return std::move(tokens_);
  }

 private:
  void take() {
    const char c = sql_[at_];
    if (begins_word(c)) return take_while(Kind::word, is_in_word);
    if (is_digit(c)) return take_while(Kind::number, [](char next) { return is_in_word(next) || next == '.'; });
    if (c == '\'') return take_string();
    if (c == '"' || c == '`') return take_name(c);
    if (c == '$') return take_dollar();
    add(Kind::mark, std::string(1, c));
    ++at_;
  }

  template <class Belongs>
  void take_while(Kind kind, Belongs&& belongs) {
    const std::size_t begin = at_;
    while (at_ < sql_.size() && belongs(sql_[at_])) ++at_;
    std::string text(sql_.substr(begin, at_ - begin));
    std::ranges::transform(text, text.begin(), lower);
    add(kind, std::move(text));
  }

  // PostgreSQL's E'...' takes a backslash for an escape; the E has just become a word.
  void take_string() {
    const bool escapes = at_ > 0 && !tokens_.empty() && tokens_.back().is_word("e") && lower(sql_[at_ - 1]) == 'e';
    for (++at_; at_ < sql_.size(); ++at_) {
      if (escapes && sql_[at_] == '\\')
        ++at_;
      else if (sql_[at_] == '\'' && !looking_at("''"))
        break;
      else if (sql_[at_] == '\'')
        ++at_;
    }
    at_ = std::min(at_ + 1, sql_.size());
    add(Kind::text, {});
  }

  void take_name(char quote) {
    std::string name;
    for (++at_; at_ < sql_.size(); ++at_) {
      if (sql_[at_] == quote && (at_ + 1 == sql_.size() || sql_[at_ + 1] != quote)) break;
      if (sql_[at_] == quote) ++at_;
      name += sql_[at_];
    }
    at_ = std::min(at_ + 1, sql_.size());
    add(Kind::name, std::move(name));
  }

  // $1, or $tag$...$tag$ with a tag that may be empty.
  void take_dollar() {
    std::size_t end = at_ + 1;
    if (end < sql_.size() && is_digit(sql_[end])) {
      ++at_;
      take_while(Kind::parameter, is_digit);
      return;
    }
    while (end < sql_.size() && is_in_word(sql_[end]) && sql_[end] != '$') ++end;
    if (end < sql_.size() && sql_[end] == '$') {
      const std::string_view tag = sql_.substr(at_, end + 1 - at_);
      at_ = after(tag, end + 1);
      return add(Kind::text, {});
    }
    add(Kind::mark, "$");
    ++at_;
  }

  // PostgreSQL nests comments.
  void skip_comment() {
    int depth = 0;
    do {
      if (looking_at("/*")) {
        ++depth;
        at_ += 2;
      } else if (looking_at("*/")) {
        --depth;
        at_ += 2;
      } else {
        ++at_;
      }
    } while (depth > 0 && at_ < sql_.size());
  }

  bool looking_at(std::string_view what) const { return sql_.substr(at_, what.size()) == what; }
  std::size_t after(std::string_view what, std::size_t from) const {
    const std::size_t found = sql_.find(what, from);
    return found == std::string_view::npos ? sql_.size() : found + what.size();
  }
  void add(Kind kind, std::string text) { tokens_.push_back({kind, std::move(text)}); }

  std::string_view sql_;
  std::size_t at_ = 0;
  std::vector<SqlToken> tokens_;
};

}  // namespace

std::vector<SqlToken> sql_tokens(std::string_view sql) { return Lexer(sql).run(); }

}  // namespace onceward
