// Properties over random work. The seed is printed with every failure; ONCEWARD_SEED repeats a run.
#include <algorithm>
#include <barrier>
#include <cstdlib>
#include <mutex>
#include <random>
#include <set>
#include <thread>

#include "tests/conformance/suite.h"

namespace onceward {
namespace {

std::uint64_t seed() {
  const char* const given = std::getenv("ONCEWARD_SEED");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
}

class Random {
 public:
  explicit Random(std::uint64_t from) : engine_(from) {}
  int below(int bound) { return std::uniform_int_distribution<int>{0, bound - 1}(engine_); }
  bool one_in(int bound) { return below(bound) == 0; }
  template <class T>
  void shuffle(std::vector<T>& all) {
    std::shuffle(all.begin(), all.end(), engine_);
  }

 private:
  std::mt19937_64 engine_;
};

class Properties : public OnEveryStore {
 protected:
  void SetUp() override {
    declaration_ = consumer_with_operation("capturing");
    enrolled_ = store_->enroll(declaration_);
  }

  static constexpr int rounds = 8;
  // A deadlock would be thrown as a lost race.
  static constexpr RetryLimit once{.attempts = 1};

  // Runs `work(store, random, round, together)` in several threads at the same time, each with a store of its own. Returns what was
  // thrown.
  template <class Work>
  std::vector<std::string> race(Work&& work) {
    std::mutex mutex;
    std::vector<std::string> failures;
    std::barrier together(4);  // each round begins at the same time in all of them
    std::vector<std::jthread> threads;
    for (std::uint64_t thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&, thread] {
        try {
          Random random(seed_ + thread);
          auto store = under_->open();
          for (int round = 0; round < rounds; ++round) work(*store, random, round, together);
        } catch (const std::exception& thrown) {
          const std::scoped_lock lock(mutex);
          failures.emplace_back(thrown.what());
        }
        together.arrive_and_drop();
      });
    }
    threads.clear();  // joins
    return failures;
  }

  const std::uint64_t seed_ = seed();
};
ONCEWARD_ON_EVERY_STORE(Properties);

TEST_P(Properties, OverlappingBatchesInAnyOrderNeverDeadlock) {
  SCOPED_TRACE("ONCEWARD_SEED=" + std::to_string(seed_));
  std::mutex mutex;
  std::multiset<std::string> applied;
  EXPECT_EQ(race([&](Store& store, Random& random, int round, std::barrier<>& together) {
              std::vector<Message> messages;
              for (int id = 0; id < 16; ++id) {
                if (random.one_in(4)) continue;
                messages.push_back({.id = std::to_string(round) + "/" + std::to_string(id),
                                    .idempotency_key = std::to_string(round) + "-" + std::to_string(id / 2)});
              }
              random.shuffle(messages);
              const Inbound inbound(declaration_, messages);
              std::vector<std::string> firsts;
              together.arrive_and_wait();
              transact(store, enrolled_, once, [&](UnitOfWork& unit) {
                run_handlers(unit, inbound, [&](const Envelope& envelope, Transaction& transaction) -> Outcome {
                  insert_effect(envelope, transaction);
                  firsts.emplace_back(envelope.message_id().text());
                  return Done{};
                });
              });
              const std::scoped_lock lock(mutex);
              applied.insert(firsts.begin(), firsts.end());
            }),
            std::vector<std::string>{});
  EXPECT_EQ(static_cast<std::int64_t>(applied.size()), under_->effects());
  EXPECT_EQ(under_->reader().number("SELECT count(DISTINCT message) FROM effect"), under_->effects());
  EXPECT_EQ(under_->rows_in("operation"), under_->effects());
}

// Units that share no message, and so do not wait for one another at the claim, still share these.
TEST_P(Properties, SharedCallsAndParkedMessagesInAnyOrderNeverDeadlock) {
  SCOPED_TRACE("ONCEWARD_SEED=" + std::to_string(seed_));
  constexpr int keys = 1000;
  EXPECT_EQ(race([&](Store& store, Random& random, int round, std::barrier<>& together) {
              std::vector<Envelope> envelopes;
              for (int id = 0; id < keys; ++id) {
                envelopes.push_back(envelope_of({.id = std::to_string(round) + "/" + std::to_string(id)}));
              }
              random.shuffle(envelopes);
              together.arrive_and_wait();
              transact(store, enrolled_, once, [&](UnitOfWork& unit) {
                for (const Envelope& envelope : envelopes) {
                  unit.park(envelope, "suspect", "");
                  unit.whole().stage(Call{.endpoint = "gateway", .key = envelope.message_id().text(), .body = "{}"});
                }
              });
            }),
            std::vector<std::string>{});
  EXPECT_EQ(under_->rows_in("ledger"), rounds * keys);
  EXPECT_EQ(under_->rows_in("quarantine"), rounds * keys);
}

// Inbox row, effect, outgoing message and call of each message are there together or not at all.
class AllOrNothing : public OnEveryStore {
 protected:
  std::set<std::string> names(const std::string& column, const std::string& table) {
    std::set<std::string> all;
    for (const TextRow& row : under_->reader().read("SELECT " + column + " FROM " + table)) {
      EXPECT_TRUE(all.insert(row.at(0).value_or("NULL")).second) << row.at(0).value_or("NULL") << " twice in " << table;
    }
    return all;
  }
  static Outcome leave_one_of_each(const Envelope& envelope, Transaction& transaction) {
    insert_effect(envelope, transaction);
    transaction.stage(Outgoing{.type = "captured", .key = "k", .payload = "{}"});
    transaction.stage(Call{.endpoint = "gateway", .key = envelope.message_id().text(), .body = "{}"});
    return Done{};
  }
};
ONCEWARD_ON_EVERY_STORE(AllOrNothing);

TEST_P(AllOrNothing, HoldsAfterAnyAbort) {
  const std::uint64_t from = seed();
  SCOPED_TRACE("ONCEWARD_SEED=" + std::to_string(from));
  Random random(from);
  std::set<std::string> expected;
  for (int round = 0; round < 60; ++round) {
    std::vector<Message> messages;
    for (int count = 1 + random.below(5); count > 0; --count)
      messages.push_back({.id = std::to_string(random.below(40))});
    const Inbound inbound(declaration_, messages);
    const int abort_at = random.below(static_cast<int>(messages.size()) * 2);  // often past the end: no abort
    const int how = random.below(5);
    std::set<std::string> firsts;
    int handled = 0;
    try {
      auto unit = begin();
      run_handlers(*unit, inbound, [&](const Envelope& envelope, Transaction& transaction) -> Outcome {
        leave_one_of_each(envelope, transaction);
        firsts.emplace(envelope.message_id().text());
        if (handled++ == abort_at) {
          if (how == 0) throw std::domain_error("a handler's own");
          if (how == 1) transaction.query("SELECT no_such_column FROM effect");
          if (how == 2) transaction.execute("INSERT INTO effect (message) VALUES (NULL)");
          if (how == 3) transaction.execute("COMMIT");
        }
        return Done{};
      });
      if (how == 4 && abort_at % 2 == 0) unit->flush();
      const bool abandoned = how == 4 && abort_at < static_cast<int>(messages.size());
      if (!abandoned && unit->commit() == Commit::committed) expected.merge(firsts);
    } catch (const std::exception&) {
      // Nothing of this round may be left.
    }
    ASSERT_EQ(names("message", "effect"), expected);
    ASSERT_EQ(names("id", under_->table("inbox")), expected);
    ASSERT_EQ(names("causation_id", under_->table("outbox")), expected);
    ASSERT_EQ(names("idempotency_key", under_->table("ledger")), expected);
  }
  EXPECT_FALSE(expected.empty());
}

}  // namespace
}  // namespace onceward
