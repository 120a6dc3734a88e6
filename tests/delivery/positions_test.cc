// The worker on a source with positions: whatever becomes of a message, its stream never moves past one that is neither
// applied nor kept.
#include <atomic>
#include <map>
#include <set>

#include "src/envelope/key.h"
#include "tests/crash/forwarding_source.h"
#include "tests/delivery/doubting_store.h"
#include "tests/delivery/workplace.h"

namespace onceward {
namespace {

using fixtures::insert_effect;
using namespace std::chrono_literals;

using StreamsOf = std::map<char, std::shared_ptr<const Stream>>;

// An id "a7" is the message at offset 7 of stream a.
class PlacedSource final : public crash::ForwardingSource {
 public:
  struct Habits {
    bool forgetful = false;              // it does not know what was delivered before
    std::set<std::string> unreadable{};  // those ids
  };
  PlacedSource(Source& source, StreamsOf streams, Habits habits)
      : ForwardingSource(source), streams_(std::move(streams)), habits_(std::move(habits)) {}

  bool has_positions() const override { return true; }
  void receive(std::vector<Delivery>& into, std::size_t most, std::chrono::milliseconds wait) override {
    ForwardingSource::receive(into, most, wait);
    for (Delivery& delivery : into) {
      const std::string id(delivery.envelope.message_id().text());
      const std::int64_t offset = std::stoll(id.substr(1));
      delivery.partition = id.front() - 'a';
      delivery.position = Position{streams_.at(id.front()), offset, offset};
      if (habits_.unreadable.contains(id)) delivery.refusal = Refusal{Reason::malformed_json, "byte 0"};
      if (!habits_.forgetful) continue;
      delivery.deliveries = 0;
      delivery.redelivered = true;
    }
  }

 private:
  const StreamsOf streams_;
  const Habits habits_;
};

class WorkingByPosition : public Workplace {
 protected:
  WorkingByPosition() {
    declaration_.offsets = Offsets::store;
    declaration_.trust_producer = true;
    declaration_.order = Order::partition;
    enrolled_ = store_->enroll(declaration_);
    for (const char stream : {'a', 'b'}) streams_[stream] = begun(take_over(stream).stream);
  }

  TakenOver take_over(char stream) {
    auto unit = store_->begin(enrolled_);
    const TakenOver taken = unit->take_over(std::array{std::string(1, stream)}).front();
    unit->commit();
    return taken;
  }
  std::shared_ptr<const Stream> begun(const Stream& stream) {
    auto unit = store_->begin(enrolled_);
    auto made = std::make_shared<const Stream>(unit->begin_stream(stream, 0));
    unit->commit();
    return made;
  }

  // a0, b0, a1, b1...
  void push_two_streams(int count) {
    std::vector<fixtures::Message> messages;
    for (int i = 0; i < count; ++i) {
      for (const char* const stream : {"a", "b"}) {
        messages.push_back({.id = stream + std::to_string(i)});
        expected_[stream[0]].push_back(messages.back().id);
      }
    }
    push(messages);
  }

  void work(const Handler& handler, const DoubtingStore::Decide& decide = [](bool) { return Fate::answered; }) {
    std::jthread working([&](std::stop_token stop) {
      const auto real_store = under_->open(waits_);
      DoubtingStore store(*real_store, decide);
      const auto real = queue_.open();
      PlacedSource source(*real, streams_, habits_);
      Worker(declaration_, handler, store, source, tally_).run(stop, 20s);
    });
    fixtures::await("the queue is empty", [&] { return idle(); });
  }

  std::map<char, std::vector<std::string>> effects_by_stream() {
    const bool postgres = GetParam().name != "sqlite";
    std::map<char, std::vector<std::string>> found;
    for (const auto& row :
         under_->reader().read(std::string("SELECT message FROM effect ORDER BY ") + (postgres ? "ctid" : "rowid"))) {
      found[row[0]->front()].push_back(*row[0]);
    }
    return found;
  }
  std::int64_t next(char stream) {
    return under_->reader().number("SELECT next FROM " + under_->table("position") + " WHERE stream = '" + stream +
                                   "'");
  }
  // At every moment: all below the position of a stream have their effect, or a row in the quarantine.
  void expect_nothing_was_jumped(const std::string& parked = {}) {
    const auto effects = effects_by_stream();
    for (const char stream : {'a', 'b'}) {
      for (std::int64_t offset = 0; offset < next(stream); ++offset) {
        const std::string id = stream + std::to_string(offset);
        const auto found = effects.find(stream);
        const bool applied = found != effects.end() && std::ranges::count(found->second, id) == 1;
        EXPECT_TRUE(applied || id == parked) << id;
      }
    }
  }

  std::unique_ptr<Store> store_ = under_->open(waits_);
  Enrolled enrolled_;
  StreamsOf streams_;
  PlacedSource::Habits habits_;
  std::map<char, std::vector<std::string>> expected_;
};
ONCEWARD_AT_EVERY_STORE(WorkingByPosition);

TEST_P(WorkingByPosition, EveryMessageIsAppliedOnceWithoutARow) {
  push_two_streams(50);
  work(MessageHandler(insert_effect));
  EXPECT_EQ(effects_by_stream(), expected_);
  EXPECT_EQ(next('a'), 50);
  EXPECT_EQ(under_->rows_in("inbox"), 0);
}

TEST_P(WorkingByPosition, MessageThatIsTriedAgainIsNotPassed) {
  declaration_.retry.first_delay = declaration_.retry.longest_delay = 50ms;
  push_two_streams(20);
  int times = 2;
  work(MessageHandler([&](const Envelope& message, Transaction& transaction) -> Outcome {
    if (message.message_id().text() == "a5" && times-- > 0) {
      expect_nothing_was_jumped();
      EXPECT_LE(next('a'), 5);
      return Retry{"later"};
    }
    return insert_effect(message, transaction);
  }));
  EXPECT_EQ(effects_by_stream(), expected_);
  EXPECT_EQ(under_->rows_in("inbox"), 0);
}

TEST_P(WorkingByPosition, MessageThatFailsForGoodIsKeptAndPassed) {
  push_two_streams(20);
  work(MessageHandler([&](const Envelope& message, Transaction& transaction) -> Outcome {
    if (message.message_id().text() == "a5") return Failed{"never"};
    return insert_effect(message, transaction);
  }));
  std::erase(expected_['a'], "a5");
  EXPECT_EQ(effects_by_stream(), expected_);
  EXPECT_EQ(next('a'), 20);
  EXPECT_EQ(parked("never"), 1);
  EXPECT_EQ(under_->rows_in("inbox"), 1);
  expect_nothing_was_jumped("a5");
}

// A statement that fails is found by halves, with everything run again and again.
TEST_P(WorkingByPosition, PoisonInSqlIsFoundWithoutPassingAnything) {
  push_two_streams(40);
  work(BatchHandler([&](Messages& messages) {
    for (std::size_t i = 0; i < messages.size(); ++i) {
      if (messages[i].message_id().text() == "b7") {
        messages.whole().execute("INSERT INTO effect (message) VALUES (NULL)");
      } else {
        messages.whole().execute("INSERT INTO effect (message, note) VALUES ($1, '')", messages[i].message_id());
      }
    }
  }));
  std::erase(expected_['b'], "b7");
  EXPECT_EQ(effects_by_stream(), expected_);
  EXPECT_EQ(next('b'), 40);
  expect_nothing_was_jumped("b7");
}

TEST_P(WorkingByPosition, EachMayHaveATransactionOfItsOwn) {
  declaration_.transaction = TransactionScope::each;
  push_two_streams(10);
  int times = 1;
  work(MessageHandler([&](const Envelope& message, Transaction& transaction) -> Outcome {
    if (message.message_id().text() == "a5" && times-- > 0) throw std::runtime_error("no");
    return insert_effect(message, transaction);
  }));
  EXPECT_EQ(effects_by_stream(), expected_);
  EXPECT_EQ(next('a'), 10);
}

TEST_P(WorkingByPosition, ThoseOfUnknownHistoryAreTakenInTheirOrder) {
  habits_.forgetful = true;
  push_two_streams(20);
  work(MessageHandler(insert_effect));
  EXPECT_EQ(effects_by_stream(), expected_);
  EXPECT_EQ(tally_.alone, 0u);
}

// Those that a worker has begun before run alone, and the others around them together.
TEST_P(WorkingByPosition, MessageThatWasBegunBeforeKeepsItsPlace) {
  habits_.forgetful = true;
  {
    auto unit = store_->begin(enrolled_);
    unit->count(position_key(declaration_.name, {streams_['a'], 5, 5}), Attempt::start, {});
    ASSERT_EQ(unit->commit(), Commit::committed);
  }
  push_two_streams(20);
  work(MessageHandler(insert_effect));
  EXPECT_EQ(effects_by_stream(), expected_);
  EXPECT_EQ(tally_.alone, 1u);
}

TEST_P(WorkingByPosition, MessageThatCannotBeReadIsParkedInItsTurn) {
  for (const bool forgetful : {false, true}) {
    habits_ = {forgetful, {forgetful ? "a25" : "a5"}};
    expected_.clear();
    if (!forgetful) push_two_streams(20);
    std::vector<fixtures::Message> more;
    for (int i = 20; forgetful && i < 40; ++i) more.push_back({.id = "a" + std::to_string(i)});
    push(more);
    work(MessageHandler(insert_effect));
  }
  EXPECT_EQ(next('a'), 40);
  EXPECT_EQ(parked("malformed_json"), 2);
  EXPECT_EQ(under_->effects(), 58);
  EXPECT_EQ(under_->rows_in("inbox_body"), 2);
}

TEST_P(WorkingByPosition, CommitInDoubtIsAnsweredByThePosition) {
  push_two_streams(30);
  declaration_.batch = 5;
  int commits = 0;
  work(MessageHandler(insert_effect), [&](bool) {
    const int fate = commits++ % 3;
    return fate == 0 ? Fate::lands_unanswered : fate == 1 ? Fate::is_lost : Fate::answered;
  });
  EXPECT_EQ(effects_by_stream(), expected_);
  EXPECT_GT(tally_.in_doubt, 0u);
  expect_nothing_was_jumped();
}

TEST_P(WorkingByPosition, WhoeverLostItsStreamAppliesNothingMore) {
  declaration_.batch = 1;
  push_two_streams(10);
  std::jthread working([&](std::stop_token stop) {
    const auto store = under_->open(waits_);
    const auto real = queue_.open();
    PlacedSource source(*real, streams_, {});
    Worker(declaration_, MessageHandler(insert_effect), *store, source, tally_).run(stop, 20s);
  });
  fixtures::await("all are applied", [&] { return idle(); });
  take_over('a');
  std::vector<fixtures::Message> more;
  for (int i = 10; i < 15; ++i) more.push_back({.id = "a" + std::to_string(i)});
  push(more);
  fixtures::await("it was fenced", [&] { return tally_.fenced > 5; });
  EXPECT_EQ(effects_by_stream(), expected_);
  EXPECT_EQ(next('a'), 10);
}

TEST_P(WorkingByPosition, SourceWithoutPositionsIsRefusedAndOneThatHasThemToo) {
  const auto plain = queue_.open();
  EXPECT_THROW(Worker(declaration_, MessageHandler(insert_effect), *store_, *plain, tally_), std::invalid_argument);
  PlacedSource placed(*plain, streams_, {});
  EXPECT_THROW(Worker(fixtures::consumer("other"), MessageHandler(insert_effect), *store_, placed, tally_),
               std::invalid_argument);
}

}  // namespace
}  // namespace onceward
