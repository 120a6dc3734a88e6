// A source has one thread, and wake() is for the others; several sources share a queue.
#include <atomic>
#include <future>
#include <latch>
#include <mutex>
#include <thread>

#include "tests/conformance/source_suite.h"

namespace onceward {
namespace {

using std::chrono::steady_clock;

class SourceThreads : public OnEverySource {
 protected:
  // receive() on a thread of its own, from before this returns; by one that is opened there, if it had made way.
  std::future<Deliveries> receive_elsewhere() {
    auto begun = std::make_shared<std::latch>(1);
    auto answer = std::async(std::launch::async, [this, begun] {
      begun->count_down();
      come_back();
      return receive(*source_, 1000, generous);
    });
    begun->wait();
    return answer;
  }
};
ONCEWARD_ON_EVERY_SOURCE(SourceThreads);

TEST_P(SourceThreads, WakeLetsAReceiveThatWaitsReturn) {
  const auto begin = steady_clock::now();
  auto waiting = receive_elsewhere();
  EXPECT_EQ(waiting.wait_for(50ms), std::future_status::timeout) << "nothing has come";
  source_->wake();
  EXPECT_TRUE(waiting.get().empty());
  EXPECT_LT(steady_clock::now() - begin, generous / 2);
}

TEST_P(SourceThreads, WakeBeforeItLetsTheNextReceiveReturn) {
  const auto begin = steady_clock::now();
  source_->wake();
  EXPECT_TRUE(receive(*source_, 10, generous).empty());
  EXPECT_LT(steady_clock::now() - begin, generous / 2);
}

TEST_P(SourceThreads, OneWakeIsForOneReceive) {
  source_->wake();
  source_->wake();
  receive(*source_, 10, generous);
  const auto begin = steady_clock::now();
  EXPECT_TRUE(receive(*source_, 10, 60ms).empty());
  EXPECT_GE(steady_clock::now() - begin, 60ms);
}

TEST_P(SourceThreads, WakeIsForItsOwnSource) {
  const auto other = open_another();
  other->wake();
  const auto begin = steady_clock::now();
  EXPECT_TRUE(receive(*source_, 10, 60ms).empty());
  EXPECT_GE(steady_clock::now() - begin, 60ms);
}

TEST_P(SourceThreads, WakeLosesNoMessage) {
  send({"a"});
  source_->wake();
  Deliveries deliveries;
  await("it has come", [&] {
    source_->receive(deliveries, 1, generous);
    return !deliveries.empty();
  });
  EXPECT_EQ(ids_of(deliveries), Ids{"a"});
}

TEST_P(SourceThreads, MessageThatComesEndsTheWait) {
  const auto begin = steady_clock::now();
  auto waiting = receive_elsewhere();
  EXPECT_EQ(waiting.wait_for(50ms), std::future_status::timeout) << "nothing has come";
  send({"a"});
  EXPECT_EQ(ids_of(waiting.get()), Ids{"a"});
  EXPECT_LT(steady_clock::now() - begin, generous / 2);
}

TEST_P(SourceThreads, MessageThatIsGivenBackEndsTheWaitOfAnother) {
  send({"a"});
  make_way();
  auto other = under_->open();
  ASSERT_EQ(receive(*other).size(), 1u);
  auto waiting = receive_elsewhere();
  EXPECT_EQ(waiting.wait_for(50ms), std::future_status::timeout) << "it is held";
  other.reset();
  EXPECT_EQ(ids_of(waiting.get()), Ids{"a"});
}

TEST_P(SourceThreads, SourcesNeverShareADelivery) {
  constexpr int count = 900;
  constexpr int sources = 4;
  make_way();
  Ids all;
  std::mutex mutex;
  std::vector<std::string> failures(sources);
  {
    std::vector<std::jthread> threads;
    for (std::string& failure : failures) {
      threads.emplace_back([&] {
        try {
          const auto source = under_->open();
          for (;;) {
            const Deliveries deliveries = receive(*source, 7, 1s);
            settle(*source, deliveries);
            const std::lock_guard lock(mutex);
            for (const std::string& id : ids_of(deliveries)) all.push_back(id);
            if (all.size() >= count) return;
          }
        } catch (const std::exception& thrown) {
          failure = thrown.what();
        }
      });
    }
    for (int at = 0; at < count; at += 100) {
      Ids ids;
      for (int i = at; i < at + 100; ++i) ids.push_back(std::to_string(i));
      send(ids);
    }
  }
  for (const std::string& failure : failures) EXPECT_EQ(failure, "");
  EXPECT_EQ(sorted(all), sorted(numbered(count)));
  come_back();
  EXPECT_TRUE(is_empty(*source_));
}

TEST_P(SourceThreads, WakesFromManyThreadsAreSafe) {
  std::atomic<bool> done{false};
  std::vector<std::jthread> wakers;
  for (int i = 0; i < 3; ++i) {
    wakers.emplace_back([&] {
      while (!done) source_->wake();
    });
  }
  for (int round = 0; round < 20; ++round) {
    send({"a"});
    Deliveries deliveries;
    await("it has come", [&] {
      source_->receive(deliveries, 1, 10ms);
      return !deliveries.empty();
    });
    settle(*source_, deliveries);
  }
  done = true;
}

}  // namespace
}  // namespace onceward
