// Whose statement or staged row it was that a store refused.
#include "tests/conformance/suite.h"

namespace onceward {
namespace {

class Culprits : public OnEveryStore {
 protected:
  void SetUp() override {
    unit_ = begin();
    unit_->claim(inbound_.claimants());
  }
  // What `act` throws, and whom the unit then names.
  std::optional<std::size_t> culprit_of(const std::function<void()>& act) {
    fault_of(act);
    return unit_->culprit();
  }
  static constexpr const char* null_message = "INSERT INTO effect (message) VALUES (NULL)";
  static Outgoing fact(const std::string_view aggregate) {
    return {.type = "captured",
            .key = "k",
            .payload = "{}",
            .aggregate_type = "order",
            .aggregate_id = aggregate,
            .aggregate_version = 1,
            .unique_fact = true};
  }
  // In a unit that has committed.
  void stage_before(const auto& staged) {
    unit_.reset();
    apply(Inbound(declaration_, {{.id = "earlier"}}), [&](const Envelope&, Transaction& transaction) -> Outcome {
      transaction.stage(staged);
      return Done{};
    });
    SetUp();
  }

  Inbound inbound_{declaration_, {{.id = "a"}, {.id = "b"}, {.id = "c"}, {.id = "d"}}};
  std::unique_ptr<UnitOfWork> unit_;
};
ONCEWARD_ON_EVERY_STORE(Culprits);

constexpr std::optional<std::size_t> nobody;

TEST_P(Culprits, NobodyIsNamedBeforeAnythingWasThrown) { EXPECT_EQ(unit_->culprit(), nobody); }

TEST_P(Culprits, MessageWhoseBufferedStatementFailsIsNamedByWhateverWaits) {
  const std::vector<std::function<void(UnitOfWork&)>> waits{
      [](UnitOfWork& unit) { unit.flush(); }, [](UnitOfWork& unit) { unit.mark(); },
      [](UnitOfWork& unit) { unit.commit(); }, [](UnitOfWork& unit) { unit.on(3).query("SELECT 1"); },
      [](UnitOfWork& unit) { unit.on(3).execute_counted("DELETE FROM effect"); }};
  for (const auto& wait : waits) {
    for (std::size_t index = 0; index < 3; ++index) insert_effect(inbound_.envelope(index), unit_->on(index));
    unit_->on(2).execute(null_message);
    unit_->on(3).execute("INSERT INTO effect (message) VALUES ('later')");
    EXPECT_EQ(culprit_of([&] { wait(*unit_); }), 2u);
    unit_.reset();
    SetUp();
  }
}

TEST_P(Culprits, MessageWhoseStatementIsAskedAtOnceIsNamed) {
  EXPECT_EQ(culprit_of([&] { unit_->on(1).query("SELECT no_such_column FROM effect"); }), 1u);
  unit_.reset();
  SetUp();
  EXPECT_EQ(culprit_of([&] { unit_->on(2).execute_counted(null_message); }), 2u);
  unit_.reset();
  SetUp();
  EXPECT_EQ(culprit_of([&] { unit_->on(3).insert_once("INSERT INTO effect (nowhere) VALUES (1)"); }), 3u);
}

TEST_P(Culprits, MessageWhoseValueNoStoreTakesIsNamed) {
  insert_effect(inbound_.envelope(0), unit_->on(0));
  unit_->on(1).execute("INSERT INTO effect (message) VALUES ($1)", std::string_view("a\0b", 3));
  EXPECT_EQ(culprit_of([&] { unit_->flush(); }), 1u);
}

TEST_P(Culprits, NobodyIsNamedForStatementsOverTheBatch) {
  insert_effect(inbound_.envelope(0), unit_->on(0));
  unit_->whole().execute(null_message);
  EXPECT_EQ(culprit_of([&] { unit_->flush(); }), nobody);
  unit_.reset();
  SetUp();
  const std::array<std::string_view, 1> values{"a"};
  const std::array<Column, 1> columns{{{"id", std::span<const std::string_view>(values)}}};
  EXPECT_EQ(culprit_of([&] {
              unit_->on(1).execute_over({"messages", columns},
                                        "INSERT INTO effect (message) SELECT NULL FROM messages");
              unit_->flush();
            }),
            nobody);
}

TEST_P(Culprits, OldCulpritIsNotNamedForANewFault) {
  unit_->mark();
  unit_->on(1).execute(null_message);
  EXPECT_EQ(culprit_of([&] { unit_->flush(); }), 1u);
  unit_->back_to_mark();
  EXPECT_EQ(culprit_of([&] { unit_->claim(inbound_.claimants()); }), nobody) << "nobody's statement at all";
  unit_->back_to_mark();
  unit_->whole().execute(null_message);
  EXPECT_EQ(culprit_of([&] { unit_->mark(); }), nobody);
}

TEST_P(Culprits, MessageWhoseFactWasStagedBeforeIsNamed) {
  stage_before(fact("order 1"));
  unit_->on(0).stage(fact("order 0"));
  unit_->on(1).stage(fact("order 1"));
  unit_->on(2).stage(fact("order 2"));
  EXPECT_EQ(culprit_of([&] { unit_->flush(); }), 1u);
}

TEST_P(Culprits, LaterOfTwoMessagesWithOneFactIsNamed) {
  unit_->on(0).stage(fact("order 1"));
  unit_->on(1).stage(fact("order 0"));
  unit_->on(2).stage(fact("order 1"));
  EXPECT_EQ(culprit_of([&] { unit_->commit(); }), 2u);
}

TEST_P(Culprits, MessageWhoseCallWasStagedBeforeWithOtherContentIsNamed) {
  stage_before(Call{"gateway", "capture 1", "{}"});
  unit_->on(0).stage(Call{"gateway", "capture 1", "{}"});
  unit_->on(1).stage(Call{"gateway", "capture 2", "{}"});
  unit_->on(2).stage(Call{"gateway", "capture 3", "{}"});
  unit_->flush();
  unit_->on(3).stage(Call{"gateway", "capture 1", "other"});
  EXPECT_EQ(culprit_of([&] { unit_->flush(); }), 3u);
}

TEST_P(Culprits, LaterOfTwoMessagesWithOneCallAndOtherContentIsNamed) {
  unit_->on(0).stage(Call{"gateway", "capture 1", "{}"});
  unit_->on(1).stage(Call{"gateway", "capture 1", "other"});
  unit_->on(2).stage(Call{"gateway", "capture 1", "{}"});
  EXPECT_EQ(culprit_of([&] { unit_->flush(); }), 1u);
}

TEST_P(Culprits, NobodyIsNamedForARowThatNoMessageHasStaged) {
  unit_->whole().stage(fact("order 1"));
  unit_->whole().stage(fact("order 1"));
  EXPECT_EQ(culprit_of([&] { unit_->flush(); }), nobody);
}

class CulpritsOfAServer : public Culprits {};
INSTANTIATE_TEST_SUITE_P(Store, CulpritsOfAServer,
                         testing::ValuesIn(fixtures::backends_that(&Capabilities::concurrent_units)), backend_name);

TEST_P(CulpritsOfAServer, NobodyIsNamedForALockThatAnotherHolds) {
  unit_.reset();
  under_->reader().run("INSERT INTO effect (message) VALUES ('shared')");
  SetUp();
  unit_->on(0).execute("UPDATE effect SET note = 'mine'");
  unit_->flush();
  auto hasty = under_->open({.lock = std::chrono::milliseconds(100)});
  auto other = hasty->begin(enrolled_);
  const Inbound theirs(declaration_, {{.id = "theirs"}});
  other->claim(theirs.claimants());
  other->on(0).execute("UPDATE effect SET note = 'theirs'");
  EXPECT_EQ(fault_of([&] { other->flush(); }), FaultCode::busy);
  EXPECT_EQ(other->culprit(), nobody);
}

TEST_P(CulpritsOfAServer, NobodyIsNamedForALostConnection) {
  EXPECT_EQ(culprit_of([&] { unit_->on(1).query("SELECT pg_terminate_backend(pg_backend_pid())"); }), nobody);
}

}  // namespace
}  // namespace onceward
