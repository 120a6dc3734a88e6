// What is staged commits with the effect, and is the same however often the message runs.
#include <array>

#include "tests/conformance/suite.h"

namespace onceward {
namespace {

class Staged : public OnEveryStore {
 protected:
  static Outcome stage_three(const Envelope& envelope, Transaction& transaction) {
    insert_effect(envelope, transaction);
    const std::array<Header, 1> headers{Header{"region", "north"}};
    transaction.stage(Outgoing{.type = "captured", .key = "order 1", .payload = R"({"a":  1})", .headers = headers});
    transaction.stage(Outgoing{.type = "captured", .key = "order 1", .payload = "two"});
    transaction.stage(Outgoing{.type = "noted", .key = "order 1", .payload = "three", .id = "my own id"});
    transaction.stage(Call{.endpoint = "gateway", .key = "capture 1", .body = "{}", .business_key = "order 1"});
    return Done{};
  }
  // Calls of its own for each message, so that they can be told apart.
  static Outcome stage_three_of_each(const Envelope& envelope, Transaction& transaction) {
    stage_three(envelope, transaction);
    transaction.stage(Call{.endpoint = "gateway", .key = envelope.message_id().text(), .body = "{}"});
    return Done{};
  }
  std::string staged_by_m() const {
    return "SELECT id, type, key, payload, headers, causation_id, correlation_id FROM " + under_->table("outbox") +
           " WHERE causation_id = 'm' ORDER BY position";
  }
  std::string called_by_m() const {
    return "SELECT key, endpoint, idempotency_key, body, request_hash FROM " + under_->table("ledger") +
           " WHERE idempotency_key = 'm'";
  }
  TextRows outbox() {
    return under_->reader().read("SELECT id, type, key, payload, headers, causation_id, correlation_id, cause FROM " +
                                 under_->table("outbox") + " ORDER BY position");
  }
  TextRows ledger() {
    return under_->reader().read("SELECT key, endpoint, idempotency_key, business_key, body, request_hash FROM " +
                                 under_->table("ledger"));
  }
};
ONCEWARD_ON_EVERY_STORE(Staged);

TEST_P(Staged, RowsStandInTheOutboxAndTheLedgerInTheOrderTheyWereStaged) {
  apply(Inbound(declaration_, {Message{}}), stage_three);
  const TextRows rows = outbox();
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0][1], "captured");
  EXPECT_EQ(rows[2][0], "my own id");
  EXPECT_NE(rows[0][0], rows[1][0]) << "the ordinal tells two of one type apart";
  EXPECT_EQ(ledger().size(), 1u);
}

TEST_P(Staged, SameMessageRunAgainStagesTheSameIdsAndBytes) {
  const Inbound inbound(declaration_, {{.id = "before"}, {.id = "m"}});
  TextRows rolled_back;
  TextRows calls;
  {
    auto caller = under_->connect();  // sees its own rows before they are committed
    caller->begin();
    auto enlistment = caller->enlist(enrolled_);
    run_handlers(*enlistment, inbound, stage_three_of_each);
    enlistment->flush();
    rolled_back = caller->sql().read(staged_by_m());
    calls = caller->sql().read(called_by_m());
    enlistment.reset();
    caller->sql().run("ROLLBACK");
  }
  EXPECT_EQ(rolled_back.size(), 3u);
  EXPECT_EQ(outbox().size(), 0u);
  // Alone, in another unit, later: the cause is what counts.
  apply(Inbound(declaration_, {{.id = "m"}}), stage_three_of_each);
  EXPECT_EQ(under_->reader().read(staged_by_m()), rolled_back);
  EXPECT_EQ(under_->reader().read(called_by_m()), calls);
}

TEST_P(Staged, FactMayBeStagedOnceEver) {
  const auto state_fact = [](std::int64_t version) {
    return [version](const Envelope& envelope, Transaction& transaction) -> Outcome {
      insert_effect(envelope, transaction);
      transaction.stage(Outgoing{.type = "order.paid",
                                 .key = "7",
                                 .payload = "{}",
                                 .aggregate_type = "order",
                                 .aggregate_id = "7",
                                 .aggregate_version = version,
                                 .unique_fact = true});
      return Done{};
    };
  };
  apply(Inbound(declaration_, {{.id = "a"}}), state_fact(1));
  const Traces before = traces();
  EXPECT_EQ(fault_of([&] { apply(Inbound(declaration_, {{.id = "b"}}), state_fact(1)); }), FaultCode::fact_exists);
  EXPECT_EQ(traces(), before);
  apply(Inbound(declaration_, {{.id = "b"}}), state_fact(2));
  EXPECT_EQ(under_->rows_in("outbox"), 2);
  // Twice in one unit is twice too.
  EXPECT_EQ(fault_of([&] { apply(Inbound(declaration_, {{.id = "c"}, {.id = "d"}}), state_fact(3)); }),
            FaultCode::fact_exists);
}

TEST_P(Staged, FactWithoutAllItsPartsIsRefused) {
  auto unit = begin();
  EXPECT_THROW(unit->whole().stage(Outgoing{.type = "order.paid", .key = "7", .payload = "{}", .unique_fact = true}),
               Fault);
}

TEST_P(Staged, CallUnderOneKeyIsOneRowAndOtherContentIsAConflict) {
  const auto call = [](const char* body) {
    return [body](const Envelope& envelope, Transaction& transaction) -> Outcome {
      insert_effect(envelope, transaction);
      transaction.stage(Call{.endpoint = "gateway", .key = "capture 1", .body = body});
      return Done{};
    };
  };
  apply(Inbound(declaration_, {{.id = "a"}, {.id = "b"}}), call("one"));
  apply(Inbound(declaration_, {{.id = "c"}}), call("one"));
  EXPECT_EQ(under_->rows_in("ledger"), 1);
  EXPECT_EQ(under_->effects(), 3);
  const Traces before = traces();
  EXPECT_EQ(fault_of([&] { apply(Inbound(declaration_, {{.id = "d"}}), call("two")); }), FaultCode::call_conflict);
  EXPECT_EQ(traces(), before);
}

TEST_P(Staged, TwoCallsInOneUnitUnderOneKeyWithOtherContentAreAConflict) {
  EXPECT_EQ(fault_of([&] {
              apply(Inbound(declaration_, {{.id = "a"}, {.id = "b"}}),
                    [](const Envelope& envelope, Transaction& transaction) -> Outcome {
                      transaction.stage(
                          Call{.endpoint = "gateway", .key = "capture 1", .body = envelope.message_id().text()});
                      return Done{};
                    });
            }),
            FaultCode::call_conflict);
  EXPECT_EQ(traces(), nothing);
}

TEST_P(Staged, ProducerWithoutAnInboundMessageStagesToo) {
  auto unit = begin();
  unit->whole().execute("INSERT INTO effect (message) VALUES ('order')");
  unit->whole().stage(Outgoing{.type = "ordered", .key = "1", .payload = "{}", .id = "order 1"});
  ASSERT_EQ(unit->commit(), Commit::committed);
  EXPECT_EQ(under_->rows_in("outbox"), 1);
  EXPECT_EQ(under_->rows_in("inbox"), 0);
}

TEST_P(Staged, PayloadsKeepTheirExactBytes) {
  const std::string bytes("\0\xFF{ \"a\" :1}\n", 12);
  auto unit = begin();
  unit->whole().stage(Outgoing{.type = "t", .key = "k", .payload = bytes, .id = "1", .content_type = "application/x"});
  ASSERT_EQ(unit->commit(), Commit::committed);
  const std::string hex = GetParam().capabilities.typed_columns ? "upper(encode(payload, 'hex'))" : "hex(payload)";
  EXPECT_EQ(under_->reader().value("SELECT " + hex + " FROM " + under_->table("outbox")), "00FF7B20226122203A317D0A");
}

TEST_P(Staged, SameMessageParkedTwiceForOneReasonIsOneRow) {
  const Envelope envelope = envelope_of({.id = "bad", .payload = "{"});
  for (int round = 0; round < 2; ++round) {
    auto unit = begin();
    unit->park(envelope, "malformed_json", "at byte 1");
    unit->park(envelope, "malformed_json", "at byte 1");
    ASSERT_EQ(unit->commit(), Commit::committed);
  }
  EXPECT_EQ(under_->rows_in("quarantine"), 1);
  auto unit = begin();
  unit->park(envelope, "conflict", "");
  ASSERT_EQ(unit->commit(), Commit::committed);
  EXPECT_EQ(under_->rows_in("quarantine"), 2);
  const std::string as_text = GetParam().capabilities.typed_columns ? "convert_from(payload, 'UTF8')" : "payload";
  EXPECT_EQ(under_->reader().value("SELECT DISTINCT " + as_text + " FROM " + under_->table("quarantine")), "{");
}

TEST_P(Staged, FailedMessageStandsInTheQuarantineWithItsBytes) {
  apply(Inbound(declaration_, {Message{}}), [](const Envelope&, Transaction&) -> Outcome { return Failed{"never"}; });
  EXPECT_EQ(under_->rows_in("quarantine"), 1);
  EXPECT_EQ(under_->reader().value("SELECT reason FROM " + under_->table("quarantine")), "never");
}

}  // namespace
}  // namespace onceward
