// A server that restarts, refuses, is full or at odds with itself: the right Fault, a message that says what to do, and
// exactly one effect in the end.
#include <unistd.h>

#include <atomic>
#include <future>
#include <latch>
#include <thread>

#include "tests/faults/server.h"
#include "tests/faults/world.h"
#include "tests/fixtures/waiting.h"

namespace onceward::faults {
namespace {

using enum Verdict;
using namespace std::chrono_literals;

struct Expected {
  FaultCode fault;
  Poisons poisons;
  std::string_view advice;  // a part of the message
};

void expect_fault(const Expected& expected, const std::function<void()>& act, std::string_view secret = "hunter2") {
  try {
    act();
    FAIL() << "no Fault; expected " << code(expected.fault);
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.fault(), expected.fault) << fault.what();
    EXPECT_EQ(fault.poisons(), expected.poisons) << fault.what();
    const std::string_view message = fault.what();
    EXPECT_NE(message.find(expected.advice), std::string_view::npos) << message;
    EXPECT_EQ(message.find('\n'), std::string_view::npos) << "more than a line: " << message;
    EXPECT_EQ(message.find(secret), std::string_view::npos) << "the password is in it";
  }
}

class TroubledServer : public testing::Test {
 protected:
  static void SetUpTestSuite() { server = std::make_unique<Server>(std::vector<std::string>{"max_connections=20"}); }
  static void TearDownTestSuite() { server.reset(); }

  void SetUp() override {
    enrolled_ = prepare_database(server->url(), declaration_);
    reader_ = server->read();
    reader_->run("TRUNCATE effect, onceward.inbox, onceward.outbox, onceward.ledger");
  }
  std::unique_ptr<Store> open() { return open_postgres({.url = server->url()}); }
  std::int64_t effects() { return server->read()->number("SELECT count(*) FROM effect"); }

  static std::unique_ptr<Server> server;
  Declaration declaration_ = consumer();
  Enrolled enrolled_;
  std::unique_ptr<Reader> reader_;
};
std::unique_ptr<Server> TroubledServer::server;

TEST_F(TroubledServer, RestartInTheMiddleOfATransactionLosesNothingAndAppliesOnce) {
  using Stop = void (Server::*)();
  for (const Stop stop : {Stop{&Server::stop}, Stop{&Server::stop_now}, Stop{&Server::kill}}) {
    const Inbound inbound(declaration_, {Message{}});
    auto store = open();
    reader_->run("TRUNCATE effect, onceward.inbox, onceward.outbox, onceward.ledger");
    reader_.reset();
    auto unit = store->begin(enrolled_);
    run_handlers(*unit, inbound, leave_one_of_each);
    unit->flush();
    (*server.*stop)();
    // The server may have said good-bye before it closed, or not: failed, in doubt or a Fault, but not committed.
    try {
      EXPECT_NE(unit->commit(), Commit::committed);
    } catch (const Fault& fault) {
      EXPECT_EQ(fault.fault(), FaultCode::store_unavailable) << fault.what();
    }
    unit.reset();
    expect_fault({FaultCode::store_unavailable, Poisons::connection, "check that the server is up"},
                 [&] { store->begin(enrolled_); });
    server->start();
    reader_ = server->read();
    EXPECT_EQ(verdicts(apply(*store, enrolled_, inbound, leave_one_of_each)), Verdicts{first});
    EXPECT_EQ(effects(), 1);
    expect_all_or_nothing(*reader_, "onceward.");
  }
}

TEST_F(TroubledServer, BackendTerminatedInTheMiddleIsUnavailableAndTransactGoesOn) {
  const Inbound inbound(declaration_, {Message{}});
  auto store = open();
  int runs = 0;
  transact(*store, enrolled_, {}, [&](UnitOfWork& unit) {
    run_handlers(unit, inbound, leave_one_of_each);
    if (++runs > 1) return;
    const Rows rows = unit.whole().query("SELECT pg_backend_pid()");
    reader_->run("SELECT pg_terminate_backend(" + std::to_string(std::get<std::int64_t>(rows[0][0])) + ", 60000)");
    try {
      unit.whole().query("SELECT 1");
    } catch (const Fault& fault) {
      EXPECT_EQ(fault.fault(), FaultCode::store_unavailable);
      EXPECT_EQ(fault.poisons(), Poisons::connection);
      throw;
    }
  });
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(effects(), 1);
  expect_all_or_nothing(*reader_, "onceward.");
}

TEST_F(TroubledServer, DeadlockBetweenEffectsIsALostRaceThatTransactRunsAgain) {
  reader_->run("CREATE TABLE IF NOT EXISTS account (id integer PRIMARY KEY, amount integer NOT NULL)");
  reader_->run("TRUNCATE account");
  reader_->run("INSERT INTO account VALUES (1, 0), (2, 0)");
  reader_->run("ALTER SYSTEM SET deadlock_timeout = '20ms'");
  reader_->run("SELECT pg_reload_conf()");
  std::atomic<int> lost{0};
  std::latch both_hold_one(2);
  const auto move = [&](const std::string& id, int from, int to) {
    const Inbound inbound(declaration_, {{.id = id}});
    auto store = open();
    bool again = false;
    transact(*store, enrolled_, {}, [&](UnitOfWork& unit) {
      run_handlers(unit, inbound, leave_one_of_each);
      try {
        unit.whole().execute_counted("UPDATE account SET amount = amount + 1 WHERE id = $1", from);
        if (!again) both_hold_one.arrive_and_wait();
        again = true;
        unit.whole().execute_counted("UPDATE account SET amount = amount + 1 WHERE id = $1", to);
      } catch (const Fault& fault) {
        EXPECT_EQ(fault.fault(), FaultCode::lost_race) << fault.what();
        EXPECT_EQ(fault.store_code(), "40P01");
        ++lost;
        throw;
      }
    });
  };
  auto one = std::async(std::launch::async, move, "one", 1, 2);
  auto two = std::async(std::launch::async, move, "two", 2, 1);
  one.get();
  two.get();
  EXPECT_GE(lost, 1);  // the loser may come back before the winner has its second row
  EXPECT_EQ(effects(), 2);
  EXPECT_EQ(reader_->number("SELECT sum(amount) FROM account"), 4);
  expect_all_or_nothing(*reader_, "onceward.");
}

TEST_F(TroubledServer, SerializationFailuresAreRetriedUpToTheLimit) {
  reader_->run("CREATE SEQUENCE IF NOT EXISTS failures");
  reader_->run("SELECT setval('failures', 1, false)");
  reader_->run(
      "CREATE OR REPLACE FUNCTION fail_up_to(n integer) RETURNS void LANGUAGE plpgsql AS $$ BEGIN "
      "IF nextval('failures') <= n THEN RAISE EXCEPTION 'of the test' USING ERRCODE = '40001'; END IF; END $$");
  const Inbound inbound(declaration_, {Message{}});
  auto store = open();
  const auto fail_up_to = [](int times) {
    return [times](const Envelope& envelope, Transaction& transaction) -> Outcome {
      transaction.execute("SELECT fail_up_to($1::integer)", std::to_string(times));
      return leave_one_of_each(envelope, transaction);
    };
  };
  EXPECT_EQ(fault_of([&] { apply(*store, enrolled_, inbound, fail_up_to(1'000'000), {.attempts = 4}); }),
            FaultCode::lost_race);
  EXPECT_EQ(reader_->number("SELECT last_value FROM failures"), 4);
  EXPECT_EQ(effects(), 0);
  reader_->run("SELECT setval('failures', 1, false)");
  EXPECT_EQ(verdicts(apply(*store, enrolled_, inbound, fail_up_to(3), {.attempts = 4})), Verdicts{first});
  EXPECT_EQ(effects(), 1);
}

// The kernel refuses the backend more than 16 MB in one file, as it does on a full disk; PostgreSQL reports 53100. Works
// for every user, and leaves the log of the server writable.
TEST_F(TroubledServer, FullDiskIsStoreFullAndNothingRemains) {
  const Inbound inbound(declaration_, {Message{}});
  auto store = open();
  auto unit = store->begin(enrolled_);
  run_handlers(*unit, inbound, leave_one_of_each);
  const Rows rows = unit->whole().query("SELECT pg_backend_pid()");
  std::vector<std::string> narrow{"prlimit", "--pid", std::to_string(std::get<std::int64_t>(rows[0][0])),
                                  "--fsize=16781312"};
  if (geteuid() == 0) {
    narrow.insert(narrow.begin(), {"setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"});
  }
  run_well(narrow);
  expect_fault({FaultCode::store_full, Poisons::transaction, "free space"}, [&] {
    // Text that does not compress, in the table itself.
    unit->whole().execute("ALTER TABLE effect ALTER COLUMN note SET STORAGE PLAIN");
    unit->whole().execute(
        "INSERT INTO effect SELECT 'big', repeat(md5(n::text), 200) FROM generate_series(1, 4000) AS n");
    unit->commit();
  });
  EXPECT_EQ(unit->commit(), Commit::failed);
  unit.reset();
  EXPECT_EQ(effects(), 0);
  store = open();
  EXPECT_EQ(verdicts(apply(*store, enrolled_, inbound, leave_one_of_each)), Verdicts{first});
  expect_all_or_nothing(*reader_, "onceward.");
}

TEST_F(TroubledServer, WrongPasswordIsRefusedWithoutShowingIt) {
  reader_->run(
      "DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'with_password') THEN "
      "CREATE ROLE with_password LOGIN PASSWORD 'correct'; END IF; END $$");
  const std::string address = "@127.0.0.1:" + std::to_string(server->port()) + "/postgres";
  const Expected refused{FaultCode::store_refused, Poisons::connection, "check the user, the password"};
  expect_fault(refused, [&] { open_postgres({.url = "postgres://with_password:hunter2" + address}); });
  expect_fault(refused, [&] { open_postgres({.url = "postgres://nobody_known:hunter2" + address}); });
  expect_fault({FaultCode::store_refused, Poisons::connection, ""},
               [&] { open_postgres({.url = "postgres://with_password" + address}); });
  EXPECT_EQ(open_postgres({.url = "postgres://with_password:correct" + address})->describe().find("correct"),
            std::string::npos);
}

TEST_F(TroubledServer, UnreadableUrlIsRefusedWithoutShowingIt) {
  expect_fault({FaultCode::store_refused, Poisons::connection, "@ %40"},
               [] { open_postgres({.url = "postgres://me:hunter2@[host"}); });
}

TEST_F(TroubledServer, MissingDatabaseIsRefused) {
  expect_fault({FaultCode::store_refused, Poisons::connection, "create the database"},
               [&] { open_postgres({.url = server->url("nowhere")}); });
}

TEST_F(TroubledServer, MissingRightsAreRefused) {
  reader_->run(
      "DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'guest') THEN "
      "CREATE ROLE guest LOGIN; END IF; END $$");
  auto store = open_postgres({.url = server->url("postgres", "guest")});
  expect_fault({FaultCode::store_refused, Poisons::transaction, "grant"}, [&] { store->enroll(declaration_); });
}

TEST_F(TroubledServer, ConnectionRefusedIsUnavailable) {
  const std::string nobody = "postgres://postgres:hunter2@127.0.0.1:" + std::to_string(free_port()) + "/postgres";
  expect_fault({FaultCode::store_unavailable, Poisons::connection, "check that the server is up"},
               [&] { open_postgres({.url = nobody}); });
}

TEST_F(TroubledServer, TooManyConnectionsIsStoreFull) {
  std::vector<std::unique_ptr<Store>> taken;
  expect_fault({FaultCode::store_full, Poisons::connection, "max_connections"}, [&] {
    // Superusers have connections in reserve; the limit is met by a guest.
    reader_->run(
        "DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'guest') THEN "
        "CREATE ROLE guest LOGIN; END IF; END $$");
    for (int connection = 0; connection < 30; ++connection) {
      taken.push_back(open_postgres({.url = server->url("postgres", "guest")}));
    }
  });
  taken.clear();
}

TEST_F(TroubledServer, LockHeldByAnotherIsBusyAndTransient) {
  reader_->run("BEGIN");
  reader_->run("LOCK TABLE effect");
  auto store = open_postgres({.url = server->url(), .lock_deadline = 100ms});
  const Inbound inbound(declaration_, {Message{}});
  expect_fault({FaultCode::busy, Poisons::transaction, "another transaction"},
               [&] { apply(*store, enrolled_, inbound, insert_effect, {.attempts = 1}); });
  reader_->run("ROLLBACK");
  EXPECT_EQ(verdicts(apply(*store, enrolled_, inbound)), Verdicts{first});
}

}  // namespace
}  // namespace onceward::faults
