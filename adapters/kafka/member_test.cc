// A group that does not answer as it should, played by librdkafka's own broker for tests.
#include "adapters/kafka/member.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <librdkafka/rdkafka_mock.h>

#include "tests/fixtures/kept_log.h"
#include "tests/fixtures/receiving.h"

namespace onceward::kafka {
namespace {

using namespace fixtures;  // NOLINT: the fixtures are the tests' vocabulary
using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// Of Kafka's protocol.
constexpr std::int16_t offset_fetch = 9, find_coordinator = 10;

class MemberOfAGroup : public testing::Test {
 protected:
  MemberOfAGroup()
      : instance_(rd_kafka_new(RD_KAFKA_PRODUCER, rd_kafka_conf_new(), nullptr, 0), rd_kafka_destroy),
        cluster_(rd_kafka_mock_cluster_new(instance_.get(), 1), rd_kafka_mock_cluster_destroy) {
    options_.connection.brokers = rd_kafka_mock_cluster_bootstraps(cluster_.get());
    options_.topic = "topic";
    options_.group = "group";
    options_.revoke_deadline = 0ms;
    rd_kafka_mock_topic_create(cluster_.get(), "topic", 1, 1);
  }

  void fails(std::int16_t request, rd_kafka_resp_err_t error) {
    const std::vector<rd_kafka_resp_err_t> many(10'000, error);
    rd_kafka_mock_push_request_errors_array(cluster_.get(), request, many.size(), many.data());
  }
  // Of a kilobyte each, confirmed on return.
  void send(std::int32_t partition, std::int64_t count) {
    rd_kafka_conf_t* const conf = rd_kafka_conf_new();
    rd_kafka_conf_set(conf, "bootstrap.servers", options_.connection.brokers.c_str(), nullptr, 0);
    const std::unique_ptr<rd_kafka_t, decltype(&rd_kafka_destroy)> producer(
        rd_kafka_new(RD_KAFKA_PRODUCER, conf, nullptr, 0), rd_kafka_destroy);
    const std::unique_ptr<rd_kafka_topic_t, decltype(&rd_kafka_topic_destroy)> topic(
        rd_kafka_topic_new(producer.get(), options_.topic.c_str(), nullptr), rd_kafka_topic_destroy);
    std::string body(1'000, 'x');
    for (std::int64_t i = 0; i < count; ++i) {
      ASSERT_EQ(
          rd_kafka_produce(topic.get(), partition, RD_KAFKA_MSG_F_COPY, body.data(), body.size(), nullptr, 0, nullptr),
          0);
    }
    ASSERT_EQ(rd_kafka_flush(producer.get(), 30'000), RD_KAFKA_RESP_ERR_NO_ERROR);
  }
  void group_has(std::int32_t partition, std::int64_t offset) {
    rd_kafka_conf_t* const conf = rd_kafka_conf_new();
    rd_kafka_conf_set(conf, "bootstrap.servers", options_.connection.brokers.c_str(), nullptr, 0);
    rd_kafka_conf_set(conf, "group.id", options_.group.c_str(), nullptr, 0);
    const std::unique_ptr<rd_kafka_t, decltype(&rd_kafka_destroy)> consumer(
        rd_kafka_new(RD_KAFKA_CONSUMER, conf, nullptr, 0), rd_kafka_destroy);
    const Partitions one(rd_kafka_topic_partition_list_new(1));
    rd_kafka_topic_partition_list_add(one.get(), options_.topic.c_str(), partition)->offset = offset;
    ASSERT_EQ(rd_kafka_commit(consumer.get(), one.get(), 0), RD_KAFKA_RESP_ERR_NO_ERROR);
  }
  void works_again(std::int16_t request) { rd_kafka_mock_clear_request_errors(cluster_.get(), request); }

  std::unique_ptr<rd_kafka_t, decltype(&rd_kafka_destroy)> instance_;
  std::unique_ptr<rd_kafka_mock_cluster_t, decltype(&rd_kafka_mock_cluster_destroy)> cluster_;
  KafkaSourceOptions options_;
};

TEST_F(MemberOfAGroup, OffsetsThatAreNotToldAreMissed) {
  fails(offset_fetch, RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED);
  try {
    open_kafka(options_);
    FAIL() << "it was opened";
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.fault(), FaultCode::source_refused);
    EXPECT_THAT(fault.what(), AllOf(HasSubstr("not allowed"), HasSubstr("committed offset")));
  }
  works_again(offset_fetch);
  options_.group = "other";  // this broker forgets no member
  EXPECT_TRUE(receive(*open_kafka(options_), 1, 0ms).empty());
}

// Behind its back, somebody answers the rebalance for it.
TEST_F(MemberOfAGroup, MemberWhoseAssignmentIsNotTakenIsOver) {
  options_.cooperative = true;
  const Bell bell;
  Assignment assignment;
  Member member(options_, assignment, nullptr, bell, silent_log());
  const Partitions one(rd_kafka_topic_partition_list_new(1));
  rd_kafka_topic_partition_list_add(one.get(), "topic", 0)->offset = 0;
  await("it has partitions by the group's word",
        [&] { return std::string_view(rd_kafka_rebalance_protocol(member.client().get())) == "COOPERATIVE"; });
  await("they are assigned", [&] { return !Error(rd_kafka_incremental_assign(member.client().get(), one.get())); });
  EXPECT_FALSE(member.over());
  await("it notices", [&] {
    try {
      member.tend();
    } catch (const Fault& fault) {
      EXPECT_THAT(fault.what(), HasSubstr("the assignment was not taken"));
    }
    return member.over();
  });
}

TEST_F(MemberOfAGroup, PartitionWithoutItsLeaderKeepsNoOtherFromBeingRead) {
  options_.topic = "two";
  rd_kafka_mock_topic_create(cluster_.get(), "two", 2, 1);
  send(1, 10);
  rd_kafka_mock_partition_set_leader(cluster_.get(), "two", 0, -1);
  const auto source = open_kafka(options_);
  EXPECT_EQ(receive_all(*source, 10).size(), 10u);
}

// As one is left by a fetcher that has stopped late, and has taken the forwarding of its queue with it.
TEST_F(MemberOfAGroup, WhatComesWhereNoMessageIsExpectedIsFetchedAgainWithoutAGap) {
  const Bell bell;
  Assignment assignment;
  KeptLog log;
  Member member(options_, assignment, nullptr, bell, log);
  await("it has its partition", [&] {
    member.tend();
    return assignment.find(0) != nullptr;
  });
  std::int64_t next = 0;
  const auto read_to = [&](std::int64_t end) {
    await("all have come", [&] {
      member.tend();
      for (Message message; next < end && (message = member.next());) {
        EXPECT_EQ(message->offset, next);
        assignment.find(0)->hand_out(message->offset, {});
        ++next;
      }
      return next >= end;
    });
  };
  send(0, 20);
  read_to(10);  // the rest lies where it is expected
  const Queue queue(rd_kafka_queue_get_partition(member.client().get(), "topic", 0));
  const Queue consumer(rd_kafka_queue_get_consumer(member.client().get()));
  rd_kafka_queue_forward(queue.get(), consumer.get());
  send(0, 500);
  await("it is called back", [&] {
    member.tend();
    return log.text().find("partition 0 is fetched again from 10") != std::string::npos;
  });
  read_to(520);
}

// Where rebalances are eager, whatever makes one partition be assigned again does so with all.
TEST_F(MemberOfAGroup, PartitionThatBeganWithoutItsLeaderIsAssignedAgainAtItsBeginning) {
  options_.topic = "two";
  options_.out_of_range = KafkaSourceOptions::OutOfRange::latest;
  rd_kafka_mock_topic_create(cluster_.get(), "two", 2, 1);
  send(0, 6'000);  // more than this broker keeps
  group_has(1, 100);
  rd_kafka_mock_partition_set_leader(cluster_.get(), "two", 0, -1);
  KeptLog log;
  const auto source = open_kafka(options_, log);
  await("partition 1 is assigned again", [&] {
    EXPECT_TRUE(receive(*source, 1, 20ms).empty());
    return log.text().find("partition 1 of two: offset 100 comes next") != std::string::npos;
  });
  rd_kafka_mock_partition_set_leader(cluster_.get(), "two", 0, 1);
  EXPECT_EQ(receive_all(*source, 1).front().partition, 0);
  EXPECT_THAT(log.text(), Not(HasSubstr("partition 0 of two")));
}

// Of two partitions one goes to a newcomer.
class MemberThatShares : public MemberOfAGroup {
 protected:
  MemberThatShares() {
    options_.topic = "two";
    options_.revoke_deadline = 60s;
    options_.connection.properties["heartbeat.interval.ms"] = "100";
    options_.connection.properties["session.timeout.ms"] = "3000";  // so long this broker waits for all to join
    rd_kafka_mock_topic_create(cluster_.get(), "two", 2, 1);
    send(0, 1);
  }

  void join(StreamKeeper* keeper) {
    member_ = std::make_unique<Member>(options_, assignment_, keeper, bell_, silent_log());
    await("it has both partitions", [&] {
      member_->tend();
      return assignment_.partitions().size() == 2;
    });
  }
  void take_the_first() {
    await("the message has come", [&] {
      member_->tend();
      const Message message = member_->next();
      if (message) assignment_.find(0)->hand_out(message->offset, {});
      return message != nullptr;
    });
  }
  void newcomer_joins(StreamKeeper* keeper) {
    newcomer_ = std::make_unique<Member>(options_, theirs_, keeper, bell_, silent_log());
    const Queue consumer(rd_kafka_queue_get_consumer(member_->client().get()));
    await("a rebalance is told", [&] { return rd_kafka_queue_length(consumer.get()) > 0; });
  }
  void await_shared() {
    await("each has one", [&] {
      member_->tend();
      newcomer_->tend();
      return assignment_.partitions().size() == 1 && theirs_.partitions().size() == 1;
    });
  }

  const Bell bell_;
  Assignment assignment_, theirs_;
  std::unique_ptr<Member> member_, newcomer_;
};

// While the keeper is asked where a partition goes on that is out of range.
TEST_F(MemberThatShares, RebalanceThatIsToldMeanwhileIsNotAnsweredByAnAssignment) {
  class Keeper final : public StreamKeeper {
   public:
    std::vector<TakenOver> take_over(std::span<const std::string> names) override {
      std::vector<TakenOver> taken;
      for (const std::string& name : names) taken.push_back({{name, 1, 1}, name == "two/1" ? 100 : 0});
      return taken;
    }
    Stream begin(const Stream& stream, std::int64_t) override {
      if (!std::exchange(asked, true)) meanwhile();
      return stream;
    }
    std::function<void()> meanwhile;
    bool asked = false;
  } keeper;
  keeper.meanwhile = [&] { newcomer_joins(&keeper); };
  options_.out_of_range = KafkaSourceOptions::OutOfRange::latest;
  join(&keeper);
  assignment_.find(1)->hand_out(100, {});  // so that it waits
  take_the_first();
  assignment_.find(1)->settle(100);
  await("the keeper was asked", [&] {
    EXPECT_FALSE(member_->next());
    member_->tend();
    return keeper.asked;
  });
  ASSERT_EQ(assignment_.partitions().size(), 2u);
  EXPECT_TRUE(assignment_.find(0)->leaving) << "and waits for what is held";
  assignment_.find(0)->settle(0);
  await_shared();
}

TEST_F(MemberThatShares, RebalanceThatWasAnsweredWithoutItTakesItsPartitionsAway) {
  join(nullptr);
  take_the_first();
  newcomer_joins(nullptr);
  member_->tend();
  EXPECT_TRUE(assignment_.find(0)->leaving);
  rd_kafka_assign(member_->client().get(), nullptr);
  await_shared();
}

TEST_F(MemberOfAGroup, GroupThatDoesNotAnswerIsMissedUntilItDoes) {
  fails(find_coordinator, RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE);
  const auto source = open_kafka(options_);
  for (int time = 0; time < 3; ++time) {
    try {
      receive(*source, 1, 100ms);
      FAIL() << "nothing was said";
    } catch (const Fault& fault) {
      EXPECT_EQ(fault.fault(), FaultCode::source_unavailable);
      EXPECT_THAT(fault.what(), HasSubstr("the group group has not answered for"));
    }
  }
  works_again(find_coordinator);
  await("it is there", [&] {
    try {
      return receive(*source, 1, 100ms).empty();
    } catch (const Fault&) {
      return false;
    }
  });
}

}  // namespace
}  // namespace onceward::kafka
