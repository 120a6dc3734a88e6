// Order by partition: what waits for its next attempt holds back its partition, and nobody else.
#include <map>
#include <mutex>

#include "tests/crash/forwarding_source.h"
#include "tests/delivery/workplace.h"

namespace onceward {
namespace {

using fixtures::insert_effect;
using namespace std::chrono_literals;

// The first letter of an id names the partition.
class PartitionedSource final : public crash::ForwardingSource {
 public:
  PartitionedSource(Source& source, bool forgetful) : ForwardingSource(source), forgetful_(forgetful) {}

  void receive(std::vector<Delivery>& into, std::size_t most, std::chrono::milliseconds wait) override {
    ForwardingSource::receive(into, most, wait);
    for (Delivery& delivery : into) {
      delivery.partition = delivery.envelope.message_id().text().front() - 'a';
      if (!forgetful_) continue;
      delivery.deliveries = 0;
      delivery.redelivered = true;
    }
  }

 private:
  const bool forgetful_;
};

class InOrder : public Workplace {
 protected:
  InOrder() { declaration_.order = Order::partition; }

  // a0, b0, a1, b1...
  void push_two_partitions(int count) {
    std::vector<fixtures::Message> messages;
    for (int i = 0; i < count; ++i) {
      for (const char* const partition : {"a", "b"}) {
        messages.push_back({.id = partition + std::to_string(i)});
        expected_[partition[0]].push_back(messages.back().id);
      }
    }
    push(messages);
  }

  void work_in_order(const Handler& handler, bool forgetful = false) {
    std::jthread working([&](std::stop_token stop) {
      const auto store = under_->open(waits_);
      const auto real = queue_.open();
      PartitionedSource source(*real, forgetful);
      Worker(declaration_, handler, *store, source, tally_).run(stop, 20s);
    });
    fixtures::await("the queue is empty", [&] { return idle(); });
  }

  // As they were committed.
  std::map<char, std::vector<std::string>> effects_by_partition() {
    std::map<char, std::vector<std::string>> found;
    for (const std::string& id : effects_in_order()) found[id.front()].push_back(id);
    return found;
  }
  std::vector<std::string> effects_in_order() {
    const bool postgres = GetParam().name != "sqlite";
    std::vector<std::string> ids;
    for (const auto& row :
         under_->reader().read(std::string("SELECT message FROM effect ORDER BY ") + (postgres ? "ctid" : "rowid"))) {
      ids.push_back(row[0].value_or(""));
    }
    return ids;
  }

  // Fails so often for that id, then has its effect.
  class Failing {
   public:
    Failing(std::string id, int times, std::function<Outcome()> fail)
        : id_(std::move(id)), times_(times), fail_(std::move(fail)) {}
    Outcome operator()(const Envelope& message, Transaction& transaction) {
      if (message.message_id().text() == id_ && times_-- > 0) return fail_();
      return insert_effect(message, transaction);
    }

   private:
    const std::string id_;
    int times_;
    const std::function<Outcome()> fail_;
  };

  std::map<char, std::vector<std::string>> expected_;
};
ONCEWARD_AT_EVERY_STORE(InOrder);

TEST_P(InOrder, MessageThatIsTriedAgainHoldsBackItsPartitionAndNobodyElse) {
  declaration_.retry.first_delay = declaration_.retry.longest_delay = 100ms;
  push_two_partitions(20);
  work_in_order(MessageHandler(Failing("a5", 2, [] { return Retry{"later"}; })));
  EXPECT_EQ(effects_by_partition(), expected_);
  const auto all = effects_in_order();
  EXPECT_LT(std::ranges::find(all, "b19"), std::ranges::find(all, "a5"));
  EXPECT_EQ(tally_.retried, 2u);
  EXPECT_EQ(waiting(), 0) << "nothing of it waits in the store";
  EXPECT_EQ(under_->rows_in("attempt"), 2);
}

TEST_P(InOrder, HoldsForThoseThatThrowToo) {
  push_two_partitions(10);
  work_in_order(MessageHandler(Failing("b0", 1, []() -> Outcome { throw std::runtime_error("no"); })));
  EXPECT_EQ(effects_by_partition(), expected_);
  EXPECT_EQ(tally_.thrown, 1u);
}

TEST_P(InOrder, HoldsForStatementsThatFail) {
  push_two_partitions(10);
  int times = 2;
  work_in_order(MessageHandler([&](const Envelope& message, Transaction& transaction) -> Outcome {
    if (message.message_id().text() == "a3" && times-- > 0) {
      transaction.execute("INSERT INTO effect (message) VALUES (NULL)");
      return Done{};
    }
    return insert_effect(message, transaction);
  }));
  EXPECT_EQ(effects_by_partition(), expected_);
}

TEST_P(InOrder, MessageThatHasUsedUpItsBudgetIsQuarantinedAndItsPartitionGoesOn) {
  push_two_partitions(10);
  work_in_order(MessageHandler(Failing("a5", 100, [] { return Retry{"later"}; })));
  std::erase(expected_['a'], "a5");
  EXPECT_EQ(effects_by_partition(), expected_);
  EXPECT_EQ(parked("later"), 1);
  EXPECT_EQ(tally_.retried, 2u) << "of three attempts";
}

TEST_P(InOrder, HoldsWhereNobodyKnowsWhatWasDeliveredBefore) {
  push_two_partitions(10);
  work_in_order(MessageHandler(Failing("a2", 2, [] { return Retry{"later"}; })), true);
  EXPECT_EQ(effects_by_partition(), expected_);
}

TEST_P(InOrder, HoldsForBatchHandlers) {
  push_two_partitions(10);
  int times = 2;
  work_in_order(BatchHandler([&](Messages& messages) {
    for (std::size_t i = 0; i < messages.size(); ++i) {
      if (messages[i].message_id().text() == "a2" && times-- > 0) {
        messages.finish(i, Retry{"later"});
      } else {
        insert_effect(messages[i], messages.on(i));
      }
    }
  }));
  EXPECT_EQ(effects_by_partition(), expected_);
}

// What comes while the first of its partition waits was begun by nobody, and still has its turn after it.
TEST_P(InOrder, HoldsForWhatComesWhileNobodyKnows) {
  declaration_.retry.first_delay = declaration_.retry.longest_delay = 50ms;
  push({{.id = "a0"}, {.id = "a1"}});
  int times = 1;
  work_in_order(MessageHandler([&](const Envelope& message, Transaction& transaction) -> Outcome {
                  if (message.message_id().text() != "a0" || times-- <= 0) return insert_effect(message, transaction);
                  push({{.id = "a2"}, {.id = "a3"}, {.id = "a4"}});
                  return Retry{"later"};
                }),
                true);
  EXPECT_EQ(effects_in_order(), (std::vector<std::string>{"a0", "a1", "a2", "a3", "a4"}));
}

// What is declared and not there is refused, not left out.
TEST_P(InOrder, OtherOrdersAndGapPoliciesAreRefused) {
  const auto store = under_->open(waits_);
  const auto source = queue_.open();
  for (const bool gap : {true, false}) {
    Declaration declaration = fixtures::consumer();
    if (gap) {
      declaration.gap = GapPolicy::wait;
    } else {
      declaration.order = Order::key;
    }
    EXPECT_THROW(Worker(declaration, MessageHandler(insert_effect), *store, *source, tally_), std::invalid_argument);
  }
}

TEST_P(InOrder, WhatIsHeldBackIsBounded) {
  declaration_.batch = 4;
  declaration_.retry.first_delay = declaration_.retry.longest_delay = 50ms;
  std::vector<fixtures::Message> messages;
  for (int i = 0; i < 60; ++i) messages.push_back({.id = "a" + std::to_string(i)});
  push(messages);
  std::uint64_t received = 0;
  int times = 1;
  work_in_order(MessageHandler([&](const Envelope& message, Transaction& transaction) -> Outcome {
    if (message.message_id().text() == "a0" && times-- > 0) return Retry{"later"};
    if (message.message_id().text() == "a0") received = queue_.depth().in_flight;
    return insert_effect(message, transaction);
  }));
  EXPECT_LE(received, 3 * declaration_.batch);
  EXPECT_EQ(under_->effects(), 60);
}

// Nothing of what comes then is ready to run, and all of it would be received.
TEST_P(InOrder, WhatComesWhileThePartitionWaitsIsBounded) {
  declaration_.batch = 4;
  declaration_.retry.first_delay = declaration_.retry.longest_delay = 300ms;
  push({{.id = "a0"}});
  std::uint64_t received = 0;
  int times = 1;
  work_in_order(MessageHandler([&](const Envelope& message, Transaction& transaction) -> Outcome {
    if (message.message_id().text() == "a0" && times-- > 0) {
      std::vector<fixtures::Message> messages;
      for (int i = 1; i < 60; ++i) messages.push_back({.id = "a" + std::to_string(i)});
      push(messages);
      return Retry{"later"};
    }
    if (message.message_id().text() == "a0") received = queue_.depth().in_flight;
    return insert_effect(message, transaction);
  }));
  EXPECT_LE(received, 4 * declaration_.batch);
  EXPECT_EQ(under_->effects(), 60);
}

}  // namespace
}  // namespace onceward
