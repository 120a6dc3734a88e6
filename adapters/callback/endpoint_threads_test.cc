// What only a callback endpoint has: threads that can all be taken, and functions that answer too late.
#include <gtest/gtest.h>

#include <atomic>
#include <semaphore>
#include <stdexcept>
#include <thread>

#include "onceward/adapter/callback.h"
#include "tests/fixtures/waiting.h"

namespace onceward {
namespace {

using namespace std::chrono_literals;
using Kind = EndpointAnswer::Kind;

std::vector<EndpointAnswer> collect(Endpoint& endpoint, std::size_t count) {
  std::vector<EndpointAnswer> answers;
  fixtures::await("the answers have come", [&] {
    if (answers.size() < count) endpoint.collect(answers, 1s);
    return answers.size() >= count;
  });
  return answers;
}

TEST(CallbackEndpoints, WhatNoThreadHasBegunByItsDeadlineWasNotSent) {
  std::counting_semaphore<> go(0);
  std::atomic<int> ran = 0;
  const auto endpoint = open_callback({.call =
                                           [&](const EndpointRequest&, std::stop_token) {
                                             ++ran;
                                             go.acquire();
                                             return EndpointAnswer{.kind = Kind::succeeded};
                                           },
                                       .threads = 1,
                                       .most_under_way = 2,
                                       .deadline = 200ms});
  const EndpointRequest requests[] = {{.tag = 1, .key = "a"}, {.tag = 2, .key = "b"}};
  endpoint->start(requests);
  EXPECT_EQ(endpoint->room(), 0u);
  auto answers = collect(*endpoint, 2);
  std::ranges::sort(answers, {}, &EndpointAnswer::tag);
  EXPECT_EQ(answers[0].kind, Kind::unknown);
  EXPECT_EQ(answers[1].kind, Kind::not_sent);
  EXPECT_EQ(ran, 1);
  EXPECT_EQ(endpoint->room(), 2u) << "though its one thread is still taken";
  go.release(10);
  const EndpointRequest next{.tag = 3, .key = "c"};
  endpoint->start({&next, 1});
  answers = collect(*endpoint, 1);
  EXPECT_EQ(answers[0].tag, 3u) << "what is answered too late is not heard";
  EXPECT_EQ(answers[0].kind, Kind::succeeded);
  EXPECT_EQ(ran, 2);
}

TEST(CallbackEndpoints, UserCodeRunsOnOtherThreads) {
  std::atomic<std::thread::id> where{};
  const auto endpoint = open_callback({.call = [&](const EndpointRequest&, std::stop_token) {
    where = std::this_thread::get_id();
    return EndpointAnswer{.kind = Kind::succeeded};
  }});
  const EndpointRequest request{.tag = 1, .key = "a"};
  endpoint->start({&request, 1});
  collect(*endpoint, 1);
  EXPECT_NE(where.load(), std::this_thread::get_id());
  EXPECT_FALSE(endpoint->looks_up());
  EXPECT_FALSE(endpoint->list({}));
}

TEST(CallbackEndpoints, OptionsPastTheirLimitsAreRefused) {
  const CallbackFunction call = [](const EndpointRequest&, std::stop_token) { return EndpointAnswer{}; };
  EXPECT_THROW(open_callback({.call = {}}), std::invalid_argument);
  EXPECT_THROW(open_callback({.call = call, .threads = 0}), std::invalid_argument);
  EXPECT_THROW(open_callback({.call = call, .threads = 8, .most_under_way = 4}), std::invalid_argument);
  EXPECT_THROW(open_callback({.call = call, .deadline = 0ms}), std::invalid_argument);
}

}  // namespace
}  // namespace onceward
