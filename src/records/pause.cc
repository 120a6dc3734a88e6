#include "src/records/pause.h"

#include <fmt/format.h>

#include <stdexcept>

#include "src/envelope/derived_id.h"
#include "src/records/statement.h"
#include "src/records/steps.h"

namespace onceward::records {
namespace {

// Runs the statement with its audit entry. A commit that was not answered holds the target's row until it has ended: when
// the statement then finds nothing to change, the entry says whether that was our own doing.
bool change_audited(Store& store, const Statement& statement, const AuditEntry& entry) {
  return try_again([&] {
    const auto unit = store.begin({});
    Transaction& transaction = unit->whole();
    if (statement.run(transaction) == 0) return is_audited(transaction, store.dialect(), entry.detail);
    write_audit(transaction, store.dialect(), entry);
    if (unit->commit() == Commit::committed) return true;
    throw Fault(FaultCode::lost_race, Poisons::transaction, "it was not committed");
  });
}

AuditEntry entry_of(std::string_view action, const std::string& target, const std::string& who,
                    const std::string& why) {
  if (const std::string wrong = wrong_with_text("the target", target, most_target_bytes); !wrong.empty()) {
    throw std::invalid_argument(wrong);
  }
  if (const std::string wrong = wrong_with(who, why); !wrong.empty()) throw std::invalid_argument(wrong);
  std::string detail = "{";
  add_member(detail, "operation", fresh_id());
  add_member(detail, "target", target);
  return {who, why, fmt::format("outbox.{}", action), fmt::format("target/{}", target), detail + "}"};
}

}  // namespace

std::vector<Pause> list_pauses(Store& store) {
  const Statement select(store.dialect(), "SELECT target, {micros at}, who, why FROM {relay_paused} ORDER BY target");
  const auto look = store.look();
  std::vector<Pause> pauses;
  for (const Row& row : select.query(*look)) {
    pauses.push_back({text_in(row[0]), time_in(row[1]), text_in(row[2]), text_in(row[3])});
  }
  return pauses;
}

bool pause_target(Store& store, const std::string& target, const std::string& who, const std::string& why) {
  const AuditEntry entry = entry_of("pause", target, who, why);
  Statement insert(store.dialect(), "INSERT INTO {relay_paused} (target, at, who, why) VALUES (");
  insert.bind(target).add(", {now}, ").bind(who).add(", ").bind(why).add(") ON CONFLICT (target) DO NOTHING");
  return change_audited(store, insert, entry);
}

bool resume_target(Store& store, const std::string& target, const std::string& who, const std::string& why) {
  const AuditEntry entry = entry_of("resume", target, who, why);
  Statement remove(store.dialect(), "DELETE FROM {relay_paused} WHERE target = ");
  return change_audited(store, remove.bind(target), entry);
}

}  // namespace onceward::records
