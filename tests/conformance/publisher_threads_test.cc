// A publisher has one thread, and wake() is for the others.
#include <atomic>
#include <future>
#include <latch>
#include <thread>

#include "tests/conformance/publisher_suite.h"
#include "tests/faults/proxy.h"

namespace onceward {
namespace {

using faults::Rule;
using std::chrono::steady_clock;

class PublisherThreads : public OnEveryPublisher {};
ONCEWARD_ON_EVERY_PUBLISHER(PublisherThreads);

TEST_P(PublisherThreads, MayBeHandedToAnotherThread) {
  const auto publisher = under_->open({});
  std::jthread([&] { publisher->publish(numbered(1, 10)); }).join();
  Receipts receipts;
  std::jthread([&] { receipts = collect(*publisher); }).join();
  EXPECT_EQ(count(receipts, Kind::confirmed), 10u);
}

TEST_P(PublisherThreads, WakesFromManyThreadsAreSafe) {
  const auto publisher = under_->open({});
  std::atomic<bool> done{false};
  std::vector<std::jthread> wakers;
  for (int i = 0; i < 3; ++i) {
    wakers.emplace_back([&] {
      while (!done) publisher->wake();
    });
  }
  for (std::uint64_t round = 0; round < 20; ++round) {
    publisher->publish(numbered(round * 10, 10));
    EXPECT_EQ(count(collect(*publisher), Kind::confirmed), 10u);
  }
  done = true;
}

class WaitingForReceipts : public OnEveryPublisher {};
ONCEWARD_ON_PUBLISHERS_THAT(WaitingForReceipts, remote);

TEST_P(WaitingForReceipts, WakeEndsTheWait) {
  const auto publisher = under_->open({.through_proxy = true});
  under_->proxy()->set({"the mark", Rule::Act::stall, 1});
  const Publication held = publication(1, destination_, R"("the mark")");
  publisher->publish({&held, 1});
  std::latch begun(1);
  const auto begin = steady_clock::now();
  auto waiting = std::async(std::launch::async, [&] {
    Receipts receipts;
    begun.count_down();
    publisher->collect(receipts, generous);
    return receipts;
  });
  begun.wait();
  EXPECT_EQ(waiting.wait_for(50ms), std::future_status::timeout) << "nothing has come";
  publisher->wake();
  EXPECT_TRUE(waiting.get().empty());
  publisher->wake();
  Receipts receipts;
  publisher->collect(receipts, generous);
  EXPECT_TRUE(receipts.empty()) << "also the next one";
  EXPECT_LT(steady_clock::now() - begin, generous / 2);
}

}  // namespace
}  // namespace onceward
