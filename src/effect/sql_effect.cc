#include "src/effect/sql_effect.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <stdexcept>

#include "src/declaration/rules.h"
#include "src/effect/sql_columns.h"

namespace onceward {
namespace {

constexpr std::string_view relation_name = "messages";

void check(std::span<const std::string> statements) {
  declaration::Findings findings;
  declaration::check_sql({statements.begin(), statements.end()}, declaration::Path("sql"), findings);
  if (findings.all().empty()) return;
  const declaration::Finding& first = findings.all().front();
  throw std::invalid_argument(fmt::format("{}: {} (hint: {})", first.path.text(), first.message, first.hint));
}

}  // namespace

SqlEffect::SqlEffect(std::span<const std::string> statements, const Declaration& declaration) : messages_(declaration) {
  check(statements);
  const auto names = messages_.names();
  const auto ordinal = static_cast<std::uint32_t>(std::ranges::find(names, "ordinal") - names.begin());
  std::set<std::uint32_t> offered;
  for (const std::string& sql : statements) {
    std::vector<std::uint32_t> columns = columns_read(sql, relation_name, names);
    if (columns.empty()) columns.push_back(ordinal);  // for count(*): rows without columns do not exist
    offered.insert(columns.begin(), columns.end());
    statements_.push_back({sql, std::move(columns)});
  }
  messages_.offer(std::vector<std::uint32_t>(offered.begin(), offered.end()));
}

void SqlEffect::begin(std::span<const Claimant> batch, Timestamp received_at) { messages_.begin(batch, received_at); }

std::optional<Refusal> SqlEffect::take(std::uint32_t index) { return messages_.take(index); }

void SqlEffect::run(Transaction& whole, std::span<const std::uint32_t> indexes) {
  if (indexes.empty()) return;
  messages_.show(indexes);
  for (const Statement& statement : statements_) {
    columns_.clear();
    for (const std::uint32_t number : statement.columns) columns_.push_back(messages_.column(number));
    whole.execute_over({relation_name, columns_}, statement.sql);
  }
}

}  // namespace onceward
