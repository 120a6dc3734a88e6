// From the queue to the effect, once.
#include "tests/crash/forgetful_source.h"
#include "tests/delivery/workplace.h"

namespace onceward {
namespace {

using fixtures::insert_effect;
using namespace std::chrono_literals;

class Deliveries : public Workplace {};
ONCEWARD_AT_EVERY_STORE(Deliveries);

TEST_P(Deliveries, HaveTheirEffectOnce) {
  push_numbered(2500);
  push_numbered(2500);
  work_off(MessageHandler(insert_effect));
  EXPECT_EQ(under_->effects(), 2500);
  EXPECT_EQ(under_->rows_in("inbox"), 2500);
  EXPECT_EQ(tally_.first, 2500u);
  EXPECT_EQ(tally_.duplicate, 2500u);
  EXPECT_EQ(tally_.processed, 2500u);
  EXPECT_EQ(tally_.settled, 5000u);
}

TEST_P(Deliveries, ToSeveralWorkersHaveTheirEffectOnce) {
  for (int i = 0; i < 4; ++i) push_numbered(500);
  work_off(MessageHandler(insert_effect), 3);
  EXPECT_EQ(under_->effects(), 500);
  EXPECT_EQ(tally_.first, 500u);
}

TEST_P(Deliveries, OfOneIdWithOtherContentAreParkedAndNeverApplied) {
  push({{.id = "a"}, {.id = "b"}, {.id = "a", .payload = "other"}, {.id = "c"}});
  work_off(MessageHandler(insert_effect));
  push({{.id = "b", .payload = "another"}, {.id = "d"}});
  work_off(MessageHandler(insert_effect));
  EXPECT_EQ(under_->effects(), 4);
  EXPECT_EQ(under_->effects("note = 'other' OR note = 'another'"), 0);
  EXPECT_EQ(parked("conflict"), 2);
  EXPECT_EQ(tally_.conflict, 2u);
}

TEST_P(Deliveries, ThatCannotBeReadAreParkedWithTheirBytes) {
  const std::string_view bytes[] = {"{\"no\":\"json", R"({"producer":"shop","payload":{}})"};
  queue_.push(bytes);
  push({{.id = "a"}});
  work_off(MessageHandler(insert_effect));
  EXPECT_EQ(under_->effects(), 1);
  EXPECT_EQ(under_->rows_in("quarantine"), 2);
  EXPECT_EQ(parked("malformed_json"), 1);
}

// A server ends a session that is idle in a transaction for longer than both deadlines together.
TEST_P(Deliveries, WithHandlersThatAreSlowTogetherAreDividedUntilTheyFit) {
  declaration_.time_bound = 1s;
  waits_ = {.lock = 300ms, .statement = 300ms};
  push_numbered(12);
  work_off(MessageHandler([](const Envelope& message, Transaction& transaction) {
    std::this_thread::sleep_for(100ms);
    return insert_effect(message, transaction);
  }));
  EXPECT_EQ(under_->effects(), 12);
  EXPECT_EQ(under_->rows_in("quarantine"), 0);
}

TEST_P(Deliveries, ThatTheStoreRefusesToParkAreHeldWithoutHaste) {
  const bool postgres = GetParam().name != "sqlite";
  if (postgres) {
    under_->reader().run(
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE EXCEPTION 'no'; END$$");
    under_->reader().run(
        "CREATE TRIGGER refuse BEFORE INSERT ON onceward.quarantine FOR EACH ROW EXECUTE FUNCTION refuse()");
  } else {
    under_->reader().run(
        "CREATE TRIGGER refuse BEFORE INSERT ON onceward_quarantine BEGIN SELECT RAISE(ABORT, 'no'); END");
  }
  const std::string_view bytes[] = {"{\"no\":\"json"};
  queue_.push(bytes);
  const std::jthread mender([&] {
    while (tally_.outages == 0 && tally_.reruns < 20) std::this_thread::sleep_for(1ms);
    EXPECT_LT(tally_.reruns, 20u) << "it tries without a pause";
    under_->reader().run(postgres ? "DROP FUNCTION refuse() CASCADE" : "DROP TRIGGER refuse");
  });
  work_until("it is parked at last", [] { return true; }, MessageHandler(insert_effect));
  EXPECT_EQ(parked("malformed_json"), 1);
}

// Any of them may have ended a worker before; each is charged with a start, and they are not run one by one for it.
TEST_P(Deliveries, FromASourceThatDoesNotCountRunTogether) {
  push_numbered(300);
  std::jthread working([&](std::stop_token stop) {
    const auto store = under_->open(waits_);
    const auto real = queue_.open();
    crash::ForgetfulSource source(*real);
    Worker(declaration_, MessageHandler(insert_effect), *store, source, tally_).run(stop, 20s);
  });
  fixtures::await("the queue is empty", [&] { return idle(); });
  working = {};
  EXPECT_EQ(under_->effects(), 300);
  EXPECT_EQ(under_->rows_in("attempt"), 300);
  EXPECT_EQ(tally_.alone, 0u);
  EXPECT_LT(batches(), 20u);
}

TEST_P(Deliveries, InATransactionEach) {
  declaration_.transaction = TransactionScope::each;
  push_numbered(50);
  push_numbered(50);
  work_off(MessageHandler(insert_effect));
  EXPECT_EQ(under_->effects(), 50);
  EXPECT_EQ(batches(), 100u);
}

// Its source may hand the others to somebody else while the last of them is under way.
TEST_P(Deliveries, InATransactionEachAreSettledAsTheyAreCommitted) {
  declaration_.transaction = TransactionScope::each;
  push_numbered(10);
  std::uint64_t in_flight = 10;
  work_off(MessageHandler([&](const Envelope& message, Transaction& transaction) -> Outcome {
    for (int tries = 0; message.message_id().text() == "9" && in_flight > 1 && tries < 1'000; ++tries) {
      in_flight = queue_.depth().in_flight;
      std::this_thread::sleep_for(1ms);
    }
    return insert_effect(message, transaction);
  }));
  EXPECT_EQ(in_flight, 1u);
  EXPECT_EQ(under_->effects(), 10);
}

// What is received ahead is what can be done in time.
TEST_P(Deliveries, InATransactionEachThatAreSlowAreReceivedAFewAtATime) {
  declaration_.transaction = TransactionScope::each;
  declaration_.batch = 30;
  declaration_.time_bound = 200ms;
  push_numbered(120);
  std::uint64_t most = 0;
  work_off(MessageHandler([&](const Envelope& message, Transaction& transaction) -> Outcome {
    std::this_thread::sleep_for(10ms);
    if (std::stoi(std::string(message.message_id().text())) > 80) most = std::max(most, queue_.depth().in_flight);
    return insert_effect(message, transaction);
  }));
  EXPECT_LT(most, 30u);
  EXPECT_EQ(under_->effects(), 120);
}

TEST_P(Deliveries, ToAHandlerOfBatches) {
  push_numbered(1500);
  push_numbered(1500);
  work_off(BatchHandler([](Messages& messages) {
    std::vector<std::string_view> ids;
    for (std::size_t i = 0; i < messages.size(); ++i) ids.push_back(messages[i].message_id().text());
    const Column columns[] = {{"id", std::span<const std::string_view>(ids)}};
    messages.whole().execute_over({"arrived", columns},
                                  "INSERT INTO effect (message, note) SELECT id, '' FROM arrived");
  }));
  EXPECT_EQ(under_->effects(), 1500);
}

TEST_P(Deliveries, ThatWereUnderWayAreFinishedWhenTheWorkerIsStopped) {
  push_numbered(3000);
  {
    std::jthread worker([&](std::stop_token stop) {
      const auto store = under_->open();
      const auto source = queue_.open();
      Worker(declaration_, MessageHandler(insert_effect), *store, *source, tally_).run(stop);
    });
    fixtures::await("it has begun", [&] { return batches() > 0; });
  }
  // What it had taken is settled, and what it had not is there for the next.
  EXPECT_EQ(queue_.depth().in_flight, 0u);
  EXPECT_EQ(under_->effects(), static_cast<std::int64_t>(3000 - queue_.depth().ready));
  work_off(MessageHandler(insert_effect));
  EXPECT_EQ(under_->effects(), 3000);
  EXPECT_EQ(tally_.duplicate, 0u);
}

TEST_P(Deliveries, WithATimeBoundThatTheSourceWouldNotWaitForAreRefused) {
  MemoryQueue impatient({.ack_timeout = std::chrono::seconds(5)});
  const auto store = under_->open();
  const auto source = impatient.open();
  EXPECT_THROW(Worker(declaration_, MessageHandler(insert_effect), *store, *source, tally_), std::invalid_argument);
}

}  // namespace
}  // namespace onceward
