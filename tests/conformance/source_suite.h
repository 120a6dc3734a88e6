// The contract of Source, as tests that run on every adapter.
#pragma once

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <future>
#include <string>
#include <vector>

#include "tests/fixtures/source_under_test.h"
#include "tests/fixtures/waiting.h"

namespace onceward {

using namespace fixtures;  // NOLINT: the fixtures are the suite's vocabulary
using namespace std::chrono_literals;

using Deliveries = std::vector<Delivery>;
using Ids = std::vector<std::string>;

class OnEverySource : public testing::TestWithParam<SourceBackend> {
 protected:
  // Another queue than the one that every test begins with.
  void make(const SourceSettings& settings) {
    source_.reset();
    under_ = GetParam().make(settings);
    source_ = under_->open();
  }

  static std::string message(const std::string& id, const std::string& payload = "{}") {
    return fmt::format(R"({{"messageId":"{}","producer":"shop","payload":{}}})", id, payload);
  }
  // Sends messages with these ids, in this order.
  void send(const Ids& ids) {
    std::vector<std::string> messages;
    for (const std::string& id : ids) messages.push_back(message(id));
    under_->send(messages);
  }
  // "0", "1", ...
  static Ids numbered(int count) {
    Ids ids;
    for (int i = 0; i < count; ++i) ids.push_back(std::to_string(i));
    return ids;
  }

  static Deliveries receive(Source& source, std::size_t most = 1000, std::chrono::milliseconds wait = generous) {
    Deliveries deliveries;
    source.receive(deliveries, most, wait);
    return deliveries;
  }
  // Calls as often as it takes until so many have come.
  static Deliveries receive_all(Source& source, std::size_t count) {
    Deliveries deliveries;
    await(fmt::format("{} messages have come", count), [&] {
      if (deliveries.size() < count) source.receive(deliveries, count - deliveries.size(), 1s);
      return deliveries.size() >= count;
    });
    return deliveries;
  }
  // After which nothing more comes. What is pushed over a network takes its time.
  static std::chrono::milliseconds quiet() { return GetParam().capabilities.holds_ahead ? 300ms : 30ms; }
  static bool is_empty(Source& source) { return receive(source, 1, quiet()).empty(); }

  static Ids ids_of(const Deliveries& deliveries) {
    Ids ids;
    for (const Delivery& delivery : deliveries) ids.emplace_back(delivery.envelope.message_id().text());
    return ids;
  }
  static Ids sorted(Ids ids) {
    std::ranges::sort(ids);
    return ids;
  }

  static void settle(Source& source, const Deliveries& deliveries, Settle how = Settle::accept) {
    std::vector<Settlement> settlements;
    for (const Delivery& delivery : deliveries) settlements.push_back({delivery.tag, how});
    source.settle(settlements);
  }
  static void settle(Source& source, std::uint64_t tag, Settle how = Settle::accept) {
    const Settlement settlement{tag, how};
    source.settle({&settlement, 1});
  }

  // Where one source has all messages, the one that every test begins with makes way for the next.
  void make_way() {
    if (!GetParam().capabilities.shared) source_.reset();
  }
  void come_back() {
    if (!source_) source_ = under_->open();
  }

  // Another one beside the one that every test begins with, which is asked meanwhile: a group waits for all of its members.
  std::unique_ptr<Source> open_another() {
    auto opened = std::async(std::launch::async, [this] { return under_->open(); });
    while (opened.wait_for(0s) != std::future_status::ready) EXPECT_TRUE(receive(*source_, 1, 10ms).empty());
    return opened.get();
  }

  // What a delivery says about itself where deliveries are counted.
  static void expect_count(const Delivery& delivery, std::uint32_t deliveries) {
    if (deliveries > 1 || GetParam().capabilities.knows_redelivered) EXPECT_EQ(delivery.redelivered, deliveries > 1);
    // Who does not count may know a first delivery all the same.
    const bool counts = GetParam().capabilities.counts_deliveries || delivery.deliveries == 1;
    EXPECT_EQ(delivery.deliveries, counts ? deliveries : 0);
  }

  std::unique_ptr<SourceUnderTest> under_ = GetParam().make({});
  std::unique_ptr<Source> source_ = under_->open();
};

inline std::string source_name(const testing::TestParamInfo<SourceBackend>& info) {
  std::string name = info.param.name;
  std::ranges::replace(name, '-', '_');  // GoogleTest takes no other
  return name;
}

}  // namespace onceward

#define ONCEWARD_ON_EVERY_SOURCE(suite) \
  INSTANTIATE_TEST_SUITE_P(Source, suite, testing::ValuesIn(fixtures::source_backends()), source_name)
#define ONCEWARD_ON_SOURCES_THAT(suite, capability)                                                                \
  INSTANTIATE_TEST_SUITE_P(                                                                                        \
      Source, suite, testing::ValuesIn(fixtures::source_backends_that(&fixtures::SourceCapabilities::capability)), \
      source_name)
