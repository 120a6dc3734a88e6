#include "bench/floor/sqlite.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "bench/floor/handle.h"
#include "bench/floor/identity.h"

namespace onceward::bench {
namespace {

constexpr const char* claim_sql =
    "INSERT INTO onceward_inbox (key, received_at, consumer, payload_hash, tenant, producer, id)"
    " VALUES (?1, ?2, ?3, ?4, '', ?5, ?6) ON CONFLICT DO NOTHING";
constexpr const char* look_up_sql = "SELECT payload_hash FROM onceward_inbox WHERE key = ?1";
constexpr const char* payment_sql =
    "INSERT INTO payment (account, amount, currency, message) VALUES (?1, ?2, ?3, ?4)";
constexpr const char* balance_sql =
    "INSERT INTO balance (account, amount, version) VALUES (?1, ?2, ?3)"
    " ON CONFLICT (account) DO UPDATE SET amount = amount + excluded.amount, version = excluded.version"
    " WHERE version < excluded.version";
constexpr const char* outbox_sql =
    "INSERT INTO onceward_outbox (staged_at, consumer, cause, aggregate_version, event_version, id, type, key, tenant,"
    " aggregate_type, aggregate_id, correlation_id, causation_id, trace_parent, content_type, headers, payload)"
    " VALUES (?1, ?2, ?3, ?4, NULL, ?5, ?6, ?7, '', 'account', ?7, ?5, ?5, '', 'application/json', '', ?8)";

std::int64_t now_microseconds() {
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::span<const unsigned char> bytes_of(std::string_view text) {
  return {reinterpret_cast<const unsigned char*>(text.data()), text.size()};
}

// One connection and its statements.
class Writer {
 public:
  Writer(const SqliteFloorOptions& options, const Workload& work)
      : handle_(options.path), work_(work), consumer_(options.consumer), identities_(work.ids) {
    for (Statement* statement : {&claim_, &outbox_}) statement->bind(statement == &claim_ ? 3 : 2, consumer_);
    claim_.bind(5, producer_name);
    payment_.bind(3, currency);
    outbox_.bind(6, outgoing_type);
  }

  std::span<Identity> identify(std::span<const Index> deliveries) { return identities_.of(work_, deliveries); }
  Identity identify(Index index) {
    Identity identity = identities_.of(work_.messages[index]);
    identity.message = index;
    return identity;
  }

  void begin() {
    begin_.step();
    const std::int64_t now = now_microseconds();
    claim_.bind(2, now);
    outbox_.bind(1, now);
    statements += 1;
  }
  void commit() {
    commit_.step();
    statements += 1;
  }

  bool claim(const Identity& identity) {
    claim_.bind(1, identity.key).bind(4, identity.hash).bind(6, work_.messages[identity.message].id).step();
    statements += 1;
    return sqlite3_changes(handle_.get()) == 1;
  }
  // Whether it is there; the same identity with other content would be a conflict.
  bool look_up(const Identity& identity) {
    statements += 1;
    if (!look_up_.bind(1, identity.key).step()) return false;
    if (std::memcmp(look_up_.bytes(0).data(), identity.hash.data(), identity.hash.size()) != 0) std::abort();
    look_up_.reset();
    return true;
  }
  void pay(const Identity& identity) {
    const Message& message = work_.messages[identity.message];
    payment_.bind(1, message.account).bind(2, message.amount).bind(4, message.id).step();
    statements += 1;
  }
  void stage(const Identity& identity) {
    const Message& message = work_.messages[identity.message];
    outbox_.bind(3, identity.key).bind(4, message.version).bind(5, message.id).bind(7, message.account_key);
    outbox_.bind(8, bytes_of(message.outgoing)).step();
    statements += 1;
  }
  void add_to_balance(std::int64_t account, std::int64_t amount, std::int64_t version) {
    balance_.bind(1, account).bind(2, amount).bind(3, version).step();
    statements += 1;
  }
  void write_effects(std::span<const Identity> identities) {
    folded_.clear();
    for (const Identity& identity : identities) {
      if (!identity.first) continue;
      pay(identity);
      folded_.add(work_.messages[identity.message]);
    }
    for (const Identity& identity : identities) {
      if (identity.first) stage(identity);
    }
    folded_.finish();
    for (std::size_t i = 0; i < folded_.accounts().size(); ++i) {
      add_to_balance(folded_.accounts()[i], folded_.amounts()[i], folded_.versions()[i]);
    }
  }

  const Workload& work() const { return work_; }
  std::uint64_t statements = 0;

 private:
  Handle handle_;
  const Workload& work_;
  std::int64_t consumer_;
  Identities identities_;
  Folded folded_;
  Statement begin_{handle_, "BEGIN IMMEDIATE"}, commit_{handle_, "COMMIT"}, claim_{handle_, claim_sql},
      look_up_{handle_, look_up_sql}, payment_{handle_, payment_sql}, balance_{handle_, balance_sql},
      outbox_{handle_, outbox_sql};
};

class SqliteBatched final : public Shape {
 public:
  enum class Order { insert_first, look_up_first };

  SqliteBatched(const SqliteFloorOptions& options, const Workload& work, Order order)
      : writer_(options, work), order_(order) {}

  void run(std::span<const Index> deliveries, std::size_t batch) override {
    for (std::size_t from = 0; from < deliveries.size(); from += batch) {
      const auto identities = writer_.identify(deliveries.subspan(from, std::min(batch, deliveries.size() - from)));
      writer_.begin();
      for (Identity& identity : identities) claim(identity);
      writer_.write_effects(identities);
      writer_.commit();
    }
  }
  Effort effort() const override { return {0, writer_.statements}; }

 private:
  void claim(Identity& identity) {
    if (order_ == Order::look_up_first) {
      identity.first = !writer_.look_up(identity) && writer_.claim(identity);
    } else {
      identity.first = writer_.claim(identity);
      if (!identity.first) writer_.look_up(identity);
    }
  }

  Writer writer_;
  Order order_;
};

class SqliteEach final : public Shape {
 public:
  SqliteEach(const SqliteFloorOptions& options, const Workload& work, std::size_t connections) {
    for (std::size_t i = 0; i < connections; ++i) writers_.push_back(std::make_unique<Writer>(options, work));
  }

  void run(std::span<const Index> deliveries, std::size_t) override {
    std::vector<std::jthread> threads;
    for (std::size_t mine = 0; mine < writers_.size(); ++mine) {
      threads.emplace_back([this, deliveries, mine] {
        for (std::size_t i = mine; i < deliveries.size(); i += writers_.size()) process(*writers_[mine], deliveries[i]);
      });
    }
  }
  Effort effort() const override {
    Effort sum;
    for (const auto& writer : writers_) sum.statements += writer->statements;
    return sum;
  }

 private:
  static void process(Writer& writer, Index index) {
    const Identity identity = writer.identify(index);
    const Message& message = writer.work().messages[index];
    writer.begin();
    if (writer.claim(identity)) {
      writer.pay(identity);
      writer.add_to_balance(message.account, message.amount, message.version);
      writer.stage(identity);
    } else {
      writer.look_up(identity);
    }
    writer.commit();
  }

  std::vector<std::unique_ptr<Writer>> writers_;
};

}  // namespace

std::unique_ptr<Shape> sqlite_floor(const SqliteFloorOptions& options, const Workload& work) {
  return std::make_unique<SqliteBatched>(options, work, SqliteBatched::Order::insert_first);
}
std::unique_ptr<Shape> sqlite_look_up_first(const SqliteFloorOptions& options, const Workload& work) {
  return std::make_unique<SqliteBatched>(options, work, SqliteBatched::Order::look_up_first);
}
std::unique_ptr<Shape> sqlite_each(const SqliteFloorOptions& options, const Workload& work, std::size_t connections) {
  return std::make_unique<SqliteEach>(options, work, connections);
}

}  // namespace onceward::bench
