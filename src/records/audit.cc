#include "src/records/audit.h"

#include <fmt/format.h>

#include "src/common/json.h"
#include "src/common/stored_text.h"
#include "src/records/statement.h"

namespace onceward::records {

std::string wrong_with_text(std::string_view what, std::string_view text, std::size_t most_bytes) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) return fmt::format("{} is empty", what);
  if (text.size() > most_bytes) return fmt::format("{} has more than {} bytes", what, most_bytes);
  if (const TextFlaw flaw = flaw_of(text); flaw != TextFlaw::none) return fmt::format("{} {}", what, describe(flaw));
  return {};
}

std::string wrong_with(std::string_view who, std::string_view why) {
  const std::string wrong = wrong_with_text("the name of who does it", who, most_who_bytes);
  return wrong.empty() ? wrong_with_text("the reason why", why, most_why_bytes) : wrong;
}

void write_audit(Transaction& transaction, Dialect dialect, const AuditEntry& entry) {
  Statement insert(dialect, "INSERT INTO {audit} (at, who, action, object, reason, detail) VALUES ({now}, ");
  insert.bind(entry.who).add(", ").bind(entry.action).add(", ").bind(entry.object).add(", ");
  insert.bind(entry.why).add(", ").bind(entry.detail).add(")").run(transaction);
}

bool is_audited(Transaction& transaction, Dialect dialect, std::string_view detail) {
  Statement find(dialect, "SELECT count(*) FROM {audit} WHERE detail = ");
  return number_in(find.bind(detail).query(transaction).at(0).at(0)) > 0;
}

void add_member(std::string& json, std::string_view name, std::string_view text) {
  if (text.empty()) return;
  json += json.back() == '{' ? "" : ",";
  append_json_string(json, name);
  json += ':';
  append_json_string(json, text);
}

}  // namespace onceward::records
