#include "bench/floor/postgres_each.h"

#include <cstdlib>
#include <thread>
#include <vector>

#include "bench/floor/identity.h"
#include "bench/floor/postgres_sql.h"
#include "bench/floor/wire.h"

namespace onceward::bench {
namespace {

class Consumer final : public PostgresBatches {
 public:
  Consumer(const FloorOptions& options, const Workload& work)
      : wire_(options.url, Wire::Mode::plain), work_(work), identities_(work.ids), consumer_(binary(options.consumer)) {
    wire_.prepare("begin", "BEGIN");
    prepare_one_by_one(wire_);
    wire_.prepare("commit", "COMMIT");
  }

  void commit(std::span<const Index> deliveries) override {
    for (const Index index : deliveries) process(index);
  }
  Effort effort() const override { return {wire_.trips, wire_.statements}; }

  void process(Index index) {
    const Message& message = work_.messages[index];
    const Identity identity = identities_.of(message);
    const std::string_view key = view(identity.key);
    wire_.execute("begin");
    const Result claimed = wire_.execute("claim_one", {key, consumer_, view(identity.hash), producer_name, message.id});
    if (PQntuples(claimed.get()) == 1) {
      const std::string account = binary(message.account);
      const std::string amount = binary(message.amount);
      const std::string version = binary(message.version);
      wire_.execute("payment_one", {account, amount, currency, message.id});
      wire_.execute("balance_one", {account, amount, version});
      wire_.execute("outbox_one",
                    {consumer_, key, version, message.id, outgoing_type, message.account_key, message.outgoing});
    } else {
      const Result known = wire_.execute("look_up_one", {key});
      if (std::memcmp(PQgetvalue(known.get(), 0, 0), identity.hash.data(), 32) != 0) std::abort();
    }
    wire_.execute("commit");
  }

 private:
  Wire wire_;
  const Workload& work_;
  Identities identities_;
  std::string consumer_;
};

class PostgresEach final : public Shape {
 public:
  PostgresEach(const FloorOptions& options, const Workload& work, std::size_t connections) {
    for (std::size_t i = 0; i < connections; ++i) consumers_.push_back(std::make_unique<Consumer>(options, work));
  }

  double run(std::span<const Index> deliveries, std::size_t) override {
    const auto start = std::chrono::steady_clock::now();
    std::vector<std::jthread> threads;
    for (std::size_t mine = 0; mine < consumers_.size(); ++mine) {
      threads.emplace_back([this, deliveries, mine] {
        for (std::size_t i = mine; i < deliveries.size(); i += consumers_.size()) {
          consumers_[mine]->process(deliveries[i]);
        }
      });
    }
    threads.clear();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  Effort effort() const override {
    Effort sum;
    for (const auto& consumer : consumers_) {
      sum.round_trips += consumer->effort().round_trips;
      sum.statements += consumer->effort().statements;
    }
    return sum;
  }

 private:
  std::vector<std::unique_ptr<Consumer>> consumers_;
};

}  // namespace

std::unique_ptr<PostgresBatches> postgres_one_by_one(const FloorOptions& options, const Workload& work) {
  return std::make_unique<Consumer>(options, work);
}

std::unique_ptr<Shape> postgres_each(const FloorOptions& options, const Workload& work, std::size_t connections) {
  return std::make_unique<PostgresEach>(options, work, connections);
}

}  // namespace onceward::bench
