// What another thread may do to an HTTP endpoint.
#include <gtest/gtest.h>

#include <thread>

#include "tests/fixtures/http_server.h"

namespace onceward {
namespace {

using namespace fixtures;
using namespace std::chrono_literals;

TEST(HttpThreads, CollectReturnsWhenItIsWokenAndAfterItsWait) {
  HttpServer server;
  const auto endpoint = open_http(http_declaration(server, "/silent"));
  std::vector<EndpointAnswer> answers;
  const auto begin = std::chrono::steady_clock::now();
  endpoint->collect(answers, 50ms);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 50ms);
  endpoint->wake();
  endpoint->collect(answers, generous);
  const EndpointRequest request = a_call("k");
  endpoint->start({&request, 1});
  {
    const std::jthread other([&] { endpoint->wake(); });
    endpoint->collect(answers, generous);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, generous);
  EXPECT_TRUE(answers.empty());
  EXPECT_EQ(endpoint->under_way(), 1u);
}

}  // namespace
}  // namespace onceward
