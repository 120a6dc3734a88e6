#include "bench/floor/postgres_positions.h"

#include <cstring>
#include <vector>

#include "bench/floor/postgres_sql.h"
#include "bench/floor/wire.h"

namespace onceward::bench {
namespace {

constexpr const char* begin_sql =
    "INSERT INTO onceward.position (consumer, stream, epoch, begun, next)"
    " SELECT $1::int4, 'bench/' || number, 1, 1, 0 FROM generate_series(0, 3) AS number";
// How many were committed stands for each offset: what it costs is the same.
constexpr const char* move_sql = "UPDATE onceward.position SET next = $2::int8 WHERE consumer = $1::int4 AND epoch = 1";

class InPositions final : public PostgresBatches {
 public:
  InPositions(const FloorOptions& options, const Workload& work)
      : wire_(options.url), work_(work), effects_(options.consumer, options.outbox) {
    wire_.prepare("positions", begin_sql);
    wire_.prepare("begin", "BEGIN");
    wire_.prepare("move", move_sql);
    effects_.prepare(wire_);
    wire_.prepare("commit", "COMMIT");
    wire_.send("positions", {effects_.consumer()});
    wire_.flush();
    wire_.next();
    wire_.finish();
  }

  Effort effort() const override { return {wire_.trips, wire_.statements}; }

  void commit(std::span<const Index> deliveries) override {
    causes_.resize(deliveries.size());
    for (std::size_t i = 0; i < deliveries.size(); ++i) {
      std::memcpy(causes_[i].key.data(), &deliveries[i], sizeof(Index));
      causes_[i].message = deliveries[i];
      causes_[i].first = true;
    }
    committed_ += static_cast<std::int64_t>(deliveries.size());
    wire_.send("begin");
    const int effects = effects_.send(wire_, work_, causes_);
    wire_.send("move", {effects_.consumer(), binary(committed_)});
    wire_.send("commit");
    wire_.flush();
    for (int i = 0; i < effects + 3; ++i) wire_.next();
    wire_.finish();
  }

 private:
  Wire wire_;
  const Workload& work_;
  SetWiseEffects effects_;
  std::vector<Identity> causes_;
  std::int64_t committed_ = 0;
};

}  // namespace

std::unique_ptr<PostgresBatches> postgres_positions(const FloorOptions& options, const Workload& work) {
  return std::make_unique<InPositions>(options, work);
}

}  // namespace onceward::bench
