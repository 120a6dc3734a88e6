// The broker goes away and comes back: nothing is lost, and what is not settled comes again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/brokers/kafka_server.h"
#include "tests/fixtures/kafka.h"
#include "tests/fixtures/kept_log.h"
#include "tests/fixtures/receiving.h"

namespace onceward {
namespace {

using namespace fixtures;  // NOLINT: the fixtures are the tests' vocabulary
using namespace std::chrono_literals;
using brokers::KafkaServer;
using testing::AllOf;
using testing::HasSubstr;

std::set<std::string> texts(int from, int to) {
  std::set<std::string> all;
  for (int i = from; i < to; ++i) all.insert(std::to_string(i));
  return all;
}

// Receives and settles as a worker does, whatever is thrown, until all of them were settled.
class Worker {
 public:
  explicit Worker(Source& source) : source_(source) {}
  void work_until(const std::set<std::string>& wanted) {
    await("all have come", [&] {
      step();
      return std::ranges::includes(done_, wanted);
    });
  }
  void step() {
    try {
      std::vector<Delivery> deliveries;
      source_.receive(deliveries, 7, 50ms);
      for (const std::string& payload : payloads_of(deliveries)) done_.insert(payload);
      settle(source_, deliveries);
    } catch (const Fault& fault) {
      EXPECT_EQ(fault.fault(), FaultCode::source_unavailable) << fault.what();
      said_ = fault.what();
    }
  }
  const std::set<std::string>& done() const { return done_; }
  const std::string& said() const { return said_; }

 private:
  Source& source_;
  std::set<std::string> done_;
  std::string said_;
};

TEST(KafkaOutage, BrokerIsKilledWithMessagesInOurHands) {
  KafkaServer server;
  KafkaTopic topic(1, server.brokers());
  topic.send(numbered_records(0, 20));
  KeptLog log;
  const auto source = open_kafka(topic.source(), log);
  settle(*source, receive_all(*source, 5));
  const auto held = receive_all(*source, 5);
  server.kill();
  Worker worker(*source);
  await("it is missed", [&] {
    worker.step();
    return !worker.said().empty();
  });
  EXPECT_THAT(worker.said(), AllOf(HasSubstr(server.brokers()), HasSubstr("cannot be reached")));
  server.start();
  // Still ours if the group has not gone on without us; else unknown, and they come again.
  try {
    settle(*source, held);
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.fault(), FaultCode::source_unavailable);
  }
  worker.work_until(texts(10, 20));
  await("all is committed", [&] {
    worker.step();
    return topic.committed() == std::map<int, std::int64_t>{{0, 20}};
  });
  EXPECT_GE(source->counters().reconnects, 1u);
  EXPECT_EQ(source->counters().settled + source->counters().settle_failed, source->counters().received);
}

TEST(KafkaOutage, ConnectionsAreCutAgainAndAgain) {
  KafkaServer server(KafkaServer::Through::proxy);
  KafkaTopic topic(1, server.brokers());
  const auto source = open_kafka(topic.source());
  Worker worker(*source);
  for (int round = 0; round < 10; ++round) {
    topic.send(numbered_records(round * 50, round * 50 + 50));
    for (int step = 0; step < 3; ++step) worker.step();
    server.proxy().cut_all();
  }
  worker.work_until(texts(0, 500));
  EXPECT_EQ(worker.done(), texts(0, 500));
  await("all is committed", [&] {
    worker.step();
    return topic.committed() == std::map<int, std::int64_t>{{0, 500}};
  });
}

TEST(KafkaOutage, NobodyIsLetIn) {
  KafkaServer server(KafkaServer::Through::proxy);
  KafkaTopic topic(1, server.brokers());
  topic.send(numbered_records(0, 10));
  const auto source = open_kafka(topic.source());
  Worker worker(*source);
  worker.work_until(texts(0, 10));
  server.proxy().refuse(true);
  server.proxy().cut_all();
  await("it is missed", [&] {
    worker.step();
    return !worker.said().empty();
  });
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THROW(receive(*source, 1, 0ms), Fault);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s) << "one look, and no longer";
  server.proxy().refuse(false);
  topic.send(numbered_records(10, 20));
  worker.work_until(texts(0, 20));
}

// In bounded time, also while nobody answers.
TEST(KafkaOutage, SourceIsClosedWhileTheBrokerIsAway) {
  KafkaServer server;
  KafkaTopic topic(1, server.brokers());
  topic.send(numbered_records(0, 3));
  auto source = open_kafka(topic.source());
  receive_all(*source, 3);
  server.kill();
  const auto begin = std::chrono::steady_clock::now();
  source.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 15s);
}

TEST(KafkaOutage, WhatIsPublishedThroughACrashIsAnsweredAndThere) {
  KafkaServer server;
  KafkaTopic topic(1, server.brokers());
  auto options = topic.publisher();
  options.format = WireFormat::native;
  const auto publisher = open_kafka_publisher(options);
  std::vector<std::string> ids;
  for (int i = 0; i < 300; ++i) ids.push_back(std::to_string(i));
  std::size_t next = 0;
  std::set<std::string> confirmed;
  std::size_t answered = 0;
  const auto publish_some = [&](std::size_t upto) {
    while (next < upto) {
      EnvelopeFields fields;
      fields.message_id = MessageId(ids[next]);
      fields.payload = ids[next];
      const Publication one{
          .tag = next, .destination = topic.name(), .key = "k", .envelope = Envelope::copy_of(fields)};
      publisher->publish({&one, 1});
      ++next;
    }
  };
  const auto collect = [&] {
    std::vector<Receipt> receipts;
    publisher->collect(receipts, 50ms);
    for (const Receipt& receipt : receipts) {
      if (receipt.kind == Receipt::Kind::confirmed) confirmed.insert(ids[receipt.tag]);
    }
    answered += receipts.size();
  };
  publish_some(100);
  collect();
  publish_some(200);  // on their way
  server.kill();
  await("it is missed", [&] {
    collect();
    try {
      publish_some(next + 1);
      return false;
    } catch (const Fault& fault) {
      EXPECT_EQ(fault.fault(), FaultCode::publisher_unavailable);
      EXPECT_THAT(fault.what(), HasSubstr(server.brokers()));
      return true;
    }
  });
  server.start();
  await("all have an answer", [&] {
    collect();
    return answered == next;
  });
  EXPECT_EQ(publisher->outstanding(), 0u);
  await("it publishes again", [&] {
    try {
      publish_some(next + 1);
      return true;
    } catch (const Fault&) {
      return false;
    }
  });
  await("that has an answer too", [&] {
    collect();
    return answered == next;
  });
  std::vector<std::string> there;
  for (const KafkaRecord& record : topic.read()) there.push_back(*record.value);
  const std::set<std::string> once(there.begin(), there.end());
  EXPECT_EQ(once.size(), there.size()) << "the idempotent producer does not double";
  EXPECT_TRUE(std::ranges::includes(once, confirmed)) << "nothing confirmed is missing";
  EXPECT_GE(confirmed.size(), 100u);
}

}  // namespace
}  // namespace onceward
