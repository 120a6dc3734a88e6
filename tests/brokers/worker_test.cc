// A worker with real brokers before it: an acknowledgement proves nothing about the database, and a partition has an order.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "onceward/relay.h"
#include "onceward/worker.h"
#include "tests/crash/forwarding_source.h"
#include "tests/fixtures/kafka.h"
#include "tests/fixtures/rabbitmq.h"
#include "tests/fixtures/source_under_test.h"
#include "tests/fixtures/store_under_test.h"
#include "tests/fixtures/waiting.h"

namespace onceward {
namespace {

using namespace fixtures;  // NOLINT: the fixtures are the tests' vocabulary
using namespace std::chrono_literals;

// Its answers never reach the broker.
class UnheardSource final : public crash::ForwardingSource {
 public:
  using ForwardingSource::ForwardingSource;
  void settle(std::span<const Settlement>) override {}
};

class WorkerOnBroker {
 public:
  WorkerOnBroker() {
    declaration_.identity.producer = "shop";
    declaration_.identity.tenant_header.clear();
    declaration_.retry = {.attempts = 5, .first_delay = 50ms, .longest_delay = 50ms};
  }
  // Works until it holds; then it is stopped and has drained.
  template <class Done>
  void work(Source& source, const std::string& what, Done&& done, const MessageHandler& handler) {
    const auto store = under_->open();
    const std::jthread working(
        [&](std::stop_token stop) { Worker(declaration_, handler, *store, source, tally_).run(stop, 20s); });
    await(what, done);
  }
  // In the order of their commits, those whose id begins so.
  std::vector<std::string> effects(char first) {
    std::vector<std::string> ids;
    for (const auto& row : under_->reader().read("SELECT message FROM effect ORDER BY rowid")) {
      if (row[0].value_or("").front() == first) ids.push_back(*row[0]);
    }
    return ids;
  }

  std::unique_ptr<Store> open_store() { return under_->open(); }

  Declaration declaration_ = consumer();
  ConsumerTally tally_;

 private:
  std::unique_ptr<StoreUnderTest> under_ = backends().front().make();  // SQLite, whose rows have their order
};

std::vector<std::string> ids(char first, int count) {
  std::vector<std::string> made;
  for (int i = 0; i < count; ++i) made.push_back(first + std::to_string(i));
  return made;
}

class BrokersThatHeardNothing : public testing::TestWithParam<SourceBackend> {};
INSTANTIATE_TEST_SUITE_P(Source, BrokersThatHeardNothing,
                         testing::ValuesIn(source_backends_that(&SourceCapabilities::durable)), [](const auto& of) {
                           std::string name = of.param.name;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST_P(BrokersThatHeardNothing, DeliverAgainWhatIsCommittedAndItHasNoSecondEffect) {
  const auto queue = GetParam().make({});
  WorkerOnBroker worker;
  std::vector<std::string> messages;
  for (const std::string& id : ids('a', 30)) {
    messages.push_back(fmt::format(R"({{"messageId":"{}","producer":"shop","payload":{{}}}})", id));
  }
  queue->send(messages);
  const MessageHandler handler(insert_effect);
  {
    const auto source = queue->open();
    UnheardSource unheard(*source);
    worker.work(unheard, "all have their effect", [&] { return worker.tally_.processed == 30; }, handler);
  }
  const auto source = queue->open();
  worker.work(*source, "all have come again", [&] { return worker.tally_.duplicate == 30; }, handler);
  EXPECT_EQ(worker.effects('a'), ids('a', 30));
  EXPECT_EQ(source->counters().settled, 30u);
}

// From a message that was consumed to the one that it caused, over the outbox.
TEST(RabbitmqTrace, LeavesWithWhatItHasCaused) {
  const std::vector<RawHeader> trace{{"traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"},
                                     {"tracestate", "congo=t61rcWkgMzE"}};
  RabbitmqQueue in, out;
  in.send({{.body = "{}", .message_id = "a0", .headers = trace}});
  WorkerOnBroker worker;
  const auto source = open_rabbitmq({.connection = rabbitmq_server(), .queue = in.name()});
  worker.work(
      *source, "it is committed", [&] { return worker.tally_.processed == 1; },
      MessageHandler([](const Envelope&, Transaction& transaction) -> Outcome {
        transaction.stage(Outgoing{"paid", "k", "{}"});
        return Done{};
      }));
  RelayOptions options;
  options.name = "relay";
  options.producer = "shop";
  options.targets = {{"out", [] { return open_rabbitmq_publisher({.connection = rabbitmq_server()}); }}};
  options.routes = {{.types = {"paid"}, .key = out.name()}};
  RelayTally tally;
  const auto store = worker.open_store();
  Relay relay(options, *store, tally);
  {
    const std::jthread relaying([&](std::stop_token stop) { relay.run(stop, 20s); });
    await("it has left", [&] { return tally.published == 1; });
  }
  const auto left = out.client().take(out.name());
  ASSERT_TRUE(left.has_value());
  for (const RawHeader& header : trace) {
    const auto found = std::ranges::find(left->headers, header.name, &RawHeader::name);
    ASSERT_NE(found, left->headers.end()) << header.name;
    EXPECT_EQ(found->value, header.value);
  }
}

TEST(KafkaOrder, OfAPartitionIsKeptWhileAMessageIsTriedAgain) {
  KafkaTopic topic(2);
  std::vector<KafkaRecord> records;
  for (int i = 0; i < 20; ++i) {
    for (const char partition : {'a', 'b'}) {
      const std::string id = partition + std::to_string(i);
      records.push_back({.key = std::string(1, partition), .value = "{}", .headers = {{"id", id}}});
      records.back().partition = partition - 'a';
    }
  }
  topic.send(records);
  WorkerOnBroker worker;
  worker.declaration_.order = Order::partition;
  const auto source = open_kafka(topic.source());
  int failures = 2;
  worker.work(
      *source, "all is committed", [&] { return worker.tally_.processed == 40 && topic.committed().size() == 2; },
      MessageHandler([&](const Envelope& message, Transaction& transaction) -> Outcome {
        if (message.message_id().text() == "a5" && failures > 0) {
          --failures;
          return Retry{"later"};
        }
        return insert_effect(message, transaction);
      }));
  EXPECT_EQ(worker.effects('a'), ids('a', 20));
  EXPECT_EQ(worker.effects('b'), ids('b', 20));
  EXPECT_EQ(worker.tally_.retried, 2u);
}

}  // namespace
}  // namespace onceward
