// How often a message was tried.
#include "tests/conformance/suite.h"

namespace onceward {
namespace {

class Attempts : public OnEveryStore {
 protected:
  static Key key(unsigned char number) {
    Key key;
    key.bytes[0] = number;
    return key;
  }
  int used(const Key& message) { return begin()->attempts(std::array{message})[0]; }
  void count(const Key& message, std::initializer_list<Attempt> attempts) {
    auto unit = begin();
    for (const Attempt attempt : attempts) unit->count(message, attempt, "code");
    ASSERT_EQ(unit->commit(), Commit::committed);
  }
  // As the command of a person who sends it again does.
  void reset(const Key& message) {
    const bool typed = GetParam().capabilities.typed_columns;
    std::string hex = to_string(message);
    if (!typed) std::erase(hex, '-');
    under_->reader().run("INSERT INTO " + under_->table("attempt") + " (key, at, kind) VALUES (" +
                         (typed ? "'" : "x'") + hex + "', " + (typed ? "now()" : "0") + ", 'reset')");
  }
};
ONCEWARD_ON_EVERY_STORE(Attempts);

using enum Attempt;

TEST_P(Attempts, UsedAreStartsAndFailuresLessThoseGivenBack) {
  count(key(1), {start, failure, failure, start, given_back});
  count(key(2), {start, given_back});
  EXPECT_EQ(used(key(1)), 3);
  EXPECT_EQ(used(key(2)), 0);
  EXPECT_EQ(used(key(3)), 0);
}

TEST_P(Attempts, OnlyThoseSinceAPersonLastSentItAgainAreUsed) {
  count(key(1), {start, failure});
  count(key(2), {start});
  reset(key(1));
  EXPECT_EQ(used(key(1)), 0);
  count(key(1), {start});
  EXPECT_EQ(used(key(1)), 1);
  reset(key(1));
  count(key(1), {start, failure});
  EXPECT_EQ(used(key(1)), 2);
  EXPECT_EQ(used(key(2)), 1);
}

TEST_P(Attempts, AreAnsweredInTheOrderThatTheyWereAskedFor) {
  count(key(1), {start});
  count(key(2), {start, start});
  const std::array asked{key(2), key(9), key(1), key(2)};
  EXPECT_EQ(begin()->attempts(asked), (std::vector<int>{2, 0, 1, 2}));
  EXPECT_TRUE(begin()->attempts({}).empty());
}

TEST_P(Attempts, ThoseOfTheUnitItselfAreSeenWrittenOrNot) {
  count(key(1), {start});
  auto unit = begin();
  unit->count(key(1), failure, "");
  EXPECT_EQ(unit->attempts(std::array{key(1)}), std::vector<int>{2});
  unit->flush();
  EXPECT_EQ(unit->attempts(std::array{key(1)}), std::vector<int>{2});
  unit->count(key(1), given_back, "");
  EXPECT_EQ(unit->attempts(std::array{key(1)}), std::vector<int>{1});
}

TEST_P(Attempts, ThoseOfAnAbandonedUnitAreNotCounted) {
  {
    auto unit = begin();
    unit->count(key(1), start, "");
    unit->flush();
  }
  EXPECT_EQ(used(key(1)), 0);
}

TEST_P(Attempts, RowTellsTheKindAndTheCode) {
  auto unit = begin();
  unit->count(key(1), given_back, "store_unavailable");
  ASSERT_EQ(unit->commit(), Commit::committed);
  EXPECT_EQ(under_->reader().value("SELECT kind || ' ' || code FROM " + under_->table("attempt")),
            "void store_unavailable");
}

TEST_P(Attempts, OfABatchCostOneTripToAskAndOneStatementToWrite) {
  std::vector<Key> keys;
  for (unsigned char number = 1; number <= 100; ++number) keys.push_back(key(number));
  const bool server = GetParam().capabilities.typed_columns;
  auto unit = begin();
  unit->attempts(keys);
  const StoreCounters before = store_->counters();
  EXPECT_EQ(unit->attempts(keys), std::vector<int>(100, 0));
  EXPECT_EQ(store_->counters().round_trips - before.round_trips, server ? 1u : 0u);
  for (const Key& each : keys) unit->count(each, failure, "code");
  const StoreCounters counted = store_->counters();
  unit->flush();
  EXPECT_EQ(store_->counters().statements - counted.statements, 1u);
  EXPECT_EQ(unit->attempts(keys), std::vector<int>(100, 1));
}

}  // namespace
}  // namespace onceward
