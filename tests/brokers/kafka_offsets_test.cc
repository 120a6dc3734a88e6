// Offsets that lead nowhere: what comes next was deleted, or the topic is another one of the same name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/fixtures/kafka.h"
#include "tests/fixtures/kept_log.h"
#include "tests/fixtures/receiving.h"

namespace onceward {
namespace {

using namespace fixtures;  // NOLINT: the fixtures are the tests' vocabulary
using namespace std::chrono_literals;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using OutOfRange = KafkaSourceOptions::OutOfRange;

// Two of ten are committed, then all before the sixth are deleted.
class KafkaOffsets : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    topic_.send(numbered_records(0, 10));
    const auto source = open_kafka(options());
    settle(*source, receive_all(*source, 2));
  }
  KafkaSourceOptions options() const {
    KafkaSourceOptions made = topic_.source();
    made.cooperative = GetParam();
    return made;
  }
  std::unique_ptr<Source> open(OutOfRange policy) {
    KafkaSourceOptions chosen = options();
    chosen.out_of_range = policy;
    return open_kafka(chosen, log_);
  }
  // Throws what receive() throws, if it does so before the deadline.
  static void receive_for(Source& source, std::chrono::milliseconds time) {
    const auto end = std::chrono::steady_clock::now() + time;
    while (std::chrono::steady_clock::now() < end) ASSERT_TRUE(receive(source, 10, 100ms).empty());
  }

  void await_moved_on(Source& source) {
    await("it has moved on", [&] {
      EXPECT_TRUE(receive(source, 10, 100ms).empty());
      return log_.text().find("it goes on at 10") != std::string::npos;
    });
  }

  KafkaTopic topic_;
  KeptLog log_;
};
INSTANTIATE_TEST_SUITE_P(Rebalance, KafkaOffsets, testing::Bool(),
                         [](const auto& of) { return of.param ? "Cooperative" : "Eager"; });

TEST_P(KafkaOffsets, OutOfRangeIsRefusedUnlessSomebodySaysWhatToDo) {
  topic_.delete_before(0, 5);
  const auto source = open(OutOfRange::refuse);
  for (int time = 0; time < 2; ++time) {
    try {
      receive_for(*source, 30s);
      FAIL() << "nothing was said";
    } catch (const Fault& fault) {
      EXPECT_EQ(fault.fault(), FaultCode::source_refused);
      EXPECT_THAT(fault.what(),
                  AllOf(HasSubstr("offset 2 comes next and is not there, the first is 5"), HasSubstr("out_of_range=")));
    }
  }
  EXPECT_EQ(topic_.committed(), (std::map<int, std::int64_t>{{0, 2}})) << "and nothing was skipped";
}

TEST_P(KafkaOffsets, OutOfRangeGoesOnWithTheEarliest) {
  topic_.delete_before(0, 5);
  const auto source = open(OutOfRange::earliest);
  const auto deliveries = receive_all(*source, 5);
  EXPECT_THAT(payloads_of(deliveries), ElementsAre("5", "6", "7", "8", "9"));
  EXPECT_THAT(log_.text(), HasSubstr("offset 2 comes next and is not there; 5 to 10 are; it goes on at 5"));
  settle(*source, deliveries);
  EXPECT_EQ(topic_.committed(), (std::map<int, std::int64_t>{{0, 10}}));
}

TEST_P(KafkaOffsets, OutOfRangeGoesOnWithTheLatest) {
  topic_.delete_before(0, 5);
  const auto source = open(OutOfRange::latest);
  await_moved_on(*source);
  topic_.send(numbered_records(10, 11));
  EXPECT_THAT(payloads_of(receive_all(*source, 1)), ElementsAre("10"));
}

// Else whoever comes next, or the same after a rebalance, would go on at a later end, past what was sent between.
TEST_P(KafkaOffsets, LatestIsWhereItWasWhenItWasFirstAskedFor) {
  topic_.delete_before(0, 5);
  {
    const auto source = open(OutOfRange::latest);
    await_moved_on(*source);
    EXPECT_EQ(topic_.committed(), (std::map<int, std::int64_t>{{0, 10}}));
  }
  topic_.send(numbered_records(10, 11));
  EXPECT_THAT(payloads_of(receive_all(*open(OutOfRange::latest), 1)), ElementsAre("10"));
}

// They are nowhere else by then, and their late commit takes nothing back.
TEST_P(KafkaOffsets, WhatIsHeldWhenItGoesOnWithTheLatestIsStillSettled) {
  KafkaSourceOptions one_by_one = options();
  one_by_one.out_of_range = OutOfRange::latest;
  one_by_one.connection.properties["queued.min.messages"] = "1";  // or all would be here already
  const auto source = open_kafka(one_by_one, log_);
  const auto held = receive_all(*source, 1);
  EXPECT_THAT(payloads_of(held), ElementsAre("2"));
  topic_.send(numbered_records(10, 20));
  topic_.delete_before(0, 20);
  std::vector<Delivery> more;
  await("it has moved on", [&] {
    for (Delivery& delivery : receive(*source, 1, 100ms)) more.push_back(std::move(delivery));
    return log_.text().find("it goes on at 20") != std::string::npos;
  });
  settle(*source, held);
  settle(*source, more);
  EXPECT_EQ(topic_.committed(), (std::map<int, std::int64_t>{{0, 20}}));
  EXPECT_EQ(source->counters().settled, source->counters().received);
}

// Where rebalances are eager, with every other one that is.
TEST_P(KafkaOffsets, PartitionOfWhichNothingCameIsAssignedAgainWhereItBegan) {
  KafkaTopic two(2);
  two.send(numbered_records(0, 20, 2));
  KafkaSourceOptions chosen = two.source();
  chosen.cooperative = GetParam();
  chosen.out_of_range = OutOfRange::earliest;
  {
    const auto source = open_kafka(chosen);
    int settled = 0;
    for (const Delivery& delivery : receive_all(*source, 20)) {
      if (delivery.partition == 1 && settled++ < 2) settle(*source, delivery);
    }
  }
  two.delete_before(0, 10);
  two.delete_before(1, 5);
  const auto source = open_kafka(chosen, log_);
  EXPECT_EQ(receive_all(*source, 5).front().partition, 1);
  EXPECT_TRUE(receive(*source, 1, 500ms).empty());
  EXPECT_THAT(log_.text(), AllOf(HasSubstr("partition 1 of"), Not(HasSubstr("partition 0 of"))));
}

// Kafka forgets what a group had committed in a topic that is deleted.
TEST_P(KafkaOffsets, TopicMadeAnewBeginsAnew) {
  topic_.remove();
  topic_.create();
  topic_.send(numbered_records(100, 103));
  const auto source = open(OutOfRange::refuse);
  EXPECT_THAT(payloads_of(receive_all(*source, 3)), ElementsAre("100", "101", "102"));
}

// Nobody asks for the topic but the fetcher that misses it.
TEST_P(KafkaOffsets, TopicThatGoesIsMissedWithoutFrequentQuestions) {
  const auto source = open(OutOfRange::refuse);
  settle(*source, receive_all(*source, 8));
  topic_.remove();
  try {
    receive_for(*source, 60s);
    FAIL() << "nothing was said";
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.fault(), FaultCode::source_unavailable);
    EXPECT_THAT(fault.what(), HasSubstr("there is no topic " + topic_.name()));
  }
  EXPECT_THAT(log_.text(), Not(HasSubstr(topic_.name()))) << "the fault says it";
}

// A topic that goes while it is read up to its end, and one of so many messages that takes its name once it is missed. Its
// reader asks `often` for it, and so may be told to leave it by its group, or only fetches.
class KafkaSuccessors : public KafkaOffsets {
 protected:
  using Start = KafkaSourceOptions::Start;

  std::vector<std::string> read_successor(int count, bool often, Start start = Start::earliest) {
    KafkaSourceOptions chosen = options();
    chosen.start = start;
    if (often) chosen.connection.properties["topic.metadata.refresh.interval.ms"] = "500";
    const auto source = open_kafka(chosen, log_);
    settle(*source, receive_all(*source, 7));
    const auto held = receive_all(*source, 1);
    topic_.remove();
    std::string said;
    await("it is missed", [&] {
      try {
        EXPECT_TRUE(receive(*source, 10, 100ms).empty());
      } catch (const Fault& fault) {
        EXPECT_EQ(fault.fault(), FaultCode::source_unavailable);
        said = fault.what();
      }
      return !said.empty();
    });
    EXPECT_THAT(said, HasSubstr("there is no topic " + topic_.name()));
    topic_.create();
    topic_.send(numbered_records(200, 200 + count));
    settle(*source, held);  // of the old one
    std::vector<std::string> payloads;
    await("the new one is read", [&] {
      try {
        const auto deliveries = receive(*source, 10, 100ms);
        for (std::string& payload : payloads_of(deliveries)) payloads.push_back(std::move(payload));
        settle(*source, deliveries);
      } catch (const Fault& fault) {
        EXPECT_TRUE(fault.transient()) << fault.what();
      }
      return payloads.size() >= static_cast<std::size_t>(count);
    });
    return payloads;
  }
};
INSTANTIATE_TEST_SUITE_P(Rebalance, KafkaSuccessors, testing::Bool(),
                         [](const auto& of) { return of.param ? "Cooperative" : "Eager"; });

TEST_P(KafkaSuccessors, TopicThatIsShorterIsReadFromItsBeginning) {
  EXPECT_THAT(read_successor(2, true), ElementsAre("200", "201"));
}

// It is the group's first word that `latest` is for.
TEST_P(KafkaSuccessors, TopicIsReadFromItsBeginningThoughItsGroupBeganAtTheEnd) {
  EXPECT_THAT(read_successor(2, true, Start::latest), ElementsAre("200", "201"));
}

// Nothing of where the old one was fits, and nothing tells.
TEST_P(KafkaSuccessors, TopicThatIsLongerIsReadFromItsBeginning) {
  const auto payloads = read_successor(20, false);
  EXPECT_EQ(payloads.size(), 20u);
  EXPECT_EQ(payloads.front(), "200");
  EXPECT_EQ(payloads.back(), "219");
}

}  // namespace
}  // namespace onceward
