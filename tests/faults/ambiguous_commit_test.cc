// The answer to COMMIT is lost: by a proxy between us and a real server, before and after the server got it. With and
// without a pooler on the way, which answers a COMMIT with an error of its own when it has lost the server.
#include <gmock/gmock.h>

#include <optional>
#include <random>

#include "tests/faults/deadline.h"
#include "tests/faults/pooler.h"
#include "tests/faults/proxy.h"
#include "tests/faults/world.h"
#include "tests/fixtures/postgres_database.h"
#include "tests/fixtures/waiting.h"

namespace onceward::faults {
namespace {

using enum Verdict;
using namespace std::chrono_literals;
using Prepare = PostgresOptions::Prepare;

// With the NUL that ends a statement on the wire: READ COMMITTED is not meant.
const std::string commit_statement("COMMIT", 7);

// How we reach the server. With and without prepared statements the bytes on the wire differ; with a pooler, so does who
// is told of the fault.
enum class Way : std::uint8_t {
  prepared,       // we - proxy - server
  unprepared,     // the same
  before_pooler,  // we - proxy - pooler - server
  behind_pooler,  // we - pooler - proxy - server
};
std::string name_of_way(const testing::TestParamInfo<Way>& of) {
  constexpr const char* names[] = {"prepared", "unprepared", "before_pooler", "behind_pooler"};
  return names[static_cast<std::size_t>(of.param)];
}

class AmbiguousCommit : public testing::TestWithParam<Way> {
 protected:
  void SetUp() override {
    if (GetParam() == Way::behind_pooler) pooler_.emplace(proxy_.port());
  }
  std::unique_ptr<Store> open(std::chrono::milliseconds patience = 60s) {
    return open_postgres({.url = pooler_ ? pooler_->url(database_.name()) : proxy_.instead_of(database_.url()),
                          .connect_deadline = 10s,
                          .statement_deadline = patience,
                          .lock_deadline = patience / 10,
                          .prepare = GetParam() == Way::unprepared ? Prepare::never : Prepare::unless_pooled});
  }
  std::int64_t effects() { return reader_->number("SELECT count(*) FROM effect"); }
  static PostgresDatabase& emptied() {
    shared_database().empty();
    return shared_database();
  }

  PostgresDatabase& database_ = emptied();
  Declaration declaration_ = consumer();
  Enrolled enrolled_ = prepare_database(database_.url(), declaration_);
  std::unique_ptr<Reader> reader_ = read_postgres(database_.url());
  Proxy proxy_{port_of(GetParam() == Way::before_pooler ? database_.pooled_url() : database_.url())};
  std::optional<Pooler> pooler_;
  Deadline deadline_{60s, [this] { proxy_.cut_all(); }};
};
INSTANTIATE_TEST_SUITE_P(Faults, AmbiguousCommit,
                         testing::Values(Way::prepared, Way::unprepared, Way::before_pooler, Way::behind_pooler),
                         name_of_way);

TEST_P(AmbiguousCommit, CutBeforeTheServerGotItIsInDoubtAndClaimingAgainIsFirst) {
  const Inbound inbound(declaration_, {Message{}});
  auto store = open();
  proxy_.set({.needle = commit_statement, .act = Rule::Act::cut_before});
  auto unit = store->begin(enrolled_);
  run_handlers(*unit, inbound, leave_one_of_each);
  EXPECT_EQ(unit->commit(), Commit::in_doubt);
  EXPECT_EQ(proxy_.fired(), 1);
  unit.reset();
  EXPECT_EQ(verdicts(apply(*store, enrolled_, inbound, leave_one_of_each)), Verdicts{first});
  EXPECT_EQ(store->counters().reconnects, 1u);
  EXPECT_EQ(effects(), 1);
  expect_all_or_nothing(*reader_, "onceward.");
}

TEST_P(AmbiguousCommit, CutAfterTheServerGotItIsInDoubtAndClaimingAgainIsADuplicate) {
  const Inbound inbound(declaration_, {Message{}});
  auto store = open();
  proxy_.set({.needle = commit_statement, .act = Rule::Act::cut_after});
  auto unit = store->begin(enrolled_);
  run_handlers(*unit, inbound, leave_one_of_each);
  EXPECT_EQ(unit->commit(), Commit::in_doubt);
  EXPECT_EQ(proxy_.fired(), 1);
  unit.reset();
  EXPECT_EQ(verdicts(apply(*store, enrolled_, inbound, leave_one_of_each)), Verdicts{duplicate});
  EXPECT_EQ(effects(), 1);
  expect_all_or_nothing(*reader_, "onceward.");
}

TEST_P(AmbiguousCommit, TransactAppliesOnceWhereverTheAnswerIsCut) {
  std::mt19937 random{std::random_device{}()};
  auto store = open();
  for (int round = 0; round < 24; ++round) {
    const Inbound inbound(declaration_, {{.id = "a" + std::to_string(round)}, {.id = "b" + std::to_string(round)}});
    const std::size_t bytes = std::uniform_int_distribution<std::size_t>{1, 120}(random);
    // Cut at the claim, at the effect, or at the COMMIT.
    const std::string needles[] = {"onceward.inbox", "INSERT INTO effect", commit_statement};
    const auto act = round % 2 == 0 ? Rule::Act::cut_before : Rule::Act::cut_after;
    proxy_.cut_all();  // so that statements are prepared anew, and needles seen
    proxy_.set({.needle = needles[round % 3], .act = act, .answer_bytes = bytes});
    const auto answers = apply(*store, enrolled_, inbound, leave_one_of_each);
    ASSERT_EQ(effects(), 2 * (round + 1)) << needles[round % 3] << " " << round;
    EXPECT_EQ(answers.size(), 2u);
  }
  EXPECT_GE(proxy_.fired(), 20);
  expect_all_or_nothing(*reader_, "onceward.");
}

TEST_P(AmbiguousCommit, SilenceAfterCommitIsInDoubtAndClaimingAgainKnows) {
  const Inbound inbound(declaration_, {Message{}});
  auto store = open(1s);
  proxy_.set({.needle = commit_statement, .act = Rule::Act::stall});
  auto unit = store->begin(enrolled_);
  run_handlers(*unit, inbound, leave_one_of_each);
  EXPECT_EQ(unit->commit(), Commit::in_doubt);
  unit.reset();
  EXPECT_EQ(verdicts(apply(*store, enrolled_, inbound, leave_one_of_each)), Verdicts{duplicate});
  EXPECT_EQ(effects(), 1);
}

TEST_P(AmbiguousCommit, ConnectionLostBeforeTheCommitIsUnavailableAndTheNextUnitReconnects) {
  const Inbound inbound(declaration_, {Message{}});
  auto store = open();
  auto unit = store->begin(enrolled_);
  unit->claim(inbound.claimants());
  proxy_.cut_all();
  try {
    for (int statement = 0; statement < 100; ++statement) unit->whole().query("SELECT 1");
    FAIL() << "the connection was not cut";
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.fault(), FaultCode::store_unavailable);
    EXPECT_EQ(fault.poisons(), Poisons::connection);
    EXPECT_TRUE(fault.transient());
  }
  EXPECT_EQ(unit->commit(), Commit::failed);
  unit.reset();
  EXPECT_EQ(verdicts(apply(*store, enrolled_, inbound)), Verdicts{first});
  EXPECT_EQ(store->counters().reconnects, 1u);
}

TEST_P(AmbiguousCommit, ConnectionCutWhileIdleIsReplacedByTransact) {
  const Inbound inbound(declaration_, {Message{}});
  auto store = open();
  proxy_.cut_all();
  EXPECT_EQ(verdicts(apply(*store, enrolled_, inbound)), Verdicts{first});
  EXPECT_EQ(effects(), 1);
}

TEST_P(AmbiguousCommit, ServerThatRefusesForAWhileIsTriedAgainWithinTheLimit) {
  const Inbound inbound(declaration_, {Message{}});
  auto store = open(500ms);  // a pooler lets its clients wait, they do not let it
  proxy_.refuse(true);
  proxy_.cut_all();
  EXPECT_EQ(fault_of([&] { apply(*store, enrolled_, inbound, insert_effect, {.attempts = 3}); }),
            FaultCode::store_unavailable);
  proxy_.refuse(false);
  // A pooler that was refused takes a second before it tries again.
  await("clients are served again", [&] {
    try {
      return open() != nullptr;
    } catch (const Fault&) {
      return false;
    }
  });
  EXPECT_EQ(verdicts(apply(*store, enrolled_, inbound)), Verdicts{first});
}

TEST_P(AmbiguousCommit, SilenceWhileALargeBatchIsSentIsNotWaitedForForEver) {
  const std::string payload(16 * 1024 * 1024, 'x');
  const Inbound inbound(declaration_, {{.payload = payload}});
  auto store = open(1s);
  proxy_.set({.needle = "INSERT INTO effect", .act = Rule::Act::stall});
  auto unit = store->begin(enrolled_);
  run_handlers(*unit, inbound, leave_one_of_each);
  EXPECT_EQ(unit->commit(), Commit::in_doubt);
  EXPECT_EQ(proxy_.fired(), 1);
  unit.reset();
  // As long as the server does not know either, the claim is held.
  const Inbound again(declaration_, {Message{}});
  EXPECT_THAT(fault_of([&] { apply(*store, enrolled_, again, leave_one_of_each, {.attempts = 1}); }),
              testing::AnyOf(FaultCode::busy, FaultCode::timed_out));  // both deadlines are the same second
  proxy_.cut_all();
  await_no_transaction(*reader_);
  EXPECT_EQ(verdicts(apply(*store, enrolled_, again, leave_one_of_each)), Verdicts{first});
}

// Answers are as large as what is sent, and each is more than the buffers on the way can take: a client that does not
// read while it writes waits for a server that waits for it.
TEST_P(AmbiguousCommit, BatchOf64MegabytesThroughANarrowPipeDoesNotDeadlock) {
  constexpr int messages = 1000;
  constexpr int each_answer = 500;  // messages; 32 MB
  const std::string payload(64 * 1024, 'x');
  std::vector<Message> many;
  for (int at = 0; at < messages; ++at) many.push_back({.id = std::to_string(at), .payload = payload});
  const Inbound inbound(declaration_, many);
  proxy_.throttle(64 * 1024);
  auto store = open();
  auto unit = store->begin(enrolled_);
  run_handlers(*unit, inbound, [](const Envelope& envelope, Transaction& transaction) -> Outcome {
    const bool answers = std::stoi(std::string(envelope.message_id().text())) % each_answer == 0;
    transaction.execute("INSERT INTO effect (message, note) VALUES ($1, $2) RETURNING repeat(note, $3::integer)",
                        envelope.message_id(), envelope.payload(), answers ? each_answer : 0);
    return Done{};
  });
  ASSERT_EQ(unit->commit(), Commit::committed);
  EXPECT_EQ(effects(), messages);
  EXPECT_EQ(reader_->number("SELECT sum(length(note)) FROM effect"), messages * 64 * 1024);
}

}  // namespace
}  // namespace onceward::faults
