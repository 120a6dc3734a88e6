#include "bench/floor/postgres_others.h"

#include <algorithm>
#include <cstdlib>

#include "bench/floor/identity.h"
#include "bench/floor/postgres_sql.h"
#include "bench/floor/wire.h"

namespace onceward::bench {
namespace {

class Batched : public Shape {
 public:
  Batched(const FloorOptions& options, const Workload& work)
      : wire_(options.url), work_(work), consumer_(binary(options.consumer)), identities_(work.ids) {
    wire_.prepare("begin", "BEGIN");
    wire_.prepare("commit", "COMMIT");
  }
  double run(std::span<const Index> deliveries, std::size_t batch) final {
    return run_in_batches(
        deliveries, batch, [this](auto arriving) { touch(work_, arriving); },
        [this](auto mine) { run_batch(identities_.of(work_, mine)); });
  }
  Effort effort() const final { return {wire_.trips, wire_.statements}; }

 protected:
  virtual void run_batch(std::span<Identity> identities) = 0;
  void drop_results(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) wire_.next();
    wire_.finish();
  }

  Wire wire_;
  const Workload& work_;
  std::string consumer_;

 private:
  Identities identities_;
};

class LookUpFirst final : public Batched {
 public:
  LookUpFirst(const FloorOptions& options, const Workload& work) : Batched(options, work), effects_(options.consumer) {
    wire_.prepare("look_up", "SELECT key, payload_hash FROM onceward.inbox WHERE key = ANY ($1::uuid[]) ORDER BY key");
    wire_.prepare("insert",
                  "INSERT INTO onceward.inbox (key, received_at, consumer, payload_hash, tenant, producer, id)"
                  " SELECT unnest($1::uuid[]), now(), $2::int4, unnest($3::bytea[]), '', $4::text, unnest($5::text[])");
    effects_.prepare(wire_);
  }

 private:
  void run_batch(std::span<Identity> identities) override {
    look_up(identities);
    keys_.clear(), hashes_.clear(), ids_.clear();
    for (const Identity& identity : identities) {
      if (!identity.first) continue;
      keys_.add(identity.key);
      hashes_.add(identity.hash);
      ids_.add(work_.messages[identity.message].id);
    }
    wire_.send("insert", {keys_.finished(), consumer_, hashes_.finished(), producer_name, ids_.finished()});
    const int effects = effects_.send(wire_, work_, identities);
    wire_.send("commit");
    wire_.flush();
    drop_results(1 + effects + 1);
  }

  void look_up(std::span<Identity> identities) {
    keys_.clear();
    for (const Identity& identity : identities) keys_.add(identity.key);
    wire_.send("begin");
    wire_.send("look_up", {keys_.finished()});
    wire_.flush();
    wire_.next();
    const Result known = wire_.next();
    wire_.finish();
    int row = 0;
    for (Identity& identity : identities) {
      if (row == PQntuples(known.get())) break;
      if (std::memcmp(PQgetvalue(known.get(), row, 0), identity.key.data(), 16) != 0) continue;
      identity.first = false;
      if (std::memcmp(PQgetvalue(known.get(), row, 1), identity.hash.data(), 32) != 0) std::abort();
      ++row;
    }
    if (row != PQntuples(known.get())) std::abort();
  }

  SetWiseEffects effects_;
  Array keys_{Type::uuid}, hashes_{Type::bytea}, ids_{Type::text};
};

constexpr const char* one_statement_sql = R"sql(
WITH given AS (
  SELECT unnest($1::uuid[]) AS key, unnest($2::bytea[]) AS hash, unnest($3::text[]) AS id,
         unnest($4::int8[]) AS account, unnest($5::int8[]) AS amount, unnest($6::int8[]) AS version,
         unnest($7::text[]) AS route, unnest($8::bytea[]) AS outgoing),
claimed AS (
  INSERT INTO onceward.inbox (key, received_at, consumer, payload_hash, tenant, producer, id)
  SELECT key, now(), $9::int4, hash, '', $10::text, id FROM given ON CONFLICT DO NOTHING RETURNING key),
fresh AS (SELECT given.* FROM given JOIN claimed USING (key)),
paid AS (
  INSERT INTO payment (account, amount, currency, message) SELECT account, amount, $11::text, id FROM fresh),
balanced AS (
  INSERT INTO balance (account, amount, version)
  SELECT account, sum(amount)::int8, max(version) FROM fresh GROUP BY account
  ON CONFLICT (account) DO UPDATE SET amount = balance.amount + excluded.amount, version = excluded.version
  WHERE balance.version < excluded.version)
INSERT INTO onceward.outbox (staged_at, consumer, cause, aggregate_version, event_version, id, type, key, tenant,
  aggregate_type, aggregate_id, correlation_id, causation_id, trace_parent, content_type, headers, payload)
SELECT now(), $9::int4, key, version, NULL, id, $12::text, route, '', 'account', route, id, id, '',
  'application/json', '', outgoing FROM fresh
)sql";

class OneStatement final : public Batched {
 public:
  OneStatement(const FloorOptions& options, const Workload& work) : Batched(options, work) {
    wire_.prepare("everything", one_statement_sql);
  }

 private:
  void run_batch(std::span<Identity> identities) override {
    for (Array* array : {&keys_, &hashes_, &ids_, &accounts_, &amounts_, &versions_, &routes_, &outgoing_}) {
      array->clear();
    }
    for (const Identity& identity : identities) {
      const Message& message = work_.messages[identity.message];
      keys_.add(identity.key);
      hashes_.add(identity.hash);
      ids_.add(message.id);
      accounts_.add(message.account);
      amounts_.add(message.amount);
      versions_.add(message.version);
      routes_.add(message.account_key);
      outgoing_.add(message.outgoing);
    }
    wire_.send("everything", {keys_.finished(), hashes_.finished(), ids_.finished(), accounts_.finished(),
                              amounts_.finished(), versions_.finished(), routes_.finished(), outgoing_.finished(),
                              consumer_, producer_name, currency, outgoing_type});
    wire_.flush();
    drop_results(1);
  }

  Array keys_{Type::uuid}, hashes_{Type::bytea}, ids_{Type::text}, accounts_{Type::int8}, amounts_{Type::int8},
      versions_{Type::int8}, routes_{Type::text}, outgoing_{Type::bytea};
};

class RowByRow final : public Batched {
 public:
  RowByRow(const FloorOptions& options, const Workload& work) : Batched(options, work) { prepare_one_by_one(wire_); }

 private:
  void run_batch(std::span<Identity> identities) override {
    wire_.send("begin");
    for (const Identity& identity : identities) {
      wire_.send("claim_one", {view(identity.key), consumer_, view(identity.hash), producer_name,
                               work_.messages[identity.message].id});
    }
    wire_.flush();
    wire_.next();
    for (Identity& identity : identities) identity.first = PQntuples(wire_.next().get()) == 1;
    wire_.finish();
    // One by one the balances must rise in the order of the messages.
    std::sort(identities.begin(), identities.end(),
              [](const Identity& a, const Identity& b) { return a.message < b.message; });
    for (const Identity& identity : identities) send_effects(identity);
    wire_.send("commit");
    wire_.flush();
    for (const Identity& identity : identities) take_effects(identity);
    drop_results(1);
  }

  void send_effects(const Identity& identity) {
    if (!identity.first) {
      wire_.send("look_up_one", {view(identity.key)});
      return;
    }
    const Message& message = work_.messages[identity.message];
    const std::string account = binary(message.account);
    const std::string amount = binary(message.amount);
    const std::string version = binary(message.version);
    wire_.send("payment_one", {account, amount, currency, message.id});
    wire_.send("balance_one", {account, amount, version});
    wire_.send("outbox_one", {consumer_, view(identity.key), version, message.id, outgoing_type, message.account_key,
                              message.outgoing});
  }

  void take_effects(const Identity& identity) {
    const Result result = wire_.next();
    if (!identity.first) {
      if (std::memcmp(PQgetvalue(result.get(), 0, 0), identity.hash.data(), 32) != 0) std::abort();
      return;
    }
    wire_.next();
    wire_.next();
  }
};

}  // namespace

std::unique_ptr<Shape> postgres_look_up_first(const FloorOptions& options, const Workload& work) {
  return std::make_unique<LookUpFirst>(options, work);
}
std::unique_ptr<Shape> postgres_one_statement(const FloorOptions& options, const Workload& work) {
  return std::make_unique<OneStatement>(options, work);
}
std::unique_ptr<Shape> postgres_row_by_row(const FloorOptions& options, const Workload& work) {
  return std::make_unique<RowByRow>(options, work);
}

}  // namespace onceward::bench
