#include "bench/floor/postgres_sql.h"

namespace onceward::bench {
namespace {

constexpr const char* payment_sql =
    "INSERT INTO payment (account, amount, currency, message)"
    " SELECT unnest($1::int8[]), unnest($2::int8[]), $3::text, unnest($4::text[])";
constexpr const char* balance_sql =
    "INSERT INTO balance (account, amount, version) SELECT unnest($1::int8[]), unnest($2::int8[]), unnest($3::int8[])"
    " ON CONFLICT (account) DO UPDATE SET amount = balance.amount + excluded.amount, version = excluded.version"
    " WHERE balance.version < excluded.version";
// The outgoing id is the inbound one: by hand nobody derives another.
constexpr const char* outbox_sql =
    "INSERT INTO onceward.outbox (staged_at, consumer, cause, aggregate_version, event_version, id, type, key, tenant,"
    " aggregate_type, aggregate_id, correlation_id, causation_id, trace_parent, content_type, headers, payload)"
    " SELECT now(), $1::int4, cause, version, NULL, id, $5::text, route, '', 'account', route, id, id, '',"
    " 'application/json', '', payload FROM (SELECT unnest($2::uuid[]) AS cause, unnest($3::int8[]) AS version,"
    " unnest($4::text[]) AS id, unnest($6::text[]) AS route, unnest($7::bytea[]) AS payload) AS given";

constexpr const char* claim_one_sql =
    "INSERT INTO onceward.inbox (key, received_at, consumer, payload_hash, tenant, producer, id)"
    " VALUES ($1, now(), $2, $3, '', $4, $5) ON CONFLICT DO NOTHING RETURNING key";
constexpr const char* look_up_one_sql = "SELECT payload_hash FROM onceward.inbox WHERE key = $1";
constexpr const char* payment_one_sql =
    "INSERT INTO payment (account, amount, currency, message) VALUES ($1, $2, $3, $4)";
constexpr const char* balance_one_sql =
    "INSERT INTO balance (account, amount, version) VALUES ($1, $2, $3)"
    " ON CONFLICT (account) DO UPDATE SET amount = balance.amount + excluded.amount, version = excluded.version"
    " WHERE balance.version < excluded.version";
constexpr const char* outbox_one_sql =
    "INSERT INTO onceward.outbox (staged_at, consumer, cause, aggregate_version, event_version, id, type, key, tenant,"
    " aggregate_type, aggregate_id, correlation_id, causation_id, trace_parent, content_type, headers, payload)"
    " VALUES (now(), $1, $2, $3, NULL, $4::text, $5, $6::text, '', 'account', $6::text, $4::text, $4::text, '',"
    " 'application/json', '', $7)";

}  // namespace

void prepare_one_by_one(Wire& wire) {
  wire.prepare("claim_one", claim_one_sql);
  wire.prepare("look_up_one", look_up_one_sql);
  wire.prepare("payment_one", payment_one_sql);
  wire.prepare("balance_one", balance_one_sql);
  wire.prepare("outbox_one", outbox_one_sql);
}

void SetWiseEffects::prepare(Wire& wire) {
  wire.prepare("payment", payment_sql);
  wire.prepare("balance", balance_sql);
  wire.prepare("outbox", outbox_sql);
}

int SetWiseEffects::send(Wire& wire, const Workload& work, std::span<const Identity> identities) {
  for (Array* array : {&accounts_, &amounts_, &messages_, &causes_, &versions_, &routes_, &payloads_}) array->clear();
  folded_.clear();
  for (const Identity& identity : identities) {
    if (!identity.first) continue;
    const Message& message = work.messages[identity.message];
    accounts_.add(message.account);
    amounts_.add(message.amount);
    messages_.add(message.id);
    causes_.add(identity.key);
    versions_.add(message.version);
    routes_.add(message.account_key);
    payloads_.add(message.outgoing);
    folded_.add(message);
  }
  if (accounts_.count() == 0) return 0;
  folded_.finish();
  for (Array* array : {&folded_accounts_, &folded_amounts_, &folded_versions_}) array->clear();
  for (const std::int64_t account : folded_.accounts()) folded_accounts_.add(account);
  for (const std::int64_t amount : folded_.amounts()) folded_amounts_.add(amount);
  for (const std::int64_t version : folded_.versions()) folded_versions_.add(version);
  wire.send("payment", {accounts_.finished(), amounts_.finished(), currency, messages_.finished()});
  wire.send("balance", {folded_accounts_.finished(), folded_amounts_.finished(), folded_versions_.finished()});
  if (!stages_) return 2;
  wire.send("outbox", {consumer_, causes_.finished(), versions_.finished(), messages_.finished(), outgoing_type,
                       routes_.finished(), payloads_.finished()});
  return 3;
}

}  // namespace onceward::bench
