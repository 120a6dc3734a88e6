// The contract of Publisher, as tests that run on every adapter.
#pragma once

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/conformance/publisher_backends.h"
#include "tests/fixtures/waiting.h"

namespace onceward {

using namespace fixtures;  // NOLINT: the fixtures are the suite's vocabulary
using namespace std::chrono_literals;

using Receipts = std::vector<Receipt>;
using Publications = std::vector<Publication>;
using Kind = Receipt::Kind;

class OnEveryPublisher : public testing::TestWithParam<PublisherBackend> {
 protected:
  static Envelope message(const std::string& id, const std::string& payload = "{}") {
    EnvelopeFields fields;
    fields.message_id = MessageId(id);
    fields.producer = Producer("shop");
    fields.event_type = EventType("paid");
    fields.content_type = "application/json";
    fields.payload = payload;
    return Envelope::copy_of(fields);
  }
  Publication publication(std::uint64_t tag, const Destination& destination, const std::string& payload = "{}") const {
    return {tag, destination.name, destination.key, message(std::to_string(tag), payload)};
  }
  // Tags and ids "first", "first + 1", ...
  Publications numbered(std::uint64_t first, std::size_t count) const {
    Publications publications;
    for (std::uint64_t tag = first; tag < first + count; ++tag) publications.push_back(publication(tag, destination_));
    return publications;
  }

  // Until nothing is outstanding, or so many have come.
  static Receipts collect(Publisher& publisher, std::size_t count = SIZE_MAX) {
    Receipts receipts;
    await("the receipts have come", [&] {
      if (receipts.size() < count) publisher.collect(receipts, 1s);
      return receipts.size() >= count || publisher.outstanding() == 0;
    });
    return receipts;
  }
  static std::map<std::uint64_t, Kind> kinds(const Receipts& receipts) {
    std::map<std::uint64_t, Kind> by_tag;
    for (const Receipt& receipt : receipts) {
      EXPECT_TRUE(by_tag.emplace(receipt.tag, receipt.kind).second) << "two receipts for " << receipt.tag;
      EXPECT_EQ(receipt.why.empty(), receipt.kind == Kind::confirmed) << receipt.why;
    }
    return by_tag;
  }
  static std::size_t count(const Receipts& receipts, Kind kind) {
    return static_cast<std::size_t>(std::ranges::count(receipts, kind, &Receipt::kind));
  }

  // The ids of so many messages in the order of their coming, accepted.
  std::vector<std::string> received(std::size_t wanted) const {
    const auto source = under_->receive();
    std::vector<Delivery> deliveries;
    await("the messages have come", [&] {
      if (deliveries.size() < wanted) source->receive(deliveries, wanted - deliveries.size(), 1s);
      return deliveries.size() >= wanted;
    });
    std::vector<Settlement> settlements;
    std::vector<std::string> ids;
    for (const Delivery& delivery : deliveries) {
      ids.emplace_back(delivery.envelope.message_id().text());
      settlements.push_back({delivery.tag});
    }
    source->settle(settlements);
    return ids;
  }
  // What is published now comes next.
  bool nothing_more() const {
    const auto publisher = under_->open({});
    const Publication last = publication(1'000'000, destination_);
    publisher->publish({&last, 1});
    collect(*publisher);
    return received(1) == std::vector<std::string>{"1000000"};
  }

  std::unique_ptr<PublisherUnderTest> under_ = GetParam().make();
  const Destination destination_ = under_->destination();
  const Destination missing_ = under_->missing();
};

inline std::string publisher_name(const testing::TestParamInfo<PublisherBackend>& info) {
  std::string name = info.param.name;
  std::ranges::replace(name, '-', '_');
  return name;
}

}  // namespace onceward

#define ONCEWARD_ON_EVERY_PUBLISHER(suite) \
  INSTANTIATE_TEST_SUITE_P(Publisher, suite, testing::ValuesIn(fixtures::publisher_backends()), publisher_name)
#define ONCEWARD_ON_PUBLISHERS_THAT(suite, capability)                                                    \
  INSTANTIATE_TEST_SUITE_P(                                                                               \
      Publisher, suite,                                                                                   \
      testing::ValuesIn(fixtures::publisher_backends_that(&fixtures::PublisherCapabilities::capability)), \
      publisher_name)
