// A RabbitMQ source whose connection, channel, consumer or queue goes away.
#include <nlohmann/json.hpp>

#include "tests/brokers/rabbitmq_world.h"

namespace onceward::brokers {
namespace {

using RabbitmqSources = RabbitmqWorld;

// Every heartbeat of a client.
const std::string heartbeat("\x08\0\0\0\0\0\0\xce", 8);

TEST_F(RabbitmqSources, CutConnectionIsMadeAnewAndWhatWasHeldComesBack) {
  queue_.send(messages(5));
  const auto source = open(through(proxy_));
  const Deliveries before = receive(*source, 5);
  proxy_.cut_all();
  const Deliveries again = receive(*source, 5);
  EXPECT_EQ(ids_of(again), ids_of(before));
  EXPECT_GT(again.front().tag, before.back().tag);
  EXPECT_TRUE(std::ranges::all_of(again, &Delivery::redelivered));
  EXPECT_EQ(source->counters().reconnects, 1u);
  expect_one_line("unsettled=5");

  settle(*source, before);
  EXPECT_EQ(source->counters().settle_failed, 5u) << "tags of the lost connection name nothing";
  EXPECT_EQ(source->counters().settled, 0u);
  settle(*source, again);
  EXPECT_EQ(source->counters().settled, 5u);
}

// Up to the first that is held by one word, behind it each alone. A classic queue, since what a quorum queue has not got round to
// is forgotten when its channel ends.
TEST_F(RabbitmqSources, WhatComesBeforeTheFirstThatIsHeldIsSettledByOneWord) {
  constexpr std::uint64_t ack_bytes = 21;
  RabbitmqQueue classic({.quorum = false});
  classic.send(messages(500));
  auto source = open(through(proxy_), classic.name());
  Deliveries settled = receive(*source, 500);
  const Delivery held = settled[400];
  settled.erase(settled.begin() + 400);
  const auto before = proxy_.bytes_from_clients();
  settle(*source, settled);
  await("they are on their way", [&] { return proxy_.bytes_from_clients() >= before + 100 * ack_bytes; });
  EXPECT_LT(proxy_.bytes_from_clients(), before + 101 * ack_bytes);
  source.reset();
  await("the held one is back", [&] { return classic.depth() > 0; });
  EXPECT_EQ(classic.depth(), 1u);
  EXPECT_EQ(ids_of(receive(*open(rabbitmq_server(), classic.name()), 1)), ids_of({held}));
}

TEST_F(RabbitmqSources, CutWhileSettlingIsToldAndLosesNothing) {
  queue_.send(messages(50));
  const auto source = open(through(proxy_));
  const Deliveries held = receive(*source, 50);
  proxy_.cut_all();
  std::size_t next = 0;
  const Thrown thrown = thrown_by([&] {
    for (; next < 50; ++next) {
      settle(*source, {held[next]});
      std::this_thread::sleep_for(2ms);  // the cut takes a moment
    }
  });
  ASSERT_EQ(thrown.code, FaultCode::source_unavailable) << "after " << next;
  EXPECT_GE(source->counters().settle_failed, 1u);
  // Also those whose acknowledgement was lost on the way.
  const std::set<std::string> unsettled = ids_of({held.begin() + static_cast<long>(next), held.end()});
  std::set<std::string> came;
  await("all of them have come back", [&] {
    Deliveries again;
    source->receive(again, 50, 1s);
    settle(*source, again);
    came.merge(ids_of(again));
    return std::ranges::includes(came, unsettled);
  });
  EXPECT_EQ(source->counters().reconnects, 1u);
}

TEST_F(RabbitmqSources, AwayBrokerIsUnavailableAndNothingIsAppended) {
  const auto source = open(through(proxy_));
  proxy_.refuse(true);
  proxy_.cut_all();
  Deliveries deliveries;
  const Thrown thrown = thrown_by([&] { source->receive(deliveries, 1, generous); });
  EXPECT_EQ(thrown.code, FaultCode::source_unavailable);
  EXPECT_THAT(thrown.what, HasSubstr(fmt::format("127.0.0.1:{}", proxy_.port())));
  EXPECT_TRUE(deliveries.empty());
  proxy_.refuse(false);
  queue_.send(messages(1));
  EXPECT_EQ(receive(*source, 1).size(), 1u);
}

TEST_F(RabbitmqSources, HalfOpenConnectionIsFoundByItsHeartbeats) {
  RabbitmqConnection connection = through(proxy_);
  connection.heartbeat = 1s;
  const auto source = open(connection);
  proxy_.set({heartbeat, Rule::Act::stall, 1});
  std::vector<Delivery> deliveries;
  const auto begin = std::chrono::steady_clock::now();
  await("the silence was noticed", [&] {
    source->receive(deliveries, 1, 500ms);
    return source->counters().reconnects > 0;
  });
  EXPECT_EQ(proxy_.fired(), 1);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 20s);
  expect_one_line("nothing was heard for two heartbeats");
  queue_.send(messages(1));
  settle(*source, receive(*source, 1));
}

TEST_F(RabbitmqSources, SlowHandlerKeepsItsConnectionWhileItIsTended) {
  queue_.send(messages(3));
  RabbitmqConnection connection = rabbitmq_server();
  connection.heartbeat = 1s;
  const auto source = open(connection);
  const Deliveries held = receive(*source, 3);
  Deliveries none;
  const auto end = std::chrono::steady_clock::now() + 5s;
  await("five heartbeats have passed", [&] {
    source->receive(none, 0, 0ms);
    std::this_thread::sleep_for(200ms);
    return std::chrono::steady_clock::now() > end;
  });
  EXPECT_TRUE(none.empty());
  settle(*source, held);
  EXPECT_EQ(source->counters().settled, 3u);
  EXPECT_EQ(source->counters().reconnects, 0u);
  EXPECT_THAT(log_.all(), testing::IsEmpty());
}

TEST_F(RabbitmqSources, DeletedQueueIsRefusedUntilItIsThereAgain) {
  const auto source = open(rabbitmq_server());
  Deliveries deliveries;
  source->receive(deliveries, 1, 50ms);
  queue_.client().delete_queue(queue_.name());
  const Thrown thrown = thrown_by([&] { source->receive(deliveries, 1, generous); });
  EXPECT_EQ(thrown.code, FaultCode::source_refused);
  EXPECT_THAT(thrown.what, HasSubstr(fmt::format("there is no queue \"{}\"", queue_.name())));
  expect_one_line("the broker cancelled the consumer");
  queue_.client().declare_queue(queue_.name());
  queue_.send(messages(1));
  EXPECT_EQ(receive(*source, 1).size(), 1u);
}

TEST_F(RabbitmqSources, DeletedQueueIsMadeAnewWhereThatWasAskedFor) {
  for (const auto declare : {RabbitmqSourceOptions::Declare::classic, RabbitmqSourceOptions::Declare::quorum}) {
    RabbitmqSourceOptions options;
    options.connection = rabbitmq_server();
    options.queue = unique_name();
    options.declare = declare;
    const auto source = open_rabbitmq(options, log_);
    queue_.client().send(options.queue, messages(1));
    settle(*source, receive(*source, 1));
    queue_.client().delete_queue(options.queue);
    Deliveries deliveries;
    await("it is made anew", [&] {
      source->receive(deliveries, 1, 100ms);
      return source->counters().reconnects == 1;
    });
    queue_.client().send(options.queue, messages(1));
    EXPECT_EQ(receive(*source, 1).size(), 1u);
    queue_.client().delete_queue(options.queue);
  }
}

TEST_F(RabbitmqSources, ConnectionClosedByAnAdministratorIsMadeAnew) {
  queue_.send(messages(2));
  const auto source = open(rabbitmq_server());
  const Deliveries held = receive(*source, 2);
  std::string name;
  await("the broker lists the connection", [&] {
    for (const auto& one : nlohmann::json::parse(rabbitmq_api("GET", "/connections"))) {
      if (one.value("user_provided_name", "") == "onceward " + queue_.name()) name = one.value("name", "");
    }
    return !name.empty();
  });
  std::string path;
  for (const char c : name) path += c == ' ' ? "%20" : c == '>' ? "%3E" : std::string(1, c);
  rabbitmq_api("DELETE", "/connections/" + path);
  const Deliveries again = receive(*source, 2);
  EXPECT_EQ(ids_of(again), ids_of(held));
  expect_one_line("the broker closed the connection: CONNECTION_FORCED");
  settle(*source, again);
}

TEST_F(RabbitmqSources, DeliveryLimitTakesAMessageAwayAndNothingElse) {
  RabbitmqQueue dead;
  RabbitmqQueue limited({.delivery_limit = 2, .dead_letter_exchange = "", .dead_letter_key = dead.name()});
  limited.send(messages(2));
  RabbitmqSourceOptions options;
  options.connection = rabbitmq_server();
  options.queue = limited.name();
  options.prefetch = 1;
  options.delivery_limit = 2;
  const auto source = open_rabbitmq(options, log_);
  for (std::uint32_t times = 1; times <= 3; ++times) {
    EXPECT_THAT(log_.all(), testing::IsEmpty()) << times;
    const Deliveries got = receive(*source, 1);
    EXPECT_EQ(ids_of(got), std::set<std::string>{"0"});
    EXPECT_EQ(got.front().deliveries, times);
    settle(*source, got, Settle::redeliver);
  }
  const Deliveries next = receive(*source, 1);
  EXPECT_EQ(ids_of(next), std::set<std::string>{"1"});
  await("it is among the dead letters", [&] { return dead.depth() == 1; });
  settle(*source, next);
  EXPECT_EQ(source->counters().reconnects, 0u);
  expect_one_line("the delivery limit is reached");
  expect_one_line("message_id=0");

  // The broker leaves its count in the dead letter, which was never delivered from there.
  options.queue = dead.name();
  const Deliveries letter = receive(*open_rabbitmq(options, log_), 1);
  EXPECT_FALSE(letter.front().redelivered);
  EXPECT_EQ(letter.front().deliveries, 1u);
}

// A connection that is lost costs a delivery also of what nobody has asked for.
TEST_F(RabbitmqSources, LastDeliveryIsSaidThoughNobodyHasTakenIt) {
  RabbitmqQueue limited({.delivery_limit = 1});
  limited.send(messages(2));
  RabbitmqSourceOptions options;
  options.connection = rabbitmq_server();
  options.queue = limited.name();
  options.delivery_limit = 1;
  receive(*open_rabbitmq(options, log_), 2);
  await("both are there again", [&] { return limited.depth() == 2; });
  const auto source = open_rabbitmq(options, log_);
  Deliveries first;
  source->receive(first, 1, generous);
  await("both were pushed", [&] {
    source->receive(first, 0, 0ms);
    const auto lines = log_.all();
    return lines.size() == 2 || (lines.size() == 1 && lines[0].find("messages=2") != std::string::npos);
  });
  EXPECT_EQ(first.size(), 1u);
}

TEST_F(RabbitmqSources, MessagesThatReachTheLimitTogetherAreOneLine) {
  RabbitmqQueue limited({.delivery_limit = 1});
  limited.send(messages(50));
  RabbitmqSourceOptions options;
  options.connection = rabbitmq_server();
  options.queue = limited.name();
  options.delivery_limit = 1;
  receive(*open_rabbitmq(options, log_), 50);
  await("all are there again", [&] { return limited.depth() == 50; });
  const auto source = open_rabbitmq(options, log_);
  Deliveries again;
  std::vector<testing::Matcher<std::string>> lines;
  while (again.size() < 50) {
    const std::size_t before = again.size();
    source->receive(again, 50, 5s);
    ASSERT_GT(again.size(), before);
    lines.push_back(HasSubstr(fmt::format("messages={} ", again.size() - before)));
  }
  EXPECT_THAT(log_.all(), testing::ElementsAreArray(lines));
  settle(*source, again);
}

TEST_F(RabbitmqSources, OnlyLookingTakesNoMessage) {
  queue_.send(messages(2));
  const auto looking = open(rabbitmq_server());
  Deliveries none;
  looking->receive(none, 0, 0ms);
  EXPECT_EQ(queue_.depth(), 2u);
  RabbitmqSourceOptions options;
  options.connection = rabbitmq_server();
  options.queue = queue_.name();
  EXPECT_EQ(examine_rabbitmq(options).default_delivery_limit, -1);  // of the version that we test with
  EXPECT_EQ(queue_.depth(), 2u);
  const auto source = open(rabbitmq_server());
  for (const Delivery& delivery : receive(*source, 2)) EXPECT_FALSE(delivery.redelivered);
}

}  // namespace
}  // namespace onceward::brokers
