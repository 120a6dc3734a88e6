#include "bench/floor/sqlite.h"

#include <fmt/format.h>

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
constexpr std::string_view payment_sql = "INSERT INTO payment (currency, account, amount, message)";
constexpr std::string_view payment_row = "(?1, ?{}, ?{}, ?{})";
constexpr const char* balance_sql =
    "INSERT INTO balance (account, amount, version) VALUES (?1, ?2, ?3)"
    " ON CONFLICT (account) DO UPDATE SET amount = amount + excluded.amount, version = excluded.version"
    " WHERE version < excluded.version";
constexpr std::string_view outbox_sql =
    "INSERT INTO onceward_outbox (staged_at, consumer, type, cause, aggregate_version, event_version, id, key, tenant,"
    " aggregate_type, aggregate_id, correlation_id, causation_id, trace_parent, content_type, headers, payload)";
constexpr std::string_view outbox_row =
    "(?1, ?2, ?3, ?{0}, ?{1}, NULL, ?{2}, ?{3}, '', 'account', ?{3}, ?{2}, ?{2}, '', 'application/json', '', ?{4})";
constexpr int common_parameters = 3;

// Rows in one statement: fewer steps, and AUTOINCREMENT's table is written once for all of them.
constexpr std::size_t rows_at_once = 64;
constexpr int payment_parameters = 3;
constexpr int outbox_parameters = 5;

// The statement with `rows` rows of values, each with its own parameters; ?1 to ?3 are the same for all.
std::string with_rows(std::string_view insert, std::string_view row, int parameters, std::size_t rows) {
  std::string sql(insert);
  int place = common_parameters;
  for (std::size_t i = 0; i < rows; ++i, place += parameters) {
    sql += i == 0 ? " VALUES " : ", ";
    sql += fmt::format(fmt::runtime(row), place + 1, place + 2, place + 3, place + 4, place + 5);
  }
  return sql;
}

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
      : handle_(options.path),
        work_(work),
        consumer_(options.consumer),
        stages_(options.outbox),
        identities_(work.ids) {
    claim_.bind(3, consumer_).bind(5, producer_name);
    for (Statement* payment : {&payment_, &payments_}) payment->bind(1, currency);
    for (Statement* outbox : {&outbox_, &outboxes_}) outbox->bind(2, consumer_).bind(3, outgoing_type);
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
    outboxes_.bind(1, now);
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
  void pay(const Identity& identity) { pay({&identity, 1}, payment_); }
  void stage(const Identity& identity) { stage({&identity, 1}, outbox_); }
  void add_to_balance(std::int64_t account, std::int64_t amount, std::int64_t version) {
    balance_.bind(1, account).bind(2, amount).bind(3, version).step();
    statements += 1;
  }
  // Moves the first ones to the front.
  void write_effects(std::span<Identity> identities) {
    const auto repeats = std::ranges::stable_partition(identities, &Identity::first);
    const auto firsts = identities.first(identities.size() - repeats.size());
    folded_.clear();
    for (const Identity& identity : firsts) folded_.add(work_.messages[identity.message]);
    folded_.finish();
    for (std::size_t i = 0; i < folded_.accounts().size(); ++i) {
      add_to_balance(folded_.accounts()[i], folded_.amounts()[i], folded_.versions()[i]);
    }
    const std::size_t whole = firsts.size() - firsts.size() % rows_at_once;
    for (std::size_t at = 0; at < whole; at += rows_at_once) pay(firsts.subspan(at, rows_at_once), payments_);
    for (const Identity& identity : firsts.subspan(whole)) pay(identity);
    if (!stages_) return;
    for (std::size_t at = 0; at < whole; at += rows_at_once) stage(firsts.subspan(at, rows_at_once), outboxes_);
    for (const Identity& identity : firsts.subspan(whole)) stage(identity);
  }

  const Workload& work() const { return work_; }
  std::uint64_t statements = 0;

 private:
  void pay(std::span<const Identity> identities, Statement& statement) {
    int place = common_parameters;
    for (const Identity& identity : identities) {
      const Message& message = work_.messages[identity.message];
      statement.bind(place + 1, message.account).bind(place + 2, message.amount).bind(place + 3, message.id);
      place += payment_parameters;
    }
    statement.step();
    statements += 1;
  }
  void stage(std::span<const Identity> identities, Statement& statement) {
    int place = common_parameters;
    for (const Identity& identity : identities) {
      const Message& message = work_.messages[identity.message];
      statement.bind(place + 1, identity.key).bind(place + 2, message.version).bind(place + 3, message.id);
      statement.bind(place + 4, message.account_key).bind(place + 5, bytes_of(message.outgoing));
      place += outbox_parameters;
    }
    statement.step();
    statements += 1;
  }

  Handle handle_;
  const Workload& work_;
  std::int64_t consumer_;
  bool stages_;
  Identities identities_;
  Folded folded_;
  Statement begin_{handle_, "BEGIN IMMEDIATE"}, commit_{handle_, "COMMIT"};
  Statement claim_{handle_, claim_sql}, look_up_{handle_, look_up_sql}, balance_{handle_, balance_sql};
  Statement payment_{handle_, with_rows(payment_sql, payment_row, payment_parameters, 1)};
  Statement payments_{handle_, with_rows(payment_sql, payment_row, payment_parameters, rows_at_once)};
  Statement outbox_{handle_, with_rows(outbox_sql, outbox_row, outbox_parameters, 1)};
  Statement outboxes_{handle_, with_rows(outbox_sql, outbox_row, outbox_parameters, rows_at_once)};
};

class SqliteBatched final : public Shape {
 public:
  enum class Order { insert_first, look_up_first };

  SqliteBatched(const SqliteFloorOptions& options, const Workload& work, Order order)
      : writer_(options, work), order_(order) {}

  double run(std::span<const Index> deliveries, std::size_t batch) override {
    return run_in_batches(
        deliveries, batch, [this](auto arriving) { touch(writer_.work(), arriving); },
        [this](auto mine) { run_batch(mine); });
  }
  Effort effort() const override { return {0, writer_.statements}; }

 private:
  void run_batch(std::span<const Index> deliveries) {
    const auto identities = writer_.identify(deliveries);
    writer_.begin();
    for (Identity& identity : identities) claim(identity);
    writer_.write_effects(identities);
    writer_.commit();
  }

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

  double run(std::span<const Index> deliveries, std::size_t) override {
    const auto start = std::chrono::steady_clock::now();
    std::vector<std::jthread> threads;
    for (std::size_t mine = 0; mine < writers_.size(); ++mine) {
      threads.emplace_back([this, deliveries, mine] {
        for (std::size_t i = mine; i < deliveries.size(); i += writers_.size()) process(*writers_[mine], deliveries[i]);
      });
    }
    threads.clear();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
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
