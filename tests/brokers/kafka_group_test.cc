// Members come, go, stop and wake up late: every message is settled, and what is committed was settled before.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <deque>
#include <future>
#include <mutex>
#include <set>
#include <thread>

#include "tests/fixtures/kafka.h"
#include "tests/fixtures/kept_log.h"
#include "tests/fixtures/process.h"
#include "tests/fixtures/receiving.h"

namespace onceward {
namespace {

using namespace fixtures;  // NOLINT: the fixtures are the tests' vocabulary
using namespace std::chrono_literals;
using std::chrono::steady_clock;
using testing::ElementsAre;
using testing::HasSubstr;

class KafkaGroup : public testing::TestWithParam<bool> {
 protected:
  KafkaSourceOptions options(const KafkaTopic& topic) const {
    KafkaSourceOptions made = topic.source();
    made.cooperative = GetParam();
    return made;
  }
};
INSTANTIATE_TEST_SUITE_P(Rebalance, KafkaGroup, testing::Bool(),
                         [](const auto& info) { return info.param ? "Cooperative" : "Eager"; });

// Of two partitions one goes to a newcomer; what was received of it is settled meanwhile.
TEST_P(KafkaGroup, PartitionThatIsTakenAwayWaitsForWhatIsHeld) {
  KafkaTopic topic(2);
  topic.send(numbered_records(0, 8, 2));
  KafkaSourceOptions patient = options(topic);
  patient.revoke_deadline = 60s;
  const auto source = open_kafka(patient);
  const auto held = receive_all(*source, 8);
  auto joining = std::async(std::launch::async, [&] { return open_kafka(patient); });
  const auto end = steady_clock::now() + 1500ms;
  while (steady_clock::now() < end) EXPECT_TRUE(receive(*source, 10, 50ms).empty()) << "nothing comes twice";
  settle(*source, held);
  EXPECT_EQ(source->counters().settled, 8u);
  EXPECT_EQ(source->counters().settle_failed, 0u);
  await("the other one has joined", [&] {
    EXPECT_TRUE(receive(*source, 10, 20ms).empty());
    return joining.wait_for(0ms) == std::future_status::ready;
  });
  const auto other = joining.get();
  await("both have a partition", [&] {
    topic.send(numbered_records(0, 2, 2));
    const auto mine = receive(*source, 10, 100ms), theirs = receive(*other, 10, 100ms);
    settle(*source, mine);
    settle(*other, theirs);
    return !mine.empty() && !theirs.empty();
  });
}

TEST_P(KafkaGroup, WhatIsHeldPastTheDeadlineIsAbandonedAndComesAgain) {
  KafkaTopic topic(2);
  topic.send(numbered_records(0, 8, 2));
  KafkaSourceOptions hasty = options(topic);
  hasty.revoke_deadline = 300ms;
  KeptLog log;
  const auto source = open_kafka(hasty, log);
  const auto held = receive_all(*source, 8);
  auto joining = std::async(std::launch::async, [&] { return open_kafka(hasty); });
  std::unique_ptr<Source> other;
  std::set<std::string> again;
  await("the other one has received its half again", [&] {
    receive(*source, 0);
    if (!other && joining.wait_for(0ms) == std::future_status::ready) other = joining.get();
    if (other) {
      for (const std::string& payload : payloads_of(receive(*other, 10, 50ms))) again.insert(payload);
    }
    return again.size() >= 4;
  });
  EXPECT_THAT(log.text(), HasSubstr("were taken away"));
  settle(*source, held);
  EXPECT_GE(source->counters().settle_failed, 4u) << "their tags are unknown now";
  EXPECT_LE(topic.committed().size(), 1u) << "and the newcomer's partition is not committed by us";
}

// Else the group would wait for it at the next rebalance until its session has ended.
TEST_P(KafkaGroup, MemberWithoutPartitionsLeavesWhenItIsClosed) {
  KafkaTopic topic;
  KafkaSourceOptions slow_to_miss = options(topic);
  slow_to_miss.connection.properties["session.timeout.ms"] = "45000";
  std::vector<std::unique_ptr<Source>> sources;
  sources.push_back(open_kafka(slow_to_miss));
  auto joining = std::async(std::launch::async, [&] { return open_kafka(slow_to_miss); });
  await("the other one has joined", [&] {
    receive(*sources[0], 0);
    return joining.wait_for(0ms) == std::future_status::ready;
  });
  sources.push_back(joining.get());
  await("both are there", [&] {
    for (const auto& source : sources) receive(*source, 0);
    return topic.members() == 2;
  });
  topic.send(numbered_records(0, 1));
  std::size_t idle = 2;
  await("one has the partition", [&] {
    for (std::size_t at = 0; at < 2; ++at) {
      const auto deliveries = receive(*sources[at], 1, 20ms);
      settle(*sources[at], deliveries);
      if (!deliveries.empty()) idle = 1 - at;
    }
    return idle < 2;
  });
  sources[idle].reset();
  await(
      "one member is left",
      [&] {
        receive(*sources[1 - idle], 0);
        return topic.members() == 1;
      },
      20s);  // and not the session's 45
}

// Its successor has the same name, as when a process is started anew before the old one has ended.
TEST_P(KafkaGroup, MemberThatIsFencedSaysSoAndJoinsAnew) {
  KafkaTopic topic;
  KafkaSourceOptions named = options(topic);
  named.connection.properties["group.instance.id"] = "one";
  const auto source = open_kafka(named);
  topic.send(numbered_records(0, 1));
  settle(*source, receive_all(*source, 1));
  auto successor = open_kafka(named);
  std::string said;
  await("it is said", [&] {
    try {
      EXPECT_TRUE(receive(*source, 1, 100ms).empty());
    } catch (const Fault& fault) {
      EXPECT_EQ(fault.fault(), FaultCode::source_unavailable);
      said = fault.what();
    }
    return !said.empty();
  });
  EXPECT_THAT(said, HasSubstr("group.instance.id"));
  successor.reset();
  topic.send(numbered_records(1, 2));
  EXPECT_THAT(payloads_of(receive_all(*source, 1)), ElementsAre("1"));
  EXPECT_EQ(source->counters().reconnects, 1u);
}

// Some are held over many calls, so that a rebalance finds them unsettled.
TEST_P(KafkaGroup, StormLosesNothingAndCommitsNothingUnsettled) {
  constexpr int partitions = 6, count = 6000;
  KafkaTopic topic(partitions);
  topic.send(numbered_records(0, count, partitions));
  std::mutex mutex;
  std::set<std::string> settled;
  std::atomic<bool> done{false};
  const auto worker = [&](int lives, unsigned seed) {
    for (int life = 0; life < lives && !done; ++life) {
      KafkaSourceOptions mine = options(topic);
      mine.revoke_deadline = 50ms;  // less than the late ones take
      const auto source = open_kafka(mine);
      std::deque<std::pair<int, Delivery>> late;  // and the call at whose end they are settled
      int call = 0, taken = 0;
      const auto end =
          steady_clock::now() + std::chrono::milliseconds(700 + 300 * ((seed + static_cast<unsigned>(life)) % 4));
      while (!done && (lives == 1 || steady_clock::now() < end)) {
        try {
          ++call;
          std::vector<Delivery> ready;
          for (Delivery& delivery : receive(*source, 20, 20ms)) {
            if (++taken % 20 == 0) {
              late.emplace_back(call + 30, std::move(delivery));
            } else {
              ready.push_back(std::move(delivery));
            }
          }
          for (; !late.empty() && late.front().first <= call; late.pop_front()) ready.push_back(late.front().second);
          {
            // As an effect is: written down before the source hears of it.
            const std::lock_guard lock(mutex);
            for (const std::string& payload : payloads_of(ready)) settled.insert(payload);
          }
          std::this_thread::sleep_for(2ms);
          settle(*source, ready);
        } catch (const Fault& fault) {
          EXPECT_TRUE(fault.transient()) << fault.what();
        }
        const std::lock_guard lock(mutex);
        if (settled.size() == count) done = true;
      }
    }
  };
  {
    std::vector<std::jthread> threads;
    threads.emplace_back([&] { worker(1, 0); });
    for (unsigned i = 1; i < 4; ++i) threads.emplace_back([&, i] { worker(6, i); });
    // Also where one is waited for in vain.
    const std::unique_ptr<std::atomic<bool>, void (*)(std::atomic<bool>*)> end(&done, [](auto* flag) { *flag = true; });
    // What is committed lies below what was settled, at every moment.
    for (int look = 0; look < 10 && !done; ++look) {
      std::this_thread::sleep_for(300ms);
      const auto committed = topic.committed();
      const std::lock_guard lock(mutex);
      for (const auto& [partition, offset] : committed) {
        for (int at = 0; at < offset; ++at) {
          EXPECT_TRUE(settled.contains(std::to_string(at * partitions + partition))) << partition << " " << at;
        }
      }
    }
    await("all are settled", [&] { return done.load(); }, 120s);
  }
  EXPECT_EQ(settled.size(), static_cast<std::size_t>(count));
}

// A process that is stopped past its session wakes up as a stranger.
TEST_P(KafkaGroup, StoppedMemberLosesWhatItHoldsAndOverwritesNothing) {
  KafkaTopic topic;
  topic.send(numbered_records(0, 20));
  const std::string url = topic.url() + (GetParam() ? "&rebalance=cooperative" : "&rebalance=eager");
  Process late({ONCEWARD_TEST_PROGRAMS "/receiver", url, "late", "15"});
  await("it holds them", [&] { return late.output().find("holding 15") != std::string::npos; });
  EXPECT_EQ(topic.protocol(), GetParam() ? "cooperative-sticky" : "range");
  late.signal(SIGSTOP);
  const auto source = open_kafka(options(topic));
  const auto deliveries = receive_all(*source, 20);
  settle(*source, deliveries);
  EXPECT_EQ(source->counters().settled, 20u);
  late.signal(SIGCONT);
  EXPECT_EQ(late.wait(), 0) << late.output();
  EXPECT_THAT(late.output(), HasSubstr("settled 0 failed 15"));
  EXPECT_EQ(topic.committed(), (std::map<int, std::int64_t>{{0, 20}}));
}

TEST_P(KafkaGroup, SourceThatIsNotTendedLosesItsPlaceAndComesBack) {
  KafkaTopic topic;
  topic.send(numbered_records(0, 3));
  KafkaSourceOptions short_patience = options(topic);
  short_patience.connection.properties["max.poll.interval.ms"] = "6000";
  short_patience.revoke_deadline = 2s;
  KeptLog log;
  const auto source = open_kafka(short_patience, log);
  const auto held = receive_all(*source, 2);
  std::this_thread::sleep_for(7500ms);  // that is what is tested
  const auto again = receive_all(*source, 3);
  EXPECT_THAT(payloads_of(again), ElementsAre("0", "1", "2"));
  EXPECT_THAT(log.text(), HasSubstr("max.poll.interval.ms"));
  settle(*source, held);
  EXPECT_EQ(source->counters().settle_failed, 2u);
  EXPECT_EQ(topic.committed(), (std::map<int, std::int64_t>{}));
  settle(*source, again);
  EXPECT_EQ(topic.committed(), (std::map<int, std::int64_t>{{0, 3}}));
}

TEST_P(KafkaGroup, SlowHandlerKeepsItsPlaceWhileTheSourceIsTended) {
  KafkaTopic topic;
  topic.send(numbered_records(0, 500));
  KafkaSourceOptions short_patience = options(topic);
  short_patience.connection.properties["max.poll.interval.ms"] = "6000";
  short_patience.revoke_deadline = 2s;
  const auto source = open_kafka(short_patience);
  const auto held = receive_all(*source, 2);
  const auto end = steady_clock::now() + 7500ms;
  while (steady_clock::now() < end) {
    EXPECT_TRUE(receive(*source, 0).empty());
    std::this_thread::sleep_for(500ms);
  }
  settle(*source, held);
  EXPECT_EQ(source->counters().settled, 2u);
  EXPECT_THAT(payloads_of(receive(*source, 1)), ElementsAre("2"));
}

}  // namespace
}  // namespace onceward
