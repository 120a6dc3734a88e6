// A RabbitMQ publisher whose messages the broker cannot or will not take.
#include "tests/brokers/rabbitmq_world.h"

namespace onceward::brokers {
namespace {

class RabbitmqPublishers : public RabbitmqWorld {
 protected:
  RabbitmqPublishers() {
    queue_.client().declare_exchange(exchange_, "topic");
    queue_.client().bind(queue_.name(), exchange_, "routed.#");
  }
  std::unique_ptr<Publisher> publisher(const RabbitmqConnection& connection = rabbitmq_server()) {
    RabbitmqPublisherOptions options;
    options.connection = connection;
    options.confirm_deadline = 60s;
    return open_rabbitmq_publisher(options, log_);
  }
  static Publication publication(std::uint64_t tag, std::string_view exchange, std::string_view key,
                                 const std::string& payload = "{}") {
    EnvelopeFields fields;
    const std::string id = std::to_string(tag);
    fields.message_id = MessageId(id);
    fields.producer = Producer("shop");
    fields.event_type = EventType("paid");
    fields.payload = payload;
    return {tag, exchange, key, Envelope::copy_of(fields)};
  }
  static Receipts collect(Publisher& publisher) {
    Receipts receipts;
    await("the receipts have come", [&] {
      publisher.collect(receipts, 1s);
      return publisher.outstanding() == 0;
    });
    std::ranges::sort(receipts, {}, &Receipt::tag);
    return receipts;
  }

  const std::string exchange_ = unique_name();
};

TEST_F(RabbitmqPublishers, MessageWithoutARouteIsRefusedThoughItIsConfirmed) {
  const auto sender = publisher();
  std::vector<Publication> publications;
  for (std::uint64_t tag = 0; tag < 200; ++tag) {
    publications.push_back(publication(tag, exchange_, tag % 20 == 7 ? "nowhere" : "routed.there"));
  }
  sender->publish(publications);
  const Receipts receipts = collect(*sender);
  ASSERT_EQ(receipts.size(), 200u);
  for (const Receipt& receipt : receipts) {
    EXPECT_EQ(receipt.kind, receipt.tag % 20 == 7 ? Kind::refused : Kind::confirmed) << receipt.tag;
    if (receipt.kind == Kind::refused) {
      EXPECT_THAT(receipt.why, HasSubstr("no route"));
      EXPECT_THAT(receipt.why, HasSubstr("\"nowhere\""));
    }
  }
  EXPECT_EQ(queue_.depth(), 190u);
}

TEST_F(RabbitmqPublishers, LargeMessagesThatAllComeBackDoNotStopBothSides) {
  const auto sender = publisher();
  const std::string payload = '"' + std::string(2'000'000, 'x') + '"';
  std::vector<Publication> publications;
  for (std::uint64_t tag = 0; tag < 20; ++tag) publications.push_back(publication(tag, exchange_, "nowhere", payload));
  sender->publish(publications);
  const Receipts receipts = collect(*sender);
  EXPECT_EQ(std::ranges::count(receipts, Kind::refused, &Receipt::kind), 20) << receipts.front().why;
  EXPECT_EQ(sender->counters().reconnects, 0u);
}

TEST_F(RabbitmqPublishers, ExchangeThatWasDeletedRefusesItsMessageAndPutsOffTheRest) {
  const auto sender = publisher();
  const std::string doomed = unique_name();
  queue_.client().declare_exchange(doomed, "fanout");
  queue_.client().bind(queue_.name(), doomed, "");
  const Publication known = publication(1, doomed, "");
  sender->publish({&known, 1});
  EXPECT_EQ(collect(*sender).at(0).kind, Kind::confirmed);
  queue_.client().delete_exchange(doomed);
  const std::vector<Publication> publications{publication(2, doomed, ""), publication(3, exchange_, "routed.a")};
  sender->publish(publications);
  const Receipts receipts = collect(*sender);
  ASSERT_EQ(receipts.size(), 2u);
  EXPECT_EQ(receipts[0].kind, Kind::refused);
  EXPECT_THAT(receipts[0].why, HasSubstr("NOT_FOUND"));
  EXPECT_NE(receipts[1].kind, Kind::confirmed);
  EXPECT_NE(receipts[1].kind, Kind::refused);
  expect_one_line("NOT_FOUND");
  sender->publish(publications);
  const Receipts again = collect(*sender);
  EXPECT_EQ(again.at(0).kind, Kind::refused);
  EXPECT_THAT(again.at(0).why, HasSubstr("there is no exchange"));
  EXPECT_EQ(again.at(1).kind, Kind::confirmed);
}

TEST_F(RabbitmqPublishers, FullQueuePutsOff) {
  RabbitmqQueue full({.quorum = false, .most_messages = 3});
  const auto sender = publisher();
  std::vector<Publication> publications;
  for (std::uint64_t tag = 0; tag < 6; ++tag) publications.push_back(publication(tag, "", full.name()));
  sender->publish(publications);
  const Receipts receipts = collect(*sender);
  EXPECT_EQ(std::ranges::count(receipts, Kind::confirmed, &Receipt::kind), 3);
  EXPECT_EQ(std::ranges::count(receipts, Kind::put_off, &Receipt::kind), 3);
  EXPECT_EQ(sender->counters().put_off, 3u);
  EXPECT_EQ(full.depth(), 3u);
}

TEST_F(RabbitmqPublishers, NamesThatAmqpHasNoRoomForAreRefused) {
  const auto sender = publisher();
  const std::string long_name(256, 'k');
  const std::vector<Publication> publications{publication(1, exchange_, long_name), publication(2, long_name, "k"),
                                              publication(3, exchange_, "routed.a")};
  sender->publish(publications);
  const Receipts receipts = collect(*sender);
  EXPECT_EQ(receipts.at(0).kind, Kind::refused);
  EXPECT_EQ(receipts.at(1).kind, Kind::refused);
  EXPECT_EQ(receipts.at(2).kind, Kind::confirmed);
}

TEST_F(RabbitmqPublishers, NoPermissionIsRefused) {
  const StrangerToRabbitmq stranger;
  const auto sender = publisher(stranger.connection());
  const Publication forbidden = publication(1, exchange_, "routed.a");
  sender->publish({&forbidden, 1});
  const Receipts receipts = collect(*sender);
  EXPECT_EQ(receipts.at(0).kind, Kind::refused);
  EXPECT_THAT(receipts.at(0).why, HasSubstr("ACCESS_REFUSED"));
}

TEST_F(RabbitmqPublishers, IdlePublisherWhoseConnectionEndedConnectsAgain) {
  const auto sender = publisher(through(proxy_));
  const Publication one = publication(1, exchange_, "routed.a");
  sender->publish({&one, 1});
  collect(*sender);
  proxy_.cut_all();
  await("its loss is seen", [&] {
    Receipts none;
    sender->collect(none, 0ms);
    return !log_.all().empty();
  });
  expect_one_line("unconfirmed=0");
  sender->publish({&one, 1});
  EXPECT_EQ(collect(*sender).at(0).kind, Kind::confirmed);
  EXPECT_EQ(sender->counters().reconnects, 1u);
}

}  // namespace
}  // namespace onceward::brokers
