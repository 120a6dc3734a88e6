// What holds on PostgreSQL beyond the common contract: whatever an administrator has set, and what a batch costs.
#include <atomic>
#include <barrier>
#include <functional>
#include <future>
#include <thread>

#include "onceward/adapter/postgres.h"
#include "tests/conformance/suite.h"
#include "tests/fixtures/postgres_database.h"
#include "tests/fixtures/process.h"
#include "tests/fixtures/waiting.h"

namespace onceward {
namespace {

using enum Verdict;

class OnPostgres : public OnEveryStore {
 protected:
  // Before anything else is opened there: a pooler keeps its connections, with the settings they began with.
  void begin_apart_with(const std::string& setting) {
    begin_bare_with(setting, GetParam().make_apart());
    store_ = under_->open();
    enrolled_ = store_->enroll(declaration_);
  }
  void begin_bare_with(const std::string& setting, std::unique_ptr<StoreUnderTest> under) {
    store_.reset();
    under_ = std::move(under);
    under_->reader().run("DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET " + setting +
                         "', current_database()); END $$");
  }
  // In so many threads at once, each with a store of its own. What they throw fails the test.
  void at_once(int threads, const std::function<void(Store&)>& act) {
    std::barrier start(threads);
    std::vector<std::jthread> running;
    for (int thread = 0; thread < threads; ++thread) {
      running.emplace_back([&] {
        std::unique_ptr<Store> store;
        try {
          store = under_->open();
        } catch (const Fault& fault) {
          ADD_FAILURE() << fault.what();
        }
        start.arrive_and_wait();
        try {
          if (store) act(*store);
        } catch (const Fault& fault) {
          ADD_FAILURE() << fault.what();
        }
      });
    }
  }
  std::vector<Message> fresh(int count, const std::string& prefix, bool with_operation = false) {
    std::vector<Message> messages;
    for (int at = 0; at < count; ++at) {
      const std::string name = prefix + std::to_string(at);
      messages.push_back({.id = name, .idempotency_key = with_operation ? name : ""});
    }
    return messages;
  }
  std::uint64_t trips(const Inbound& inbound) {
    const std::uint64_t before = store_->counters().round_trips;
    apply(inbound, [](const Envelope& envelope, Transaction& transaction) -> Outcome {
      insert_effect(envelope, transaction);
      transaction.stage(Outgoing{.type = "captured", .key = "k", .payload = "{}"});
      transaction.stage(Call{.endpoint = "gateway", .key = envelope.message_id().text(), .body = "{}"});
      return Done{"result"};
    });
    return store_->counters().round_trips - before;
  }
};
INSTANTIATE_TEST_SUITE_P(Store, OnPostgres, testing::ValuesIn(fixtures::backends_that(&Capabilities::typed_columns)),
                         backend_name);

TEST_P(OnPostgres, DefaultIsolationOfTheDatabaseChangesNothing) {
  for (const std::string level : {"serializable", "repeatable read"}) {
    begin_apart_with("default_transaction_isolation = ''" + level + "''");
    const Inbound inbound(declaration_, {{.id = level}});
    std::atomic<int> firsts{0};
    std::atomic<int> duplicates{0};
    at_once(8, [&](Store& store) {
      // One attempt: a serialization failure is thrown.
      for (const Verdict verdict :
           verdicts(fixtures::apply(store, enrolled_, inbound, insert_effect, {.attempts = 1}))) {
        ++(verdict == first ? firsts : duplicates);
      }
    });
    EXPECT_EQ(firsts, 1);
    EXPECT_EQ(duplicates, 7);
    auto unit = begin();
    EXPECT_EQ(unit->whole().query("SELECT current_setting('transaction_isolation')"),
              (Rows{{std::string("read committed")}}));
  }
}

// Whoever waits for another's migration must see what it did, not what there was when he began to wait.
TEST_P(OnPostgres, DefaultIsolationOfTheDatabaseChangesNothingForMigrationsAtOnce) {
  for (const std::string level : {"serializable", "repeatable read"}) {
    begin_bare_with("default_transaction_isolation = ''" + level + "''", GetParam().make_bare());
    at_once(4, [&](Store& store) {
      const SchemaStatus status = store.migrate();
      EXPECT_EQ(status.version, status.newest);
    });
  }
}

TEST_P(OnPostgres, CommitsAreDurableWhateverTheDatabasesDefault) {
  begin_apart_with("synchronous_commit = off");
  auto unit = begin();
  EXPECT_NE(unit->whole().query("SELECT current_setting('synchronous_commit')"), (Rows{{std::string("off")}}));
}

TEST_P(OnPostgres, BatchOfFirstsTakesTwoRoundTrips) {
  apply(Inbound(declaration_, fresh(3, "warm")));
  EXPECT_EQ(trips(Inbound(declaration_, fresh(100, "a"))), 2u);
}

TEST_P(OnPostgres, BatchWithRepeatsTakesTwoRoundTripsToo) {
  apply(Inbound(declaration_, fresh(50, "a")));
  EXPECT_EQ(trips(Inbound(declaration_, fresh(100, "a"))), 2u);
  EXPECT_EQ(trips(Inbound(declaration_, fresh(100, "a"))), 2u);
}

TEST_P(OnPostgres, OperationKeysCostOneRoundTripMore) {
  declaration_ = consumer_with_operation("capturing");
  enrolled_ = store_->enroll(declaration_);
  EXPECT_EQ(trips(Inbound(declaration_, fresh(100, "a", true))), 3u);
  EXPECT_LE(trips(Inbound(declaration_, fresh(150, "a", true))), 3u);
}

TEST_P(OnPostgres, BatchOfDuplicatesWritesNothing) {
  under_->reader().run("CREATE EXTENSION pgstattuple");
  const Inbound inbound(declaration_, fresh(200, "a"));
  apply(inbound);
  const Traces before = traces();
  under_->reader().run("VACUUM");  // of what earlier tests left
  for (int round = 0; round < 3; ++round) {
    auto unit = begin();
    unit->claim(inbound.claimants());
    EXPECT_EQ(unit->whole().query("SELECT pg_current_xact_id_if_assigned()"), (Rows{{std::monostate{}}}))
        << "a transaction without an id has written nothing";
    ASSERT_EQ(unit->commit(), Commit::committed);
    EXPECT_EQ(verdicts(unit->answers()), Verdicts(200, duplicate));
  }
  EXPECT_EQ(traces(), before);
  for (const char* const table : {"inbox", "inbox_outcome", "operation", "consumer"}) {
    EXPECT_EQ(
        under_->reader().number("SELECT dead_tuple_count FROM pgstattuple('onceward." + std::string(table) + "')"), 0)
        << table;
  }
}

TEST_P(OnPostgres, StatementsArePreparedOnlyWhereDeclared) {
  for (int round = 0; round < 3; ++round) apply(Inbound(declaration_, fresh(2, std::to_string(round))));
  auto unit = begin();
  const Rows rows = unit->whole().query("SELECT count(*) > 0 FROM pg_prepared_statements");
  EXPECT_EQ(rows, (Rows{{GetParam().capabilities.prepares_statements}}));
}

TEST_P(OnPostgres, NothingOfASessionIsLeftBehind) {
  apply(Inbound(declaration_, {Message{}}));
  auto caller = under_->connect();  // behind a pooler this is very likely the connection just used
  for (const char* const setting : {"lock_timeout", "statement_timeout"}) {
    EXPECT_EQ(caller->sql().value(std::string("SHOW ") + setting), "0");
  }
  EXPECT_EQ(under_->reader().number("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND database = "
                                    "(SELECT oid FROM pg_database WHERE datname = current_database())"),
            0);
}

TEST(Postgres, ReadOnlyDatabaseIsRefused) {
  const PostgresDatabase database;
  read_postgres(database.url())->run("ALTER DATABASE " + database.name() + " SET default_transaction_read_only = on");
  try {
    open_postgres({.url = database.url()});
    FAIL() << "opened a read-only database";
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.fault(), FaultCode::store_read_only);
    EXPECT_NE(std::string_view(fault.what()).find("primary"), std::string_view::npos) << fault.what();
  }
}

TEST(Postgres, ThreeClientsShareTwoConnectionsOfAPooler) {
  const Backend& pooled = backends().back();
  ASSERT_EQ(pooled.name, "pgbouncer");
  auto under = pooled.make();
  const Declaration declaration = consumer();
  std::vector<std::unique_ptr<Store>> stores;
  for (int client = 0; client < 3; ++client) stores.push_back(under->open());
  const Enrolled enrolled = stores[0]->enroll(declaration);
  const Inbound one(declaration, {{.id = "one"}});
  const Inbound two(declaration, {{.id = "two"}});
  const Inbound three(declaration, {{.id = "three"}});
  // Two open transactions hold both connections; the third client waits for one of them.
  auto first_unit = stores[0]->begin(enrolled);
  run_handlers(*first_unit, one);
  first_unit->flush();
  auto second_unit = stores[1]->begin(enrolled);
  run_handlers(*second_unit, two);
  second_unit->flush();
  auto third = std::async(std::launch::async, [&] { return verdicts(fixtures::apply(*stores[2], enrolled, three)); });
  const auto admin = read_postgres(with_database(environment("ONCEWARD_TEST_PGBOUNCER"), "pgbouncer"));
  const std::string name = under->reader().value("SELECT current_database()");
  await("the third client waits", [&] {
    for (const TextRow& pool : admin->read("SHOW POOLS")) {
      if (pool.at(0) == name && pool.at(3) != "0") return true;
    }
    return false;
  });
  EXPECT_EQ(first_unit->commit(), Commit::committed);
  EXPECT_EQ(third.get(), Verdicts{first});
  EXPECT_EQ(second_unit->commit(), Commit::committed);
  EXPECT_EQ(under->effects(), 3);
}

}  // namespace
}  // namespace onceward
