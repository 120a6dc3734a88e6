// Of those who stage while the relays are idle the first one tells, once, and nobody waits for it.
#include "src/relay/idle.h"

#include <libpq-fe.h>
#include <poll.h>

#include "tests/fixtures/postgres_database.h"
#include "tests/fixtures/waiting.h"
#include "tests/relaying/suite.h"

namespace onceward::relay {
namespace {

// A session that listens as a relay's bell does, with nothing of ours between it and the server.
class Listener {
 public:
  explicit Listener(const std::string& url) : connection_(PQconnectdb(url.c_str()), &PQfinish) {
    run("LISTEN onceward_outbox");
  }

  // How often it was told since the last call: they come in the order of commits, so none is missing once our own is there.
  int told() {
    run(fmt::format("NOTIFY onceward_outbox, 'end {}'", ++calls_));
    int count = 0;
    fixtures::await("our own has come", [&] {
      pollfd readable{PQsocket(connection_.get()), POLLIN, 0};
      if (PQconsumeInput(connection_.get()) == 0) throw std::runtime_error(PQerrorMessage(connection_.get()));
      while (PGnotify* const one = PQnotifies(connection_.get())) {
        const std::string what = one->extra;
        PQfreemem(one);
        if (what == fmt::format("end {}", calls_)) return true;
        ++count;
      }
      ::poll(&readable, 1, 100);
      return false;
    });
    return count;
  }

 private:
  void run(const std::string& sql) {
    const std::unique_ptr<PGresult, decltype(&PQclear)> done(PQexec(connection_.get(), sql.c_str()), &PQclear);
    if (PQresultStatus(done.get()) != PGRES_COMMAND_OK) throw std::runtime_error(PQerrorMessage(connection_.get()));
  }

  std::unique_ptr<PGconn, decltype(&PQfinish)> connection_;
  int calls_ = 0;
};

class RelayIdle : public OnEveryStore {
 protected:
  RelayIdle() { reader().run("UPDATE onceward.relay_idle SET idle = false"); }
  bool idle() { return reader().value("SELECT idle FROM onceward.relay_idle") == "t"; }

  Listener listener_{fixtures::shared_database().url()};
};

TEST_P(RelayIdle, FirstWriterNotifiesAndTheNextDoNot) {
  send({{"a"}});
  EXPECT_EQ(listener_.told(), 0) << "nobody waits";
  for (int time = 0; time < 3; ++time) {
    say_idle(*store_);
    say_idle(*store_);
    EXPECT_TRUE(idle());
    send({{"b"}, {"c"}});
    EXPECT_EQ(listener_.told(), 1);
    EXPECT_FALSE(idle());
    for (int i = 0; i < 5; ++i) send({{"d"}});
    EXPECT_EQ(listener_.told(), 0);
  }
}

TEST_P(RelayIdle, WriterThatRollsBackLeavesItToTheNext) {
  say_idle(*store_);
  {
    const auto unit = store_->begin({});
    stage(unit->whole(), {"never"});
    unit->flush();
  }
  EXPECT_EQ(listener_.told(), 0);
  EXPECT_TRUE(idle());
  send({{"a"}});
  EXPECT_EQ(listener_.told(), 1);
}

// Nobody waits for the commit of the first one: neither they, nor who says meanwhile that it is idle.
TEST_P(RelayIdle, WritersBesideTheFirstDoNotWaitForIt) {
  say_idle(*store_);
  const auto other = under_->open();
  const auto first = other->begin({});
  stage(first->whole(), {"first"});
  first->flush();
  send({{"second"}});
  say_idle(*store_);
  EXPECT_EQ(listener_.told(), 0);
  ASSERT_EQ(first->commit(), Commit::committed);
  EXPECT_EQ(listener_.told(), 1);
}

// The row of the idle relays could end a transaction of theirs.
TEST_P(RelayIdle, StricterIsolationStagesAndDoesNotNotify) {
  const auto caller = under_->connect();
  for (const char* const isolation : {"REPEATABLE READ", "SERIALIZABLE"}) {
    say_idle(*store_);
    caller->sql().run(fmt::format("BEGIN ISOLATION LEVEL {}", isolation));
    caller->sql().run("SELECT count(*) FROM effect");  // from here on it would meet the change of the row
    caller->sql().run(fmt::format(
        "INSERT INTO onceward.outbox (id, type, key, payload) VALUES ('{}', 'paid', 'k', '{{}}')", isolation));
    send({{"beside it"}});
    say_idle(*store_);
    caller->sql().run("COMMIT");
    EXPECT_EQ(listener_.told(), 1) << "of the one beside it";
    EXPECT_TRUE(idle());
  }
  Pages pages(*store_, "shop");
  Place place = start();
  EXPECT_EQ(read_all(pages, every_slot_, place).size(), 4u);
}

INSTANTIATE_TEST_SUITE_P(Store, RelayIdle, testing::ValuesIn(backends_that(&Capabilities::concurrent_units)),
                         backend_name);

}  // namespace
}  // namespace onceward::relay
