// Edges at which a store could apply too much, too little, or leave its user in the lurch.
#include "tests/conformance/suite.h"

namespace onceward {
namespace {

class Edges : public OnEveryStore {};
ONCEWARD_ON_EVERY_STORE(Edges);

const Handler call_the_gateway = [](const Envelope&, Transaction& transaction) -> Outcome {
  transaction.stage(Call{"gateway", "capture/17", "{}"});
  transaction.stage(Outgoing{.type = "captured",
                             .key = "I-7",
                             .payload = "{}",
                             .aggregate_type = "invoice",
                             .aggregate_id = "I-7",
                             .aggregate_version = 1,
                             .unique_fact = true});
  return Done{};
};

TEST_P(Edges, CallsAndFactsOfTwoTenantsAreTwo) {
  const Inbound inbound(declaration_, {{.id = "a", .tenant = "north"}, {.id = "b", .tenant = "south"}});
  apply(inbound, call_the_gateway);
  EXPECT_EQ(under_->rows_in("ledger"), 2);
  EXPECT_EQ(under_->rows_in("outbox_fact"), 2);
  EXPECT_EQ(under_->reader().number("SELECT count(DISTINCT tenant) FROM " + under_->table("outbox")), 2);
}

TEST_P(Edges, MessagesOfOneBusinessKeyAreAllApplied) {
  EnvelopeFields fields;
  fields.producer = Producer("shop");
  fields.business_key = BusinessKey("order-1");
  Declaration declaration = consumer("orders");
  declaration.identity.tenant_header.clear();
  const Enrolled enrolled = store_->enroll(declaration);
  std::vector<Envelope> envelopes;
  for (const char* id : {"a", "b"}) {
    fields.message_id = MessageId(id);
    envelopes.push_back(Envelope::copy_of(fields));
  }
  std::vector<Claimant> claimants;
  for (const Envelope& envelope : envelopes) {
    claimants.push_back(std::get<Claimant>(identify(envelope, declaration)));
  }
  const auto answers = transact(*store_, enrolled, {}, [&](UnitOfWork& unit) { unit.claim(claimants); });
  EXPECT_EQ(verdicts(answers), (Verdicts{Verdict::first, Verdict::first}));
}

TEST_P(Edges, MessageThatWasTakenOutNeedsAnOutcome) {
  const Inbound inbound(declaration_, {Message{}});
  for (const bool finished : {false, true}) {
    auto unit = begin();
    unit->claim(inbound.claimants());
    insert_effect(inbound.envelope(0), unit->on(0));
    EXPECT_TRUE(unit->forget(0));
    if (finished) unit->finish(0, Ignored{"nothing_to_do"});
    EXPECT_EQ(unit->commit(), finished ? Commit::committed : Commit::failed);
    EXPECT_EQ(under_->rows_in("inbox"), finished ? 1 : 0);
  }
}

TEST_P(Edges, MessageWhoseStagedRowsWereFlushedCannotBeForgotten) {
  const Inbound inbound(declaration_, {Message{}});
  auto unit = begin();
  unit->claim(inbound.claimants());
  unit->on(0).stage(Outgoing{"t", "k", "p"});
  unit->flush();
  EXPECT_FALSE(unit->forget(0));
  EXPECT_EQ(unit->commit(), Commit::failed);
  EXPECT_EQ(under_->rows_in("outbox"), 0);
}

TEST_P(Edges, UnitRemembersHowItEnded) {
  const Inbound inbound(declaration_, {Message{}});
  auto unit = begin();
  unit->claim(inbound.claimants());
  EXPECT_EQ(unit->commit(), Commit::committed);
  EXPECT_EQ(unit->commit(), Commit::committed);
}

TEST_P(Edges, SecondUnitIsRefusedWhileOneIsOpenAndHarmsNeither) {
  const Inbound inbound(declaration_, {Message{}});
  auto unit = begin();
  EXPECT_EQ(fault_of([&] { unit = begin(); }), FaultCode::transaction_failed);
  EXPECT_EQ(fault_of([&] { store_->enroll(consumer("other")); }), FaultCode::transaction_failed);
  unit->claim(inbound.claimants());
  EXPECT_EQ(unit->commit(), Commit::committed);
  unit = begin();
  unit->claim(inbound.claimants());
  EXPECT_FALSE(unit->first(0));
}

TEST_P(Edges, IndexOutsideTheBatchIsRefused) {
  const Inbound inbound(declaration_, {Message{}});
  auto unit = begin();
  unit->claim(inbound.claimants());
  EXPECT_FALSE(unit->first(1));
  EXPECT_EQ(fault_of([&] { unit->on(1); }), FaultCode::statement_failed);
  EXPECT_EQ(fault_of([&] { unit->finish(1, Done{}); }), FaultCode::statement_failed);
}

TEST_P(Edges, MessageThatIsNoTextCanBeParked) {
  EnvelopeFields fields;
  fields.producer = Producer("sh\xffop");
  fields.message_id = MessageId(std::string_view("m\0\xfe", 3));
  fields.payload = std::string_view("\0\xff", 2);
  const Envelope envelope = Envelope::copy_of(fields);
  transact(*store_, enrolled_, {}, [&](UnitOfWork& unit) { unit.park(envelope, "invalid_utf8", "messageId"); });
  EXPECT_EQ(under_->rows_in("quarantine"), 1);
}

TEST_P(Edges, StatementThatHoldsANulIsRefusedWhole) {
  auto unit = begin();
  EXPECT_EQ(fault_of([&] { unit->whole().execute(std::string_view("DELETE FROM effect\0 WHERE 1 = 0", 31)); }),
            FaultCode::statement_failed);
}

TEST_P(Edges, CallersConnectionIsUsableAfterAnEnlistmentFailed) {
  const Inbound inbound(declaration_, {{.id = "a"}, {.id = "b"}});
  const auto caller = under_->connect();
  const Enrolled enrolled = caller->enroll(declaration_);
  caller->begin();
  {
    const auto unit = caller->enlist(enrolled);
    unit->claim(inbound.claimants());
    unit->on(0).stage(Call{"gateway", "k", "one"});
    unit->on(1).stage(Call{"gateway", "k", "other"});
    unit->on(1).stage(Outgoing{"t", "k", "p"});
    EXPECT_EQ(fault_of([&] { unit->flush(); }), FaultCode::call_conflict);
  }
  caller->sql().run("ROLLBACK");
  EXPECT_EQ(caller->sql().number("SELECT count(*) FROM effect"), 0);
  EXPECT_EQ(traces(), nothing);
}

TEST_P(Edges, ProducerStagesWithoutAnyMessage) {
  const auto caller = under_->connect();
  caller->begin();
  {
    const auto unit = caller->enlist(Enrolled{});
    unit->whole().stage(Outgoing{"order.placed", "O-1", "{}"});
    unit->flush();
  }
  caller->sql().run("COMMIT");
  EXPECT_EQ(under_->rows_in("outbox"), 1);
  EXPECT_EQ(under_->rows_in("inbox"), 0);
}

}  // namespace
}  // namespace onceward
