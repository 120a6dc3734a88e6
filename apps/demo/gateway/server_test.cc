// The gateway as a process, called by the endpoint that the demo declares.
#include "apps/demo/gateway/server.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <optional>

#include "apps/demo/gateway/manner.h"
#include "apps/demo/gateway/port.h"
#include "apps/demo/payment.h"
#include "onceward/adapter/http.h"
#include "tests/fixtures/process.h"

namespace onceward::demo {
namespace {

using Answered = EndpointAnswer::Kind;

class GatewayServer : public testing::Test {
 protected:
  GatewayServer() {
    run_.directory = folder_.path();
    run_.endpoint = "gateway";
    run_.gateway_port = port_.number();
    write_run(run_);
    endpoint_ = open_http(gateway(run_));
    start();
  }

  void start() {
    process_.emplace(
        std::vector<std::string>{ONCEWARD_BINARY, "demo", "--role", "gateway", "--directory", run_.directory});
    fixtures::await("the gateway serves", [&] { return look_up("nothing").kind == Answered::not_done; });
  }
  void kill() {
    process_->signal(SIGKILL);
    process_->wait();
  }

  EndpointAnswer ask(EndpointRequest::Kind kind, const std::string& key, int amount = 100) {
    const std::string body = fmt::format(R"({{"captureRequestId":"{}","amount":{}}})", key, amount);
    const EndpointRequest request{.kind = kind, .key = key, .body = body};
    endpoint_->start({&request, 1});
    std::vector<EndpointAnswer> answers;
    while (answers.empty()) endpoint_->collect(answers, std::chrono::seconds(5));
    return answers.front();
  }
  EndpointAnswer call(const std::string& key, int amount = 100) {
    return ask(EndpointRequest::Kind::call, key, amount);
  }
  EndpointAnswer look_up(const std::string& key) { return ask(EndpointRequest::Kind::look_up, key); }

  std::string key_of(Manner manner) const {
    for (int i = 0;; ++i) {
      std::string key = fmt::format("key-{}", i);
      if (conduct_of(run_.seed, key).manner == manner) return key;
    }
  }

  const fixtures::TemporaryDirectory folder_;
  const KeptPort port_;
  demo::Run run_;
  std::unique_ptr<Endpoint> endpoint_;
  std::optional<fixtures::Process> process_;
};

TEST_F(GatewayServer, AnswersARepeatedKeyWithTheFirstReferenceThoughItWasKilled) {
  const std::string key = key_of(Manner::prompt);
  const EndpointAnswer first = call(key);
  EXPECT_EQ(first.kind, Answered::succeeded) << first.why;
  kill();
  EXPECT_EQ(call(key).kind, Answered::not_sent) << "nobody else is given its port";
  start();
  EXPECT_EQ(call(key).external_ref, first.external_ref);
  EXPECT_EQ(call(key, 200).status, 422);
  EXPECT_EQ(look_up(key).external_ref, first.external_ref);
  const auto all = endpoint_->list({});
  ASSERT_TRUE(all);
  ASSERT_EQ(all->size(), 1u);
  EXPECT_EQ(all->front().key, key);
}

TEST_F(GatewayServer, MisbehavesByTheKeyTheFirstTime) {
  EXPECT_EQ(call(key_of(Manner::slow)).kind, Answered::succeeded);
  for (const Manner manner : {Manner::loses_reply, Manner::fails_after_work, Manner::too_slow}) {
    EXPECT_EQ(call(key_of(manner)).kind, Answered::unknown) << static_cast<int>(manner);
    EXPECT_EQ(look_up(key_of(manner)).kind, Answered::done) << static_cast<int>(manner);
    EXPECT_EQ(call(key_of(manner)).kind, Answered::succeeded) << static_cast<int>(manner);
  }
  EXPECT_EQ(call(key_of(Manner::drops_request)).kind, Answered::unknown);
  EXPECT_EQ(look_up(key_of(Manner::drops_request)).kind, Answered::not_done);
  EXPECT_EQ(call(key_of(Manner::drops_request)).kind, Answered::succeeded);
  EXPECT_EQ(call(key_of(Manner::mute)).kind, Answered::unknown);
  EXPECT_EQ(look_up(key_of(Manner::mute)).kind, Answered::still_unknown);
}

TEST_F(GatewayServer, ListsByPages) {
  std::size_t made = 0;
  for (int i = 0; made < 220; i += 50) {
    std::vector<std::string> keys, bodies;
    for (int j = i; j < i + 50; ++j) {
      keys.push_back(fmt::format("key-{}", j));
      bodies.push_back(fmt::format(R"({{"captureRequestId":"{}","amount":1}})", keys.back()));
    }
    std::vector<EndpointRequest> requests;
    for (std::size_t j = 0; j < keys.size(); ++j) requests.push_back({.tag = j, .key = keys[j], .body = bodies[j]});
    endpoint_->start(requests);
    std::vector<EndpointAnswer> answers;
    while (answers.size() < keys.size()) endpoint_->collect(answers, std::chrono::seconds(5));
    made += static_cast<std::size_t>(std::ranges::count_if(
        answers, [](const EndpointAnswer& answer) { return answer.kind == Answered::succeeded; }));
  }
  EXPECT_GE(endpoint_->list({})->size(), made);
}

}  // namespace
}  // namespace onceward::demo
