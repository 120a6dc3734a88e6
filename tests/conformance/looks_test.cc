// What those see who only read.
#include "tests/conformance/suite.h"

namespace onceward {
namespace {

using namespace std::chrono_literals;

class Looks : public OnEveryStore {
 protected:
  // Whoever waits for a lock soon throws.
  std::unique_ptr<Store> open_impatient() { return under_->open({.lock = 200ms}); }

  std::string count_all() const {
    return "SELECT (SELECT count(*) FROM effect), (SELECT count(*) FROM " + under_->table("inbox") + ")";
  }
  static Rows counted(std::int64_t effects, std::int64_t messages) { return {{effects, messages}}; }
};
ONCEWARD_ON_EVERY_STORE(Looks);

TEST_P(Looks, WaitForNoWriterAndSeeNothingOfWhatIsUncommitted) {
  const Inbound inbound(declaration_, {{.id = "a"}, {.id = "b"}});
  auto unit = begin();
  run_handlers(*unit, inbound);
  unit->flush();
  const auto store = open_impatient();
  EXPECT_EQ(store->look()->query(count_all()), counted(0, 0));
  ASSERT_EQ(unit->commit(), Commit::committed);
  EXPECT_EQ(store->look()->query(count_all()), counted(2, 2));
}

TEST_P(Looks, KeepNoWriterWaitingAndSeeOneMoment) {
  const auto store = open_impatient();
  const auto look = store->look();
  EXPECT_EQ(look->query(count_all()), counted(0, 0));
  const auto writer = open_impatient();
  fixtures::apply(*writer, enrolled_, Inbound(declaration_, {Message{}}));
  EXPECT_EQ(look->query("SELECT count(*) FROM effect"), (Rows{{std::int64_t{0}}}));
  EXPECT_EQ(look->query(count_all()), counted(0, 0));
}

TEST_P(Looks, WriteNothing) {
  apply(Inbound(declaration_, {{.id = "a"}}));
  for (const char* const sql :
       {"INSERT INTO effect (message, note) VALUES ('b', '')", "DELETE FROM effect", "DROP TABLE effect",
        "UPDATE effect SET note = 'changed' RETURNING message", "CREATE TABLE made (number integer)"}) {
    const auto look = store_->look();
    try {
      look->query(sql);
      ADD_FAILURE() << sql;
    } catch (const Fault& fault) {
      EXPECT_EQ(fault.fault(), FaultCode::statement_failed) << sql;
      EXPECT_EQ(fault.poisons(), Poisons::transaction) << sql;
    }
  }
  EXPECT_EQ(store_->counters().reconnects, 0u);
  EXPECT_EQ(under_->effects("note <> 'changed'"), 1);
  apply(Inbound(declaration_, {{.id = "b"}}));
  EXPECT_EQ(under_->effects(), 2);
}

TEST_P(Looks, CannotBeTurnedIntoWriters) {
  for (const char* const sql : {"COMMIT", "ROLLBACK", "SET TRANSACTION READ WRITE", "PRAGMA query_only = 0"}) {
    const auto look = store_->look();
    EXPECT_EQ(fault_of([&] { look->query(sql); }), FaultCode::statement_failed) << sql;
  }
}

TEST_P(Looks, TakeValues) {
  apply(Inbound(declaration_, {{.id = "a"}, {.id = "b"}}));
  const auto look = store_->look();
  EXPECT_EQ(look->query("SELECT message FROM effect WHERE message = $1", "b"), (Rows{{std::string("b")}}));
}

TEST_P(Looks, AreGoneBeforeTheNextUnitBegins) {
  {
    const auto look = store_->look();
    EXPECT_EQ(fault_of([&] { begin(); }), FaultCode::transaction_failed);
    EXPECT_EQ(fault_of([&] { store_->look(); }), FaultCode::transaction_failed);
    EXPECT_EQ(look->query(count_all()), counted(0, 0));
  }
  apply(Inbound(declaration_, {Message{}}));
  EXPECT_EQ(under_->effects(), 1);
}

}  // namespace
}  // namespace onceward
