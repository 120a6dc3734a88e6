#include "adapters/sqlite/tables.h"

#include "adapters/sqlite/waiting.h"

#include <algorithm>
#include <cstring>

#include "src/quarantine/kept_envelope.h"
#include "src/unit/faults.h"

namespace onceward::sqlite {
namespace {

constexpr std::string_view insert_inbox =
    "INSERT INTO onceward_inbox (key, received_at, consumer, payload_hash, tenant, producer, id) "
    "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (key) DO NOTHING";
constexpr std::string_view insert_operation =
    "INSERT INTO onceward_operation (key, consumer, message, payload_hash, text) VALUES (?1, ?2, ?3, ?4, ?5) "
    "ON CONFLICT (key) DO NOTHING";
constexpr std::string_view find_message =
    "SELECT i.tenant, i.producer, i.id, i.payload_hash, o.state, o.code, o.result, o.original "
    "FROM onceward_inbox i LEFT JOIN onceward_inbox_outcome o ON o.key = i.key WHERE i.key = ?1";
constexpr std::string_view find_operation =
    "SELECT p.text, p.message, p.payload_hash, o.state, o.code, o.result, o.original "
    "FROM onceward_operation p LEFT JOIN onceward_inbox_outcome o ON o.key = p.message WHERE p.key = ?1";
constexpr std::string_view insert_outcome =
    "INSERT INTO onceward_inbox_outcome (key, consumer, state, code, result, original, next_attempt_at, recorded_at) "
    "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
constexpr std::string_view insert_body =
    "INSERT INTO onceward_inbox_body (key, envelope, payload, kept_at) VALUES (?1, ?2, ?3, ?4)";
constexpr std::string_view insert_parked =
    "INSERT INTO onceward_quarantine (parked_at, consumer, fingerprint, reason, detail, tenant, producer, id, envelope, "
    "payload, key, attempts) SELECT ?1, c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10 FROM onceward_rows WHERE true "
    "ON CONFLICT (fingerprint) DO UPDATE SET state = 'parked', parked_at = excluded.parked_at, "
    "detail = excluded.detail, key = coalesce(excluded.key, key), retry_at = NULL, "
    "attempts = CASE WHEN excluded.key IS NULL THEN attempts ELSE excluded.attempts END WHERE state <> 'parked'";
constexpr std::string_view insert_outbox =
    "INSERT INTO onceward_outbox (staged_at, consumer, cause, aggregate_version, event_version, id, type, key, tenant, "
    "aggregate_type, aggregate_id, correlation_id, causation_id, trace_parent, content_type, headers, payload) "
    "SELECT ?1, ?2, c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14 FROM onceward_rows";
constexpr std::string_view insert_fact =
    "INSERT INTO onceward_outbox_fact (fact, id) VALUES (?1, ?2) ON CONFLICT (fact) DO NOTHING";
constexpr std::string_view insert_call =
    "INSERT INTO onceward_ledger (key, created_at, not_before, consumer, cause, request_hash, endpoint, "
    "idempotency_key, type, business_key, tenant, correlation_id, trace_parent, body, state, due_at, requested_by) "
    "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, max(?2, coalesce(?3, 0)), ?16) "
    "ON CONFLICT (key) DO NOTHING";
constexpr std::string_view end_call =
    "UPDATE onceward_ledger SET state = 'cancelled', due_at = NULL, ended_at = ?2, code = 'cancelled', detail = '', "
    "decided_by = ?3 WHERE key = ?1 AND state IN ('planned', 'waiting', 'approved')";
constexpr std::string_view find_state = "SELECT state FROM onceward_ledger WHERE key = ?1";
constexpr std::string_view find_call = "SELECT request_hash FROM onceward_ledger WHERE key = ?1";

// A column of fixed width.
template <class Fixed>
Fixed fixed_at(sqlite3_stmt* row, int column) {
  Fixed value;
  const std::string_view bytes = bytes_at(row, column);
  if (!bytes.empty()) std::memcpy(value.bytes.data(), bytes.data(), std::min(bytes.size(), value.bytes.size()));
  return value;
}

bool is_null(sqlite3_stmt* row, int column) { return sqlite3_column_type(row, column) == SQLITE_NULL; }

// state, code, result, original from `column` on; no outcome row means processed.
Recorded recorded_at(sqlite3_stmt* row, int column) {
  if (is_null(row, column)) return {};
  Recorded recorded{static_cast<State>(sqlite3_column_int(row, column)), std::string(text_at(row, column + 1)),
                    std::string(bytes_at(row, column + 2)), std::nullopt};
  if (!is_null(row, column + 3)) recorded.original = fixed_at<Key>(row, column + 3);
  return recorded;
}

void bind_optional(Statement& statement, int at, const auto& value) {
  value ? statement.bind(at, *value) : statement.bind_null(at);
}

// Each message into the inbox; `done` is told whether it was new.
template <class Done>
void insert_messages(Connection& connection, std::size_t count, const Stamp& stamp, auto&& claimant_at, Done&& done) {
  Statement& insert = connection.own(insert_inbox);
  insert.bind(2, stamp.at_microseconds);
  insert.bind(3, std::int64_t{stamp.consumer});
  // Most batches have one tenant and one producer.
  std::optional<std::string_view> tenant, producer;
  const auto bind_other = [&insert](int at, std::optional<std::string_view>& bound, std::string_view text) {
    if (bound == text) return;
    insert.bind(at, text);
    bound = text;
  };
  for (std::size_t at = 0; at < count; ++at) {
    const Claimant& claimant = claimant_at(at);
    insert.bind(1, claimant.key);
    insert.bind(4, claimant.payload_hash);
    bind_other(5, tenant, claimant.tenant.text());
    bind_other(6, producer, claimant.producer.text());
    insert.bind(7, claimant.id);
    done(at, insert.run() > 0);
  }
}

void claim_identities(Connection& connection, Batch& batch, const Stamp& stamp) {
  const auto to_claim = batch.to_claim();
  insert_messages(
      connection, to_claim.size(), stamp,
      [&](std::size_t at) -> const Claimant& { return batch.claimants()[to_claim[at]]; },
      [&](std::size_t at, bool is_new) {
        if (is_new) batch.claimed(to_claim[at]);
      });
}

void claim_operations(Connection& connection, Batch& batch, const Stamp& stamp) {
  const auto operations = batch.operations_to_claim();
  if (operations.empty()) return;
  Statement& insert = connection.own(insert_operation);
  insert.bind(2, std::int64_t{stamp.consumer});
  for (const Batch::Index index : operations) {
    const Claimant& claimant = batch.claimants()[index];
    insert.bind(1, claimant.operation->key);
    insert.bind(3, claimant.key);
    insert.bind(4, claimant.payload_hash);
    insert.bind(5, claimant.operation->text);
    if (insert.run() > 0) batch.operation_claimed(index);
  }
}

class OutboxRows final : public RowSource {
 public:
  explicit OutboxRows(std::span<const StagedOutgoing> rows) : rows_(rows) {}
  std::size_t size() const override { return rows_.size(); }

  void column(sqlite3_context* context, std::size_t row, int column) const override {
    const StagedOutgoing& staged = rows_[row];
    const Outgoing& message = staged.message;
    switch (column) {
      case 0:
        if (staged.cause != no_cause) sqlite::answer(context, staged.cause_key);
        return;
      case 1:
        return answer(context, message.aggregate_version);
      case 2:
        return answer(context, message.event_version);
      case 3:
        return sqlite::answer(context, message.id);
      case 4:
        return sqlite::answer(context, message.type);
      case 5:
        return sqlite::answer(context, message.key);
      case 6:
        return sqlite::answer(context, staged.tenant);
      case 7:
        return sqlite::answer(context, message.aggregate_type);
      case 8:
        return sqlite::answer(context, message.aggregate_id);
      case 9:
        return sqlite::answer(context, staged.correlation_id);
      case 10:
        return sqlite::answer(context, staged.causation_id);
      case 11:
        return sqlite::answer(context, staged.trace_parent);
      case 12:
        return sqlite::answer(context, message.content_type);
      case 13:
        return sqlite::answer(context, staged.headers_json);
      case 14:
        return sqlite::answer(context, Blob{message.payload});
      default:
        return;
    }
  }

 private:
  static void answer(sqlite3_context* context, const std::optional<std::int64_t>& number) {
    if (number) sqlite3_result_int64(context, *number);
  }

  std::span<const StagedOutgoing> rows_;
};

class ParkedRows final : public RowSource {
 public:
  // `attempts` that each has used.
  ParkedRows(std::span<const Parked* const> rows, std::span<const int> attempts) : rows_(rows), attempts_(attempts) {}
  std::size_t size() const override { return rows_.size(); }

  void column(sqlite3_context* context, std::size_t row, int column) const override {
    const Parked& parked = *rows_[row];
    switch (column) {
      case 0:
        return sqlite3_result_int(context, parked.consumer);
      case 1:
        return answer(context, parked.fingerprint);
      case 2:
        return answer(context, parked.reason);
      case 3:
        return answer(context, parked.detail);
      case 4:
        return answer(context, parked.tenant);
      case 5:
        return answer(context, parked.producer);
      case 6:
        return answer(context, parked.id);
      case 7:
        return answer(context, parked.envelope);
      case 8:
        return answer(context, Blob{parked.payload});
      case 9:
        if (parked.key) answer(context, *parked.key);
        return;
      case 10:
        return sqlite3_result_int(context, attempts_[row]);
      default:
        return;
    }
  }

 private:
  std::span<const Parked* const> rows_;
  std::span<const int> attempts_;
};

void write_facts(Connection& connection, std::span<const StagedOutgoing> rows, std::optional<Key>& refused) {
  for (const StagedOutgoing& row : rows) {
    if (!row.message.unique_fact) continue;
    Statement& insert = connection.own(insert_fact);
    insert.bind(1, row.fact);
    insert.bind(2, row.message.id);
    if (insert.run() > 0) continue;
    refused = row.fact;
    throw fact_exists({});
  }
}

// A second intent under one key is the same intent, unless it asks for something else.
void check_same_call(Connection& connection, const StagedCall& row, std::optional<Key>& refused) {
  Statement& find = connection.own(find_call);
  find.bind(1, row.key);
  find.each([&](sqlite3_stmt* known) {
    if (fixed_at<PayloadHash>(known, 0) == row.request_hash) return;
    refused = row.key;
    throw call_conflict();
  });
}

}  // namespace

void look_up(Connection& connection, Batch& batch) {
  for (const Batch::Index index : batch.to_look_up()) {
    Statement& find = connection.own(find_message);
    find.bind(1, batch.claimants()[index].key);
    find.each([&](sqlite3_stmt* row) {
      batch.known(index, {text_at(row, 0), text_at(row, 1), text_at(row, 2), fixed_at<PayloadHash>(row, 3),
                          recorded_at(row, 4)});
    });
  }
  for (const Batch::Index index : batch.operations_to_look_up()) {
    Statement& find = connection.own(find_operation);
    find.bind(1, batch.claimants()[index].operation->key);
    find.each([&](sqlite3_stmt* row) {
      batch.known_operation(index, {std::string(text_at(row, 0)), fixed_at<Key>(row, 1), fixed_at<PayloadHash>(row, 2),
                                    recorded_at(row, 3)});
    });
  }
}

void claim(Connection& connection, Batch& batch, const Stamp& stamp) {
  claim_identities(connection, batch, stamp);
  claim_operations(connection, batch, stamp);
  look_up(connection, batch);
}

// A row that is there already is an index that disagrees with the streams.
void write_unseen(Connection& connection, std::span<const OutcomeRow> rows, const Stamp& stamp) {
  insert_messages(
      connection, rows.size(), stamp, [&](std::size_t at) -> const Claimant& { return *rows[at].claimant; },
      [](std::size_t, bool is_new) {
        if (!is_new) throw refused("a position that was not passed has a row in the inbox");
      });
}

void write_outcomes(Connection& connection, std::span<const OutcomeRow> rows, const Stamp& stamp) {
  if (rows.empty()) return;
  Statement& insert = connection.own(insert_outcome);
  insert.bind(2, std::int64_t{stamp.consumer});
  insert.bind(8, stamp.at_microseconds);
  for (const OutcomeRow& row : rows) {
    insert.bind(1, row.claimant->key);
    insert.bind(3, static_cast<std::int64_t>(row.recorded.state));
    insert.bind(4, row.recorded.code);
    insert.bind(5, Blob{row.recorded.result});
    bind_optional(insert, 6, row.recorded.original);
    std::optional<std::int64_t> next;
    if (row.retry_after) next = stamp.at_microseconds + std::chrono::microseconds(*row.retry_after).count();
    bind_optional(insert, 7, next);
    insert.run();
  }
}

void write_bodies(Connection& connection, std::span<const OutcomeRow> rows, const Stamp& stamp) {
  if (rows.empty()) return;
  Statement& insert = connection.own(insert_body);
  insert.bind(4, stamp.at_microseconds);
  for (const OutcomeRow& row : rows) {
    if (!row.keeps_body()) continue;
    const std::string envelope = kept_envelope(*row.claimant->envelope);
    insert.bind(1, row.claimant->key);
    insert.bind(2, envelope);
    insert.bind(3, Blob{row.claimant->envelope->payload()});
    insert.run();
  }
}

void write_parked(Connection& connection, std::span<const Parked* const> rows, const Stamp& stamp) {
  if (rows.empty()) return;
  std::vector<int> attempts;
  for (const Parked* const row : rows) {
    attempts.push_back(row->key ? used_attempts(connection, std::span(&*row->key, 1)).front() : 0);
  }
  run_over(connection, insert_parked, ParkedRows(rows, attempts),
           [&](Statement& insert) { insert.bind(1, stamp.at_microseconds); });
}

void write_outbox(Connection& connection, std::span<const StagedOutgoing> rows, const Stamp& stamp,
                  std::optional<Key>& refused) {
  if (rows.empty()) return;
  write_facts(connection, rows, refused);
  run_over(connection, insert_outbox, OutboxRows(rows), [&](Statement& insert) {
    insert.bind(1, stamp.at_microseconds);
    insert.bind(2, std::int64_t{stamp.consumer});
  });
}

void write_calls(Connection& connection, std::span<const StagedCall> rows, const Stamp& stamp,
                 std::optional<Key>& refused, std::vector<Repeats>& repeats) {
  if (rows.empty()) return;
  Statement& insert = connection.own(insert_call);
  insert.bind(2, stamp.at_microseconds);
  insert.bind(4, std::int64_t{stamp.consumer});
  for (const StagedCall& row : rows) {
    std::optional<std::int64_t> not_before;
    if (row.call.not_before) not_before = row.call.not_before->time_since_epoch().count();
    insert.bind(1, row.key);
    bind_optional(insert, 3, not_before);
    row.cause == no_cause ? insert.bind_null(5) : insert.bind(5, row.cause_key);
    insert.bind(6, row.request_hash);
    insert.bind(7, row.call.endpoint);
    insert.bind(8, row.call.key);
    insert.bind(9, row.call.type);
    insert.bind(10, row.call.business_key);
    insert.bind(11, row.tenant);
    insert.bind(12, row.correlation_id);
    insert.bind(13, row.trace_parent);
    insert.bind(14, Blob{row.call.body});
    insert.bind(15, row.call.approval ? std::string_view("waiting") : std::string_view("planned"));
    insert.bind(16, row.call.requested_by);
    if (insert.run() > 0) continue;
    check_same_call(connection, row, refused);
    repeats.push_back({std::string(row.call.endpoint), 1});
  }
}

Cancelled cancel_call(Connection& connection, const Key& call, std::string_view who, const Stamp& stamp) {
  Statement& end = connection.own(end_call);
  end.bind(1, call);
  end.bind(2, stamp.at_microseconds);
  end.bind(3, who);
  if (end.run() > 0) return Cancelled::cancelled;
  Cancelled answer = Cancelled::not_found;
  Statement& find = connection.own(find_state);
  find.bind(1, call);
  find.each(
      [&](sqlite3_stmt* row) { answer = text_at(row, 0) == "cancelled" ? Cancelled::cancelled : Cancelled::too_late; });
  return answer;
}

}  // namespace onceward::sqlite
