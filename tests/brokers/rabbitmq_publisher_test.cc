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
  Publication poisonous(std::uint64_t tag) const {
    EnvelopeFields fields;
    const std::string id = std::to_string(tag);
    fields.message_id = MessageId(id);
    fields.producer = Producer("shop");
    fields.event_type = EventType("paid");
    const Header headers[] = {{"CC", "somebody"}};
    fields.headers = headers;
    return {tag, exchange_, "routed.there", Envelope::copy_of(fields)};
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

TEST_F(RabbitmqPublishers, ExchangeThatWasDeletedRefusesItsMessagesAndNobodyElses) {
  const auto sender = publisher();
  const std::string doomed = unique_name();
  queue_.client().declare_exchange(doomed, "fanout");
  queue_.client().bind(queue_.name(), doomed, "");
  const Publication known = publication(1, doomed, "");
  sender->publish({&known, 1});
  EXPECT_EQ(collect(*sender).at(0).kind, Kind::confirmed);
  queue_.client().delete_exchange(doomed);
  sender->publish({&known, 1});
  const Receipt alone = collect(*sender).at(0);
  EXPECT_EQ(alone.kind, Kind::refused);
  EXPECT_THAT(alone.why, HasSubstr("NOT_FOUND"));
  expect_one_line("NOT_FOUND");
  const auto decided = publish_until_decided(
      *sender, {publication(2, doomed, ""), publication(3, exchange_, "routed.a"), publication(4, doomed, "")});
  EXPECT_EQ(decided.at(2).kind, Kind::refused);
  EXPECT_THAT(decided.at(2).why, HasSubstr("there is no exchange"));
  EXPECT_EQ(decided.at(3).kind, Kind::confirmed);
  EXPECT_EQ(decided.at(4).kind, Kind::refused);
}

// RabbitMQ reads the headers CC and BCC as lists of routing keys, and closes the channel over a text.
TEST_F(RabbitmqPublishers, MessageOverWhichTheChannelIsClosedIsRefusedAndItsNeighboursAreConfirmed) {
  const auto sender = publisher();
  const std::size_t whole_window = sender->room();
  std::vector<Publication> publications;
  for (std::uint64_t tag = 0; tag < 50; ++tag) {
    publications.push_back(tag == 20 || tag == 41 ? poisonous(tag) : publication(tag, exchange_, "routed.there"));
  }
  const auto decided = publish_until_decided(*sender, publications);
  for (const auto& [tag, receipt] : decided) {
    EXPECT_EQ(receipt.kind, tag == 20 || tag == 41 ? Kind::refused : Kind::confirmed) << tag << ": " << receipt.why;
  }
  EXPECT_THAT(decided.at(20).why, HasSubstr("PRECONDITION_FAILED"));
  EXPECT_EQ(sender->counters().refused, 2u);
  EXPECT_LE(sender->counters().reconnects, 3u) << "once among the others, once each alone";
  EXPECT_GE(queue_.depth(), 48u);
  publish_until_decided(*sender, {publication(60, exchange_, "routed.a"), publication(61, exchange_, "routed.a")});
  EXPECT_EQ(sender->room(), whole_window) << "and it is as before";
}

TEST_F(RabbitmqPublishers, MessagesThatWereInDoubtTogetherGoOutOneByOne) {
  const auto sender = publisher();
  std::vector<Publication> publications{publication(1, exchange_, "routed.a"), poisonous(2),
                                        publication(3, exchange_, "routed.a")};
  sender->publish(publications);
  for (const Receipt& receipt : collect(*sender)) EXPECT_NE(receipt.kind, Kind::refused) << receipt.tag;
  EXPECT_EQ(sender->room(), 1u);
  sender->publish({publications.data(), 1});
  EXPECT_EQ(sender->room(), 0u) << "until it is answered";
  EXPECT_EQ(collect(*sender).at(0).kind, Kind::confirmed);
  sender->publish({&publications[1], 1});
  EXPECT_EQ(collect(*sender).at(0).kind, Kind::refused);
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
