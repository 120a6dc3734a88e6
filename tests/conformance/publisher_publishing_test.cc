// What publish() takes, and what its receipts say.
#include <fstream>
#include <sstream>

#include "tests/conformance/publisher_suite.h"

namespace onceward {
namespace {

std::string table_of_capabilities() {
  std::string text = "| |";
  for (const PublisherBackend& backend : publisher_backends()) text += " " + backend.name + " |";
  text += "\n|---|";
  for (std::size_t at = 0; at < publisher_backends().size(); ++at) text += "---|";
  for (const PublisherCapabilityRow& row : publisher_capability_rows()) {
    text += "\n| " + std::string(row.text) + " |";
    for (const PublisherBackend& backend : publisher_backends()) {
      text += backend.capabilities.*row.member ? " yes |" : " no |";
    }
  }
  return text + "\n";
}

TEST(PublisherCapabilities, StandInTheReferenceAsTheyAreDeclared) {
  std::ostringstream page;
  page << std::ifstream(ONCEWARD_SOURCE_DIRECTORY "/docs/reference/publishers.md").rdbuf();
  EXPECT_NE(page.str().find(table_of_capabilities()), std::string::npos)
      << "docs/reference/publishers.md must hold this table:\n"
      << table_of_capabilities();
}

class Publishing : public OnEveryPublisher {};
ONCEWARD_ON_EVERY_PUBLISHER(Publishing);

TEST_P(Publishing, ConfirmedMessageIsReceivedAsItWasSent) {
  const std::string payload = R"({ "amount" : 1.00, "name":"\u00e4" })";
  const Header headers[] = {{"shard", "7"}};
  EnvelopeFields fields;
  fields.message_id = MessageId("m-1");
  fields.producer = Producer("shop");
  fields.event_type = EventType("paid");
  fields.correlation_id = CorrelationId("c-1");
  fields.aggregate_id = AggregateId("order-1");
  fields.content_type = "application/json";
  fields.trace_parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  fields.occurred_at = Timestamp(1'700'000'000'000'000us);
  fields.headers = headers;
  fields.payload = payload;
  const auto publisher = under_->open({});
  const Publication sent{7, destination_.name, destination_.key, Envelope::copy_of(fields)};
  publisher->publish({&sent, 1});
  EXPECT_EQ(kinds(collect(*publisher)), (std::map<std::uint64_t, Kind>{{7, Kind::confirmed}}));

  const auto source = under_->receive();
  std::vector<Delivery> deliveries;
  source->receive(deliveries, 1, generous);
  ASSERT_EQ(deliveries.size(), 1u);
  ASSERT_FALSE(deliveries[0].refusal) << deliveries[0].refusal->detail;
  const EnvelopeFields& got = deliveries[0].envelope.fields();
  EXPECT_EQ(got.message_id, fields.message_id);
  EXPECT_EQ(got.producer, fields.producer);
  EXPECT_EQ(got.event_type, fields.event_type);
  EXPECT_EQ(got.correlation_id, fields.correlation_id);
  EXPECT_EQ(got.aggregate_id, fields.aggregate_id);
  EXPECT_EQ(got.content_type, fields.content_type);
  EXPECT_EQ(got.trace_parent, fields.trace_parent);
  EXPECT_EQ(got.occurred_at, fields.occurred_at);
  EXPECT_EQ(got.payload, payload);
  EXPECT_THAT(got.headers, testing::ElementsAreArray(headers));
}

TEST_P(Publishing, OrderIsKept) {
  const auto publisher = under_->open({});
  std::vector<std::string> ids;
  for (std::uint64_t first = 0; first < 300; first += 60) {
    publisher->publish(numbered(first, 60));
    for (std::uint64_t i = first; i < first + 60; ++i) ids.push_back(std::to_string(i));
  }
  EXPECT_EQ(count(collect(*publisher), Kind::confirmed), 300u);
  EXPECT_EQ(received(300), ids);
}

TEST_P(Publishing, EachMessageHasOneReceipt) {
  const auto publisher = under_->open({.window = 50});
  Receipts receipts;
  for (std::uint64_t next = 0; next < 500 || publisher->outstanding() > 0;) {
    const auto some = std::min<std::size_t>({publisher->room(), 7, 500 - next});
    if (some > 0) publisher->publish(numbered(next, some));
    next += some;
    publisher->collect(receipts, some > 0 ? 0ms : 1s);
  }
  EXPECT_EQ(kinds(receipts).size(), 500u);
  EXPECT_EQ(count(receipts, Kind::confirmed), 500u);
  EXPECT_EQ(publisher->counters().published, 500u);
  EXPECT_EQ(publisher->counters().confirmed, 500u);
}

TEST_P(Publishing, RoomIsWhatIsNotOutstanding) {
  const auto publisher = under_->open({});
  const std::size_t room = publisher->room();
  EXPECT_GT(room, 0u);
  EXPECT_EQ(publisher->outstanding(), 0u);
  publisher->publish(numbered(1, 3));
  EXPECT_EQ(publisher->outstanding(), 3u);
  EXPECT_EQ(publisher->room(), room - 3);
  collect(*publisher);
  EXPECT_EQ(publisher->outstanding(), 0u);
  EXPECT_EQ(publisher->room(), room);
}

TEST_P(Publishing, WindowCanBeFilled) {
  const auto publisher = under_->open({});
  const std::size_t room = publisher->room();
  publisher->publish(numbered(1, room));
  EXPECT_EQ(publisher->room(), 0u);
  EXPECT_EQ(count(collect(*publisher), Kind::confirmed), room);
}

TEST_P(Publishing, NothingIsPublished) {
  const auto publisher = under_->open({});
  publisher->publish({});
  EXPECT_EQ(publisher->outstanding(), 0u);
  const auto begin = std::chrono::steady_clock::now();
  Receipts receipts;
  publisher->collect(receipts, generous);
  EXPECT_TRUE(receipts.empty());
  EXPECT_LT(std::chrono::steady_clock::now() - begin, generous / 2);
}

TEST_P(Publishing, ReceiptsAreAppended) {
  const auto publisher = under_->open({});
  Receipts receipts;
  publisher->publish(numbered(1, 1));
  while (publisher->outstanding() > 0) publisher->collect(receipts, 1s);
  publisher->publish(numbered(2, 1));
  while (publisher->outstanding() > 0) publisher->collect(receipts, 1s);
  EXPECT_EQ(kinds(receipts).size(), 2u);
}

TEST_P(Publishing, MissingDestinationIsRefusedAndItsNeighboursAreConfirmed) {
  const auto publisher = under_->open({});
  const Publications publications{publication(1, destination_), publication(2, missing_), publication(3, destination_)};
  publisher->publish(publications);
  const Receipts receipts = collect(*publisher);
  EXPECT_EQ(kinds(receipts),
            (std::map<std::uint64_t, Kind>{{1, Kind::confirmed}, {2, Kind::refused}, {3, Kind::confirmed}}));
  EXPECT_EQ(publisher->counters().refused, 1u);
  EXPECT_EQ(received(2), (std::vector<std::string>{"1", "3"}));
  EXPECT_EQ(publisher->counters().reconnects, 0u);
}

TEST_P(Publishing, LargeMessageComesWhole) {
  const auto publisher = under_->open({});
  const std::string payload = '"' + std::string(5'000'000, 'x') + '"';
  const Publications publications{publication(1, destination_), publication(2, destination_, payload),
                                  publication(3, destination_)};
  publisher->publish(publications);
  EXPECT_EQ(count(collect(*publisher), Kind::confirmed), 3u);
  const auto source = under_->receive();
  std::vector<Delivery> deliveries;
  while (deliveries.size() < 3) source->receive(deliveries, 3, generous);
  EXPECT_TRUE(deliveries[1].envelope.payload() == payload);
}

TEST_P(Publishing, AllOfThemAreAnsweredInTheirOrder) {
  const auto publisher = under_->open({.window = 10});
  Publications publications;
  for (std::uint64_t i = 0; i < 95; ++i) {
    publications.push_back(publication(i + 1000, i % 10 == 3 ? missing_ : destination_));
  }
  const Receipts receipts = publish_all(*publisher, publications, generous);
  ASSERT_EQ(receipts.size(), 95u);
  for (std::size_t i = 0; i < receipts.size(); ++i) {
    EXPECT_EQ(receipts[i].tag, i);
    EXPECT_EQ(receipts[i].kind, i % 10 == 3 ? Kind::refused : Kind::confirmed) << receipts[i].why;
  }
  EXPECT_EQ(received(85).size(), 85u);
}

TEST_P(Publishing, DescriptionNamesTheKindAndNoSecret) {
  const std::string text = under_->open({})->describe();
  const std::string& name = GetParam().name;  // e.g. rabbitmq-classic
  EXPECT_THAT(text, testing::StartsWith(name.substr(0, name.find('-'))));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("guest")));
}

class MakingDestinations : public OnEveryPublisher {};
ONCEWARD_ON_PUBLISHERS_THAT(MakingDestinations, makes_destinations);

TEST_P(MakingDestinations, NewOneIsThereWithItsMessages) {
  const auto publisher = under_->open({});
  const Destination another{"another"};
  const Publications publications{publication(1, another), publication(2, destination_)};
  publisher->publish(publications);
  EXPECT_EQ(count(collect(*publisher), Kind::confirmed), 2u);
  EXPECT_EQ(received(1), std::vector<std::string>{"2"});
  EXPECT_TRUE(nothing_more());
}

}  // namespace
}  // namespace onceward
