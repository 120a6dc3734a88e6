#include "src/ingress/reservation.h"

#include "src/common/sha256.h"
#include "src/envelope/derived_id.h"
#include "src/envelope/key.h"
#include "src/records/statement.h"

namespace onceward::ingress {
namespace {

using records::number_in;
using records::Statement;
using std::chrono::milliseconds;

// The time that is so far from now.
Statement& add_end(Statement& statement, milliseconds from_now, Dialect dialect) {
  statement.add("{now} + ").bind(std::int64_t{from_now.count()});
  return statement.add(dialect == Dialect::postgres ? " * interval '1 millisecond'" : " * 1000");
}

}  // namespace

Reservation::Reservation(Dialect dialect, const IngressRequest& request, const IngressOptions& options)
    : dialect_(dialect),
      request_(request),
      options_(options),
      key_(key_of_fields({"onceward/ingress/1", request.principal, request.operation, request.key})),
      hash_{sha256_of_fields({"onceward/ingress-request/1", request.content_type, request.body})},
      owner_(fresh_id()) {}

bool Reservation::insert(Transaction& transaction) const {
  Statement insert(
      dialect_,
      "INSERT INTO {ingress} (key, principal, operation, text, request_hash, began_at, owner, lease_until, "
      "expires_at) VALUES (");
  insert.bind(key_).add(", ").bind(request_.principal).add(", ").bind(request_.operation).add(", ");
  insert.bind(request_.key).add(", ").bind(hash()).add(", {now}, ").bind(owner_).add(", ");
  add_end(insert, options_.lease, dialect_).add(", ");
  add_end(insert, options_.expiry, dialect_).add(") ON CONFLICT (key) DO NOTHING");
  return insert.run(transaction) == 1;
}

// Whoever died may have done something outside of its transaction: the key stays with its request until it expires.
void Reservation::add_free(Statement& statement) const {
  statement.add("((status = 0 AND lease_until <= {now} AND request_hash = ").bind(hash());
  statement.add(") OR (expires_at <= {now} AND (status > 0 OR lease_until <= {now})))");
}

bool Reservation::take_over(Transaction& transaction) const {
  Statement update(dialect_,
                   "UPDATE {ingress} SET began_at = {now}, status = 0, content_type = '', body = NULL, owner = ");
  update.bind(owner_).add(", request_hash = ").bind(hash()).add(", lease_until = ");
  add_end(update, options_.lease, dialect_).add(", expires_at = ");
  add_end(update, options_.expiry, dialect_).add(" WHERE key = ").bind(key_).add(" AND ");
  add_free(update);
  return update.run(transaction) == 1;
}

template <class Asked>
std::optional<Found> Reservation::read(Asked& asked) const {
  Statement select(dialect_,
                   "SELECT status, content_type, body, owner, {micros lease_until} - {now_micros}, CASE WHEN ");
  add_free(select);
  select.add(" THEN 1 ELSE 0 END, CASE WHEN request_hash = ").bind(hash());
  select.add(" THEN 1 ELSE 0 END FROM {ingress} WHERE key = ").bind(key_);
  const Rows rows = select.query(asked);
  if (rows.empty() || number_in(rows[0][5]) == 1) return std::nullopt;
  const Row& row = rows[0];
  const auto status = static_cast<unsigned>(number_in(row[0]));
  using enum Found::State;
  if (number_in(row[6]) == 0) return Found{.state = other_request};
  if (status == 0 && records::text_in(row[3]) == owner_) return Found{};
  if (status == 0) return Found{.state = in_flight, .left = std::chrono::microseconds(number_in(row[4]))};
  return Found{.state = done,
               .answer = {.status = status,
                          .content_type = records::text_in(row[1]),
                          .body = records::bytes_in(row[2]),
                          .repeated = true}};
}

std::optional<Found> Reservation::look(Look& look) const { return read(look); }

Found Reservation::take(Transaction& transaction) const {
  if (insert(transaction) || take_over(transaction)) return {};
  if (auto found = read(transaction)) return *std::move(found);
  throw Fault(FaultCode::lost_race, Poisons::transaction, "the key was set free meanwhile");
}

bool Reservation::complete(Transaction& transaction, const IngressAnswer& answer) const {
  Statement update(dialect_, "UPDATE {ingress} SET lease_until = NULL, status = ");
  update.bind(std::int64_t{answer.status}).add(", content_type = ").bind(answer.content_type).add(", body = ");
  update.bind(Blob{answer.body}).add(", expires_at = ");
  add_end(update, options_.expiry, dialect_).add(" WHERE key = ").bind(key_);
  update.add(" AND status = 0 AND owner = ").bind(owner_);
  return update.run(transaction) == 1;
}

// A plain look would not see a commit that the server is still about; whoever wants the row waits for it.
Reservation::Held Reservation::held(Transaction& transaction) const {
  Statement select(dialect_, "SELECT status FROM {ingress} WHERE key = ");
  select.bind(key_).add(" AND owner = ").bind(owner_).add(" {lock}");
  const Rows rows = select.query(transaction);
  if (rows.empty()) return Held::lost;
  return number_in(rows[0][0]) > 0 ? Held::completed : Held::reserved;
}

void Reservation::forget(Transaction& transaction) const {
  Statement erase(dialect_, "DELETE FROM {ingress} WHERE key = ");
  erase.bind(key_).add(" AND status = 0 AND owner = ").bind(owner_).run(transaction);
}

void Reservation::end_lease(Transaction& transaction) const {
  Statement update(dialect_, "UPDATE {ingress} SET lease_until = {now} WHERE key = ");
  update.bind(key_).add(" AND status = 0 AND owner = ").bind(owner_).run(transaction);
}

std::int64_t forget_expired(Transaction& transaction, Dialect dialect, std::int64_t most) {
  // Chosen once: a sub-select with a limit may be run for each row, and chooses others each time.
  Statement erase(dialect,
                  "WITH gone AS MATERIALIZED (SELECT key FROM {ingress} WHERE expires_at <= {now} AND "
                  "(status > 0 OR lease_until <= {now}) ORDER BY expires_at LIMIT ");
  erase.bind(most).add(" {lock}) DELETE FROM {ingress} WHERE key IN (SELECT key FROM gone)");
  return erase.run(transaction);
}

}  // namespace onceward::ingress
