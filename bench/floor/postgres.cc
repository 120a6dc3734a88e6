#include "bench/floor/postgres.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "bench/floor/identity.h"
#include "bench/floor/postgres_sql.h"
#include "bench/floor/wire.h"

namespace onceward::bench {
namespace {

constexpr const char* claim_sql =
    "INSERT INTO onceward.inbox (key, received_at, consumer, payload_hash, tenant, producer, id)"
    " SELECT unnest($1::uuid[]), now(), $2::int4, unnest($3::bytea[]), '', $4::text, unnest($5::text[])"
    " ON CONFLICT DO NOTHING RETURNING key";
constexpr const char* look_up_sql = "SELECT key, payload_hash FROM onceward.inbox WHERE key = ANY ($1::uuid[])";

class InBatches final : public PostgresBatches {
 public:
  InBatches(const FloorOptions& options, const Workload& work)
      : wire_(options.url), work_(work), identities_(work.ids), effects_(options.consumer, options.outbox) {
    wire_.prepare("begin", "BEGIN");
    wire_.prepare("claim", claim_sql);
    wire_.prepare("look_up", look_up_sql);
    effects_.prepare(wire_);
    wire_.prepare("commit", "COMMIT");
  }

  Effort effort() const override { return {wire_.trips, wire_.statements}; }

  void commit(std::span<const Index> deliveries) override {
    const auto identities = identities_.of(work_, deliveries);
    claim(identities);
    repeats_.clear();
    for (const Identity& identity : identities) {
      if (!identity.first) repeats_.add(identity.key);
    }
    if (repeats_.count() > 0) wire_.send("look_up", {repeats_.finished()});
    const int effects = effects_.send(wire_, work_, identities);
    wire_.send("commit");
    wire_.flush();
    if (repeats_.count() > 0) compare(identities, wire_.next());
    for (int i = 0; i < effects + 1; ++i) wire_.next();
    wire_.finish();
  }

 private:
  void claim(std::span<Identity> identities) {
    keys_.clear(), hashes_.clear(), ids_.clear();
    for (const Identity& identity : identities) {
      keys_.add(identity.key);
      hashes_.add(identity.hash);
      ids_.add(work_.messages[identity.message].id);
    }
    wire_.send("begin");
    wire_.send("claim", {keys_.finished(), effects_.consumer(), hashes_.finished(), producer_name, ids_.finished()});
    wire_.flush();
    wire_.next();
    const Result claimed = wire_.next();
    wire_.finish();
    // Rows come back in the order in which they were inserted, which is that of the keys.
    int row = 0;
    const int rows = PQntuples(claimed.get());
    for (Identity& identity : identities) {
      identity.first = row < rows && std::memcmp(PQgetvalue(claimed.get(), row, 0), identity.key.data(), 16) == 0;
      if (identity.first) ++row;
    }
    if (row != rows) std::abort();
  }

  // The same identity with other content would be a conflict.
  void compare(std::span<const Identity> identities, const Result& known) {
    if (static_cast<std::size_t>(PQntuples(known.get())) != repeats_.count()) std::abort();
    const auto below = [](const Identity& identity, const char* key) {
      return std::memcmp(identity.key.data(), key, 16) < 0;
    };
    for (int row = 0; row < PQntuples(known.get()); ++row) {
      const auto found = std::lower_bound(identities.begin(), identities.end(), PQgetvalue(known.get(), row, 0), below);
      if (std::memcmp(PQgetvalue(known.get(), row, 1), found->hash.data(), 32) != 0) std::abort();
    }
  }

  Wire wire_;
  const Workload& work_;
  Identities identities_;
  SetWiseEffects effects_;
  Array keys_{Type::uuid}, hashes_{Type::bytea}, ids_{Type::text}, repeats_{Type::uuid};
};

class PostgresFloor final : public Shape {
 public:
  PostgresFloor(const FloorOptions& options, const Workload& work) : batches_(options, work), work_(work) {}

  double run(std::span<const Index> deliveries, std::size_t batch) override {
    return run_in_batches(
        deliveries, batch, [this](auto arriving) { touch(work_, arriving); },
        [this](auto mine) { batches_.commit(mine); });
  }
  Effort effort() const override { return batches_.effort(); }

 private:
  InBatches batches_;
  const Workload& work_;
};

}  // namespace

std::unique_ptr<PostgresBatches> postgres_batches(const FloorOptions& options, const Workload& work) {
  return std::make_unique<InBatches>(options, work);
}

std::unique_ptr<Shape> postgres_floor(const FloorOptions& options, const Workload& work) {
  return std::make_unique<PostgresFloor>(options, work);
}

}  // namespace onceward::bench
