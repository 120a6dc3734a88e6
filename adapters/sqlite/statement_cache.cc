#include "adapters/sqlite/statement_cache.h"

namespace onceward::sqlite {

Statement& StatementCache::own(std::string_view sql) {
  for (auto& [text, statement] : own_) {
    if (text == sql.data()) return statement;
  }
  return own_.emplace_back(sql.data(), Statement(handle_, sql, executed_)).second;
}

Statement& StatementCache::users(std::string_view sql) {
  // A handler runs the same statement for message after message.
  if (!kept_.empty() && kept_.front().sql == sql) return kept_.front().statement;
  if (const auto found = by_text_.find(sql); found != by_text_.end()) {
    kept_.splice(kept_.begin(), kept_, found->second);
    return kept_.front().statement;
  }
  Statement prepared(handle_, sql, executed_);
  if (kept_.size() == most_kept) {
    by_text_.erase(kept_.back().sql);
    kept_.pop_back();
  }
  kept_.push_front({std::string(sql), std::move(prepared)});
  by_text_.emplace(kept_.front().sql, kept_.begin());
  return kept_.front().statement;
}

}  // namespace onceward::sqlite
