#include "adapters/sqlite/waiting.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "adapters/sqlite/schema.h"
#include "src/common/limits.h"
#include "src/quarantine/kept_envelope.h"

namespace onceward::sqlite {
namespace {

constexpr std::string_view insert_attempt =
    "INSERT INTO onceward_attempt (at, key, kind, code) SELECT ?1, c0, c1, c2 FROM onceward_rows";
constexpr std::string_view count_used =
    "SELECT max(0, coalesce(sum(CASE kind WHEN 'void' THEN -1 ELSE 1 END), 0)) FROM onceward_attempt WHERE key = ?1 AND "
    "number > (SELECT coalesce(max(number), 0) FROM onceward_attempt WHERE key = ?1 AND kind = 'reset')";
constexpr std::string_view find_waiting =
    "SELECT o.next_attempt_at, o.key, b.envelope, b.payload FROM onceward_inbox_outcome o JOIN onceward_inbox_body b "
    "ON b.key = o.key WHERE o.consumer = ?1 AND o.state IN (2, 5) AND o.next_attempt_at IS NOT NULL "
    "ORDER BY o.next_attempt_at LIMIT 1";
constexpr std::string_view find_due =
    "SELECT o.key, b.envelope, b.payload FROM onceward_inbox_outcome o JOIN onceward_inbox_body b ON b.key = o.key "
    "WHERE o.consumer = ?1 AND o.state = 5 AND o.next_attempt_at <= ?2 ORDER BY o.next_attempt_at LIMIT ?3";
constexpr std::string_view find_sent_again =
    "SELECT retry_at, number, attempts, envelope, payload FROM onceward_quarantine WHERE consumer = ?1 AND "
    "state = 'retrying' AND key IS NULL AND retry_at IS NOT NULL ORDER BY retry_at LIMIT 1";
// Each the first of its index: what waits may be much.
constexpr std::string_view find_next =
    "SELECT min(due) FROM (SELECT * FROM (SELECT o.next_attempt_at AS due FROM onceward_inbox_outcome o "
    "JOIN onceward_inbox_body b ON b.key = o.key WHERE o.consumer = ?1 AND o.state IN (2, 5) AND o.next_attempt_at IS NOT NULL "
    "ORDER BY o.next_attempt_at LIMIT 1) UNION ALL SELECT * FROM (SELECT retry_at FROM onceward_quarantine "
    "WHERE consumer = ?1 AND state = 'retrying' AND key IS NULL AND retry_at IS NOT NULL ORDER BY retry_at LIMIT 1))";
constexpr std::string_view lease_waiting =
    "UPDATE onceward_inbox_outcome SET state = 2, next_attempt_at = ?2, recorded_at = ?3 WHERE key = ?1";
constexpr std::string_view lease_sent_again =
    "UPDATE onceward_quarantine SET retry_at = ?2, attempts = attempts + 1 WHERE number = ?1";
constexpr std::string_view find_held = "SELECT 1 FROM onceward_inbox_outcome WHERE key = ?1 AND state IN (2, 5)";
constexpr std::string_view delete_outcome = "DELETE FROM onceward_inbox_outcome WHERE key = ?1";
constexpr std::string_view update_outcome =
    "UPDATE onceward_inbox_outcome SET state = ?2, code = ?3, result = ?4, next_attempt_at = ?5, recorded_at = ?6 "
    "WHERE key = ?1";
constexpr std::string_view delete_body = "DELETE FROM onceward_inbox_body WHERE key = ?1";
constexpr std::string_view resolve_key =
    "UPDATE onceward_quarantine SET state = 'resolved', retry_at = NULL WHERE key = ?1 AND state = 'retrying'";
constexpr std::string_view resolve_number =
    "UPDATE onceward_quarantine SET state = 'resolved', retry_at = NULL WHERE number = ?1 AND state = 'retrying'";

class AttemptRows final : public RowSource {
 public:
  explicit AttemptRows(std::span<const AttemptRow> rows) : rows_(rows) {}
  std::size_t size() const override { return rows_.size(); }

  void column(sqlite3_context* context, std::size_t row, int column) const override {
    switch (column) {
      case 0:
        return answer(context, rows_[row].message);
      case 1:
        return answer(context, kind_of(rows_[row].attempt));
      case 2:
        return answer(context, rows_[row].code);
      default:
        return;
    }
  }

 private:
  std::span<const AttemptRow> rows_;
};

// The next that waits, due or not, and when it is.
struct Waiting {
  std::int64_t due_microseconds;
  Kept kept;
};

std::optional<Waiting> first_waiting(Connection& connection, std::int32_t consumer) {
  std::optional<Waiting> found;
  Statement& find = connection.own(find_waiting);
  find.bind(1, std::int64_t{consumer});
  find.each([&](sqlite3_stmt* row) {
    found = Waiting{sqlite3_column_int64(row, 0), {read_kept(text_at(row, 2), bytes_at(row, 3)), Key{}, 0, 0}};
    std::memcpy(found->kept.key->bytes.data(), bytes_at(row, 1).data(), sizeof(Key::bytes));
  });
  return found;
}

std::optional<Waiting> first_sent_again(Connection& connection, std::int32_t consumer) {
  std::optional<Waiting> found;
  Statement& find = connection.own(find_sent_again);
  find.bind(1, std::int64_t{consumer});
  find.each([&](sqlite3_stmt* row) {
    found = Waiting{sqlite3_column_int64(row, 0),
                    {read_kept(text_at(row, 3), bytes_at(row, 4)), std::nullopt, sqlite3_column_int64(row, 1),
                     sqlite3_column_int(row, 2)}};
  });
  return found;
}

std::optional<Waiting> first_of(Connection& connection, std::int32_t consumer) {
  auto waiting = first_waiting(connection, consumer);
  auto sent_again = first_sent_again(connection, consumer);
  if (!waiting) return sent_again;
  if (!sent_again) return waiting;
  return waiting->due_microseconds <= sent_again->due_microseconds ? std::move(waiting) : std::move(sent_again);
}

void run_for(Connection& connection, std::string_view sql, const auto& identity) {
  Statement& statement = connection.own(sql);
  statement.bind(1, identity);
  statement.run();
}

}  // namespace

void write_attempts(Connection& connection, std::span<const AttemptRow> rows, const Stamp& stamp) {
  if (rows.empty()) return;
  run_over(connection, insert_attempt, AttemptRows(rows),
           [&](Statement& insert) { insert.bind(1, stamp.at_microseconds); });
}

std::vector<int> used_attempts(Connection& connection, std::span<const Key> messages) {
  std::vector<int> used;
  used.reserve(messages.size());
  for (const Key& message : messages) {
    Statement& count = connection.own(count_used);
    count.bind(1, message);
    count.each([&](sqlite3_stmt* row) { used.push_back(sqlite3_column_int(row, 0)); });
  }
  return used;
}

std::vector<Kept> take_due(Connection& connection, std::int32_t consumer, std::size_t most,
                           std::chrono::milliseconds lease) {
  const std::int64_t now = now_microseconds();
  std::vector<Kept> due;
  Statement& find = connection.own(find_due);
  find.bind(1, std::int64_t{consumer});
  find.bind(2, now);
  find.bind(3, static_cast<std::int64_t>(most));
  std::size_t bytes = 0;
  find.each_while([&](sqlite3_stmt* row) {
    Kept& kept = due.emplace_back(Kept{read_kept(text_at(row, 1), bytes_at(row, 2)), Key{}, 0, 0});
    std::memcpy(kept.key->bytes.data(), bytes_at(row, 0).data(), sizeof(Key::bytes));
    bytes += kept.envelope.payload().size();
    return bytes < most_bytes_together;
  });
  for (Kept& kept : due) {
    Statement& push_forward = connection.own(lease_waiting);
    push_forward.bind(1, *kept.key);
    push_forward.bind(2, now + std::chrono::microseconds(lease).count());
    push_forward.bind(3, now);
    push_forward.run();
    kept.attempts = used_attempts(connection, std::span(&*kept.key, 1)).front();
  }
  return due;
}

std::optional<Kept> start_due(Connection& connection, std::int32_t consumer, std::chrono::milliseconds lease) {
  const std::int64_t now = now_microseconds();
  auto next = first_of(connection, consumer);
  if (!next || next->due_microseconds > now) return std::nullopt;
  Kept& kept = next->kept;
  Statement& push_forward = connection.own(kept.key ? lease_waiting : lease_sent_again);
  kept.key ? push_forward.bind(1, *kept.key) : push_forward.bind(1, kept.quarantine);
  push_forward.bind(2, now + std::chrono::microseconds(lease).count());
  if (kept.key) push_forward.bind(3, now);
  push_forward.run();
  if (kept.key) {
    write_attempts(connection, std::array{AttemptRow{*kept.key, Attempt::start, {}}}, {consumer, now});
    kept.attempts = used_attempts(connection, std::span(&*kept.key, 1)).front();
  } else {
    ++kept.attempts;
  }
  return std::move(kept);
}

std::optional<std::chrono::milliseconds> next_due(Connection& connection, std::int32_t consumer) {
  std::optional<std::chrono::milliseconds> left;
  Statement& find = connection.own(find_next);
  find.bind(1, std::int64_t{consumer});
  find.each([&](sqlite3_stmt* row) {
    if (sqlite3_column_type(row, 0) == SQLITE_NULL) return;
    const std::chrono::microseconds until(sqlite3_column_int64(row, 0) - now_microseconds());
    left = std::max(std::chrono::milliseconds(0), std::chrono::ceil<std::chrono::milliseconds>(until));
  });
  return left;
}

bool waits(Connection& connection, const Key& message) {
  bool found = false;
  Statement& find = connection.own(find_held);
  find.bind(1, message);
  find.each([&](sqlite3_stmt*) { found = true; });
  return found;
}

void write_replacement(Connection& connection, const OutcomeRow& row, const Stamp& stamp) {
  const Key& key = row.claimant->key;
  if (row.recorded == Recorded{}) {
    run_for(connection, delete_outcome, key);
  } else {
    Statement& update = connection.own(update_outcome);
    update.bind(1, key);
    update.bind(2, static_cast<std::int64_t>(row.recorded.state));
    update.bind(3, row.recorded.code);
    update.bind(4, Blob{row.recorded.result});
    update.bind_null(5);
    if (row.retry_after) {
      update.bind(5, stamp.at_microseconds + std::chrono::microseconds(*row.retry_after).count());
    }
    update.bind(6, stamp.at_microseconds);
    update.run();
  }
  if (!row.keeps_body()) run_for(connection, delete_body, key);
  if (!row.retry_after) run_for(connection, resolve_key, key);
}

void write_resolved(Connection& connection, std::span<const std::int64_t> numbers) {
  for (const std::int64_t number : numbers) run_for(connection, resolve_number, number);
}

}  // namespace onceward::sqlite
