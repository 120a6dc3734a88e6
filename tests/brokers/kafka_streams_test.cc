// Partitions whose progress somebody else keeps: they begin where the keeper has them, whatever the group says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

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

// What a store would have in its table.
struct Book {
  struct Row {
    std::int64_t epoch = 0, begun = 0;
    std::optional<std::int64_t> next;
  };
  std::map<std::string, Row> rows;
  bool away = false;
};

class Bookkeeper final : public StreamKeeper {
 public:
  explicit Bookkeeper(Book& book) : book_(book) {}

  std::vector<TakenOver> take_over(std::span<const std::string> names) override {
    if (book_.away) throw Fault(FaultCode::store_unavailable, Poisons::connection, "the book is away");
    std::vector<TakenOver> taken;
    for (const std::string& name : names) {
      Book::Row& row = book_.rows[name];
      ++row.epoch;
      taken.push_back({{name, row.epoch, row.begun}, row.next});
    }
    return taken;
  }
  Stream begin(const Stream& stream, std::int64_t next) override {
    Book::Row& row = book_.rows[stream.name];
    if (row.epoch != stream.epoch) throw Fault(FaultCode::lost_race, Poisons::transaction, "it is somebody else's");
    row.begun = ++row.epoch;
    row.next = next;
    return {stream.name, row.epoch, row.begun};
  }

 private:
  Book& book_;
};

class KafkaStreams : public testing::TestWithParam<bool> {
 protected:
  KafkaSourceOptions options() const { return options_of(topic_); }
  static KafkaSourceOptions options_of(const KafkaTopic& topic) {
    KafkaSourceOptions made = topic.source();
    made.cooperative = GetParam();
    return made;
  }
  std::unique_ptr<Source> open() { return open(options()); }
  std::unique_ptr<Source> open(const KafkaSourceOptions& options) {
    return open_kafka(options, log_, std::make_unique<Bookkeeper>(book_));
  }
  Book::Row& row() { return book_.rows[topic_.name() + "/0"]; }
  void kept(std::int64_t next) { row() = {1, 1, next}; }
  void group_has(std::int64_t offset) {
    const auto source = open_kafka(options());
    settle(*source, receive_all(*source, static_cast<std::size_t>(offset)));
  }

  KafkaTopic topic_;
  Book book_;
  KeptLog log_;
};
INSTANTIATE_TEST_SUITE_P(Rebalance, KafkaStreams, testing::Bool(),
                         [](const auto& of) { return of.param ? "Cooperative" : "Eager"; });

TEST_P(KafkaStreams, StreamThatIsNewBeginsAtTheBeginningAndItsKeeperIsTold) {
  topic_.send(numbered_records(0, 5));
  topic_.delete_before(0, 2);
  const auto source = open();
  const auto deliveries = receive_all(*source, 3);
  EXPECT_THAT(payloads_of(deliveries), ElementsAre("2", "3", "4"));
  EXPECT_EQ(row().next, 2);
  EXPECT_TRUE(source->has_positions());
  const Position& first = *deliveries.front().position;
  EXPECT_EQ(first.stream->name, topic_.name() + "/0");
  EXPECT_EQ(first.stream->epoch, row().epoch);
  EXPECT_EQ(first.offset, 2);
  EXPECT_EQ(first.after, 2);
  EXPECT_EQ(deliveries.back().position->after, 4);
}

TEST_P(KafkaStreams, StreamThatIsNewBeginsWhereTheGroupIs) {
  topic_.send(numbered_records(0, 5));
  group_has(3);
  EXPECT_THAT(payloads_of(receive_all(*open(), 2)), ElementsAre("3", "4"));
  EXPECT_EQ(row().next, 3);
}

TEST_P(KafkaStreams, StreamThatIsNewMayBeginAtTheEnd) {
  topic_.send(numbered_records(0, 5));
  KafkaSourceOptions chosen = options();
  chosen.start = KafkaSourceOptions::Start::latest;
  const auto source = open(chosen);
  EXPECT_EQ(row().next, 5);
  topic_.send(numbered_records(5, 6));
  EXPECT_THAT(payloads_of(receive_all(*source, 1)), ElementsAre("5"));
}

TEST_P(KafkaStreams, GroupThatIsBehindIsNotBelieved) {
  topic_.send(numbered_records(0, 10));
  group_has(2);
  kept(7);
  EXPECT_THAT(payloads_of(receive_all(*open(), 3)), ElementsAre("7", "8", "9"));
}

TEST_P(KafkaStreams, GroupThatIsAheadIsNotBelieved) {
  topic_.send(numbered_records(0, 10));
  group_has(9);
  kept(7);
  const auto source = open();
  const auto deliveries = receive_all(*source, 3);
  EXPECT_THAT(payloads_of(deliveries), ElementsAre("7", "8", "9"));
  settle(*source, deliveries);
  EXPECT_EQ(topic_.committed(), (std::map<int, std::int64_t>{{0, 10}})) << "and is told all the same";
}

TEST_P(KafkaStreams, KeeperThatIsAwayIsSaidAndAskedAgain) {
  topic_.send(numbered_records(0, 2));
  kept(1);
  book_.away = true;
  EXPECT_THROW(open(), Fault);
  book_.away = false;
  EXPECT_THAT(payloads_of(receive_all(*open(), 1)), ElementsAre("1"));
}

TEST_P(KafkaStreams, WhatIsGoneIsRefusedOrSkippedWithoutAGap) {
  topic_.send(numbered_records(0, 10));
  topic_.delete_before(0, 5);
  kept(2);
  {
    const auto source = open();
    EXPECT_THROW(receive_all(*source, 1), Fault);
  }
  KafkaSourceOptions chosen = options();
  chosen.out_of_range = OutOfRange::earliest;
  const auto source = open(chosen);
  const auto deliveries = receive_all(*source, 5);
  EXPECT_EQ(deliveries.front().position->offset, 5);
  EXPECT_EQ(deliveries.front().position->after, 2) << "nothing of what was there is passed over";
  EXPECT_EQ(row().begun, 1);
}

TEST_P(KafkaStreams, WhatIsNotThereYetIsRefusedUntilItIs) {
  topic_.send(numbered_records(0, 10));
  kept(12);
  const auto source = open();
  try {
    receive_all(*source, 1);
    FAIL() << "nothing was said";
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.fault(), FaultCode::source_refused);
    EXPECT_THAT(fault.what(),
                AllOf(HasSubstr("offset 12 comes next"), HasSubstr("out_of_range="), Not(HasSubstr("group's offset"))));
  }
  topic_.send(numbered_records(10, 15));
  EXPECT_THAT(payloads_of(receive_all(*source, 3)), ElementsAre("12", "13", "14"));
  EXPECT_EQ(row().begun, 1);
}

TEST_P(KafkaStreams, EndThatIsGoneToIsKept) {
  topic_.send(numbered_records(0, 10));
  topic_.delete_before(0, 5);
  kept(2);
  KafkaSourceOptions chosen = options();
  chosen.out_of_range = OutOfRange::latest;
  {
    const auto source = open(chosen);
    await("its keeper is told", [&] {
      EXPECT_TRUE(receive(*source, 10, 100ms).empty());
      return row().next == 10;
    });
  }
  topic_.send(numbered_records(10, 11));
  const auto deliveries = receive_all(*open(chosen), 1);
  EXPECT_THAT(payloads_of(deliveries), ElementsAre("10"));
  EXPECT_EQ(deliveries.front().position->after, 10);
}

// The topic is another one: the same offsets are other messages.
TEST_P(KafkaStreams, StreamThatGoesBackBeginsAnew) {
  topic_.send(numbered_records(0, 3));
  kept(100);
  KafkaSourceOptions chosen = options();
  chosen.out_of_range = OutOfRange::earliest;
  const auto source = open(chosen);
  const auto deliveries = receive_all(*source, 3);
  EXPECT_THAT(payloads_of(deliveries), ElementsAre("0", "1", "2"));
  EXPECT_EQ(row().next, 0);
  EXPECT_EQ(deliveries.front().position->stream->epoch, row().epoch);
  EXPECT_EQ(deliveries.front().position->stream->begun, row().begun);
  EXPECT_GT(row().begun, 1);
}

// The topic is made anew while nothing is fetched of it.
TEST_P(KafkaStreams, StreamThatGoesBackWaitsForWhatIsHeld) {
  topic_.send(numbered_records(0, 8));
  kept(0);
  KafkaSourceOptions chosen = options();
  chosen.out_of_range = OutOfRange::earliest;
  chosen.connection.properties["queued.min.messages"] = "1";
  const auto source = open(chosen);
  auto held = receive_all(*source, 7);
  topic_.remove();
  topic_.create();
  topic_.send(numbered_records(200, 202));
  held.push_back(receive_all(*source, 1).front());
  for (int time = 0; time < 20; ++time) EXPECT_TRUE(receive(*source, 10, 100ms).empty());
  EXPECT_EQ(row().begun, 1) << "what is held would be fenced";
  settle(*source, held);
  EXPECT_THAT(payloads_of(receive_all(*source, 2)), ElementsAre("200", "201"));
  EXPECT_GT(row().begun, 1);
}

// Whoever assigns something meanwhile has answered the rebalance with it.
TEST_P(KafkaStreams, NothingMovesWhileARebalanceIsOpen) {
  KafkaTopic two(2);
  two.send(numbered_records(0, 20, 2));
  KafkaSourceOptions chosen = options_of(two);
  chosen.out_of_range = OutOfRange::latest;
  chosen.revoke_deadline = 60s;
  chosen.connection.properties["queued.min.messages"] = "1";
  const auto source = open(chosen);
  std::vector<Delivery> held[2];
  const auto receive_one = [&] {
    const Delivery one = receive_all(*source, 1).front();
    held[one.partition].push_back(one);
  };
  while (held[0].size() < 9) receive_one();
  two.send(std::vector<KafkaRecord>(10, {.value = "gone", .partition = 0}));
  two.delete_before(0, 20);
  while (held[0].size() + held[1].size() < 20) receive_one();
  const auto look = [&] {
    for (int time = 0; time < 10; ++time) EXPECT_TRUE(receive(*source, 10, 100ms).empty());
  };
  look();
  auto joining = std::async(std::launch::async, [&] { return open_kafka(chosen); });
  await("a rebalance begins", [&] { return two.members() == 0; });
  look();
  settle(*source, held[0]);
  look();
  EXPECT_EQ(book_.rows[two.name() + "/0"].next, 0) << "it waits for the other one";
  settle(*source, held[1]);
  await("both are there", [&] {
    receive(*source, 0);
    return joining.wait_for(0ms) == std::future_status::ready;
  });
}

TEST_P(KafkaStreams, StreamThatIsSomebodyElsesWhenItWouldMoveIsTakenOverAgain) {
  topic_.send(numbered_records(0, 10));
  topic_.delete_before(0, 5);
  kept(2);
  KafkaSourceOptions chosen = options();
  chosen.out_of_range = OutOfRange::latest;
  const auto source = open(chosen);
  row().epoch += 7;
  await("it has moved", [&] {
    EXPECT_TRUE(receive(*source, 10, 100ms).empty());
    return row().next == 10;
  });
  EXPECT_THAT(log_.text(), HasSubstr("taken over again at 2"));
  topic_.send(numbered_records(10, 11));
  EXPECT_THAT(payloads_of(receive_all(*source, 1)), ElementsAre("10"));
}

TEST_P(KafkaStreams, PartitionThatIsAddedBeginsAtItsBeginningAlsoWithLatest) {
  topic_.send(numbered_records(0, 5));
  KafkaSourceOptions chosen = options();
  chosen.start = KafkaSourceOptions::Start::latest;
  open(chosen);
  topic_.add_partitions(1);
  topic_.send({{.value = "early", .partition = 1}});
  EXPECT_THAT(payloads_of(receive_all(*open(chosen), 1)), ElementsAre("early"));
}

TEST_P(KafkaStreams, StreamThatIsGivenBackIsTakenOverAgain) {
  topic_.send(numbered_records(0, 10));
  kept(0);
  const auto source = open();
  const auto old = receive_all(*source, 4);
  row().epoch += 7;  // somebody else
  row().next = 3;
  settle(*source, old, Settle::redeliver);
  EXPECT_TRUE(receive(*source, 10, 100ms).empty()) << "nothing of it is handed out meanwhile";
  const auto deliveries = receive_all(*source, 7);
  EXPECT_EQ(payloads_of(deliveries).front(), "3");
  EXPECT_EQ(deliveries.front().position->stream->epoch, row().epoch);
  EXPECT_THAT(log_.text(), HasSubstr("taken over again at 3"));
}

// As when a database has failed over, and its last commits are lost.
TEST_P(KafkaStreams, StreamThatItsKeeperHasLostBeginsWhereTheGroupIs) {
  topic_.send(numbered_records(0, 10));
  const auto source = open();
  const auto applied = receive_all(*source, 2);
  settle(*source, applied);
  const auto old = receive_all(*source, 4);
  book_.rows.clear();
  settle(*source, old, Settle::redeliver);
  const auto deliveries = receive_all(*source, 8);
  EXPECT_EQ(payloads_of(deliveries).front(), "2") << "what was handed out and not applied comes again";
  EXPECT_EQ(deliveries.front().position->after, 2);
  EXPECT_EQ(deliveries.front().position->stream->epoch, row().epoch);
  EXPECT_EQ(row().next, 2) << "its keeper is told";
}

TEST_P(KafkaStreams, NativeMessageWithoutAnIdHasItsPlaceForOne) {
  topic_.send({{.key = "k", .value = "v"}, {.key = "k", .value = "v", .headers = {{"id", "its own"}}}});
  const auto deliveries = receive_all(*open(), 2);
  EXPECT_EQ(deliveries[0].envelope.message_id().text(), topic_.name() + "/0@0");
  EXPECT_EQ(deliveries[1].envelope.message_id().text(), "its own");
}

TEST_P(KafkaStreams, EveryAssignmentIsAnotherEpoch) {
  KafkaTopic two(2);
  two.send(numbered_records(0, 4, 2));
  {
    const auto source = open(options_of(two));
    for (const Delivery& delivery : receive_all(*source, 4)) EXPECT_GT(delivery.position->stream->epoch, 0);
  }
  const Book before = book_;
  const auto source = open(options_of(two));
  for (const Delivery& delivery : receive_all(*source, 4)) {
    EXPECT_GT(delivery.position->stream->epoch, before.rows.at(delivery.position->stream->name).epoch);
  }
}

}  // namespace
}  // namespace onceward
