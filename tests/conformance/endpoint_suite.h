// The contract of Endpoint, as tests that run on every adapter.
#pragma once

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "tests/conformance/endpoint_backends.h"
#include "tests/fixtures/waiting.h"

namespace onceward {

class OnEveryEndpoint : public testing::TestWithParam<fixtures::EndpointBackend> {
 protected:
  using Answers = std::map<std::uint64_t, EndpointAnswer>;
  using Kind = EndpointAnswer::Kind;
  using Reply = fixtures::Reply;

  // Of a text that arrives; the bodies stand until the test ends.
  EndpointRequest call(std::uint64_t tag, std::string_view key, const std::string& text = "{}") {
    return {.tag = tag, .key = key, .body = bodies_.emplace_back(under_->body(std::string(key), text))};
  }
  static EndpointRequest look_up(std::uint64_t tag, std::string_view key) {
    return {.tag = tag, .kind = EndpointRequest::Kind::look_up, .key = key};
  }
  static void start(Endpoint& endpoint, const EndpointRequest& request) { endpoint.start({&request, 1}); }

  // Until nothing is under way, or so many have come; each once.
  static Answers collect(Endpoint& endpoint, std::size_t count = SIZE_MAX) {
    Answers by_tag;
    fixtures::await("the answers have come", [&] {
      std::vector<EndpointAnswer> answers;
      if (by_tag.size() < count) endpoint.collect(answers, std::chrono::seconds(1));
      for (EndpointAnswer& answer : answers) {
        EXPECT_TRUE(answer.why.empty() == (answer.kind == Kind::succeeded || answer.kind == Kind::done)) << answer.why;
        EXPECT_TRUE(by_tag.emplace(answer.tag, std::move(answer)).second) << "two answers";
      }
      return by_tag.size() >= count || endpoint.under_way() == 0;
    });
    return by_tag;
  }
  Answers ask(const EndpointRequest& request) {
    start(*endpoint_, request);
    return collect(*endpoint_);
  }
  std::size_t times_seen(const std::string& key, bool look_up = false) {
    const auto seen = under_->seen();
    return static_cast<std::size_t>(
        std::ranges::count_if(seen, [&](const auto& one) { return one.key == key && one.look_up == look_up; }));
  }

  std::unique_ptr<fixtures::EndpointUnderTest> under_ = GetParam().make();
  std::unique_ptr<Endpoint> endpoint_ = under_->open({});

 private:
  std::deque<std::string> bodies_;
};

inline std::string endpoint_name(const testing::TestParamInfo<fixtures::EndpointBackend>& info) {
  return info.param.name;
}

}  // namespace onceward

#define ONCEWARD_ON_EVERY_ENDPOINT(suite) \
  INSTANTIATE_TEST_SUITE_P(Endpoint, suite, testing::ValuesIn(fixtures::endpoint_backends()), endpoint_name)
// No instance where none can.
#define ONCEWARD_ON_ENDPOINTS_THAT(suite, capability)   \
  GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(suite); \
  INSTANTIATE_TEST_SUITE_P(                             \
      Endpoint, suite,                                  \
      testing::ValuesIn(fixtures::endpoint_backends_that(&fixtures::EndpointCapabilities::capability)), endpoint_name)
