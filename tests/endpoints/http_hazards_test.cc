// What can go wrong between a call and its answer, on a server that does it on purpose and writes down what it saw.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/fixtures/http_server.h"
#include "tests/fixtures/kept_log.h"

namespace onceward {
namespace {

using namespace fixtures;
using namespace std::chrono_literals;
using testing::HasSubstr;
using Kind = EndpointAnswer::Kind;

// A call to the path that is seen once and whose outcome nobody knows.
struct Doubtful {
  const char* path;
  const char* why;
};

EndpointAnswer call(const EndpointDeclaration& declaration, const std::string& key = "k") {
  return ask(*open_http(declaration), a_call(key));
}

TEST(HttpHazards, WhateverHappensAfterTheRequestIsUnknownAndSentOnce) {
  const Doubtful doubtful[] = {
      {"/reset", "no complete answer"},
      {"/close", "no complete answer"},
      {"/cut", "no complete answer after HTTP 200"},
      {"/not-http", "no complete answer"},
      {"/endless-header", "no complete answer"},
      {"/huge", "the answer is longer than most_response_bytes after HTTP 200"},
      {"/status/500", "HTTP 500"},
      {"/status/504", "HTTP 504"},
  };
  for (const Doubtful& one : doubtful) {
    HttpServer server;
    const EndpointAnswer answer = call(http_declaration(server, one.path));
    EXPECT_EQ(answer.kind, Kind::unknown) << one.path;
    EXPECT_THAT(answer.why, HasSubstr(one.why)) << one.path;
    EXPECT_EQ(server.seen("k"), 1u) << one.path;
  }
}

TEST(HttpHazards, SilenceAndEndlessAnswersEndWithTheTimeoutAndAreUnknown) {
  for (const std::string path : {"/silent", "/drip", "/slow?ms=60000"}) {
    HttpServer server;
    EndpointDeclaration declaration = http_declaration(server, path);
    declaration.timeout = 1s;
    const auto endpoint = open_http(declaration);
    const auto begin = std::chrono::steady_clock::now();
    const EndpointAnswer answer = ask(*endpoint, a_call("k"));
    EXPECT_EQ(answer.kind, Kind::unknown) << path;
    EXPECT_THAT(answer.why, HasSubstr("Timeout")) << path;
    EXPECT_GE(std::chrono::steady_clock::now() - begin, 990ms);  // libcurl counts whole milliseconds
    EXPECT_GE(endpoint->longest(), 1s);
    await("the server has the request", [&] { return server.seen("k") == 1; });
  }
}

// libcurl sends a request again by itself when a connection that it used before is reset. Each call has a connection of its own.
TEST(HttpHazards, CallsThatAreNotIdempotentNeverShareAConnection) {
  HttpServer server;
  const auto endpoint = open_http(http_declaration(server, "/reset-reused"));
  for (const char* const key : {"a", "b", "c"}) EXPECT_EQ(ask(*endpoint, a_call(key)).kind, Kind::succeeded);
  const auto requests = server.requests();
  ASSERT_EQ(requests.size(), 3u);
  EXPECT_NE(requests[0].connection, requests[1].connection);
  EXPECT_NE(requests[1].connection, requests[2].connection);
}

TEST(HttpHazards, ResetOfAReusedConnectionSendsNoSecondCall) {
  HttpServer server;
  const auto endpoint = open_http(http_declaration(server, "/reset-reused"));
  for (const std::string key : {"a", "b", "c"}) {
    ask(*endpoint, a_call(key));
    EXPECT_EQ(server.seen(key), 1u);
  }
}

TEST(HttpHazards, IdempotentCallsShareConnectionsAndARepeatIsSaid) {
  HttpServer server;
  KeptLog log;
  EndpointDeclaration declaration = http_declaration(server, "/reset-reused");
  declaration.idempotent = true;
  const auto endpoint = open_http(declaration, log);
  EXPECT_EQ(ask(*endpoint, a_call("a")).kind, Kind::succeeded);
  EXPECT_EQ(log.text(), "");
  EXPECT_EQ(ask(*endpoint, a_call("b")).kind, Kind::succeeded);
  EXPECT_EQ(server.seen("b"), 2u) << "the same key, which the other side knows";
  const auto requests = server.requests();
  EXPECT_EQ(requests[0].connection, requests[1].connection);
  EXPECT_THAT(log.text(), HasSubstr("the request was made again under its key gateway"));
}

TEST(HttpHazards, AnswersOfSomebodyElseAreNoSuccessWhereAReferenceIsDeclared) {
  for (const char* const path : {"/html", "/garbage", "/status/200"}) {
    HttpServer server;
    EndpointDeclaration declaration = http_declaration(server, path);
    declaration.reference = "/id";
    const EndpointAnswer answer = call(declaration);
    EXPECT_EQ(answer.kind, Kind::unknown) << path;
    EXPECT_EQ(answer.why, "the answer has nothing where reference points to");
    EXPECT_EQ(answer.external_ref, "");
    declaration.reference = "";
    EXPECT_EQ(call(declaration, "k2").kind, Kind::succeeded) << path << ": its status alone says it";
  }
}

// Of an idempotent endpoint, too, whose requests libcurl may repeat.
TEST(HttpHazards, RedirectsAreNotFollowedAndAreUnknown) {
  HttpServer server, other;
  std::size_t calls = 0;
  for (const int status : {301, 302, 303, 307, 308}) {
    for (const std::string& to : {std::string("/ok"), other.url("/ok")}) {
      for (const bool idempotent : {false, true}) {
        EndpointDeclaration declaration =
            http_declaration(server, "/redirect?status=" + std::to_string(status) + "&to=" + to);
        declaration.headers = {{"Authorization", "Bearer secret"}};
        declaration.idempotent = idempotent;
        const EndpointAnswer answer = call(declaration, "k" + std::to_string(++calls));
        EXPECT_EQ(answer.kind, Kind::unknown) << status << to;
        EXPECT_EQ(answer.status, status);
        EXPECT_EQ(answer.why, "HTTP " + std::to_string(status));
      }
    }
  }
  EXPECT_EQ(server.requests().size(), calls);
  EXPECT_TRUE(other.requests().empty());
}

TEST(HttpHazards, AnswerOfExactlyTheLimitIsRead) {
  HttpServer server;
  EndpointDeclaration declaration = http_declaration(server, "/status/200");
  declaration.most_response_bytes = std::string_view(R"({"error":"as asked for"})").size();
  EXPECT_EQ(call(declaration).kind, Kind::succeeded);
  --declaration.most_response_bytes;
  const EndpointAnswer cut = call(declaration);
  EXPECT_EQ(cut.kind, Kind::unknown);
  EXPECT_EQ(cut.response.size(), declaration.most_response_bytes);
}

TEST(HttpHazards, WhereNobodyListensOrHasThatNameNothingWasSent) {
  HttpServer server;
  EndpointDeclaration declaration = http_declaration(server, "/ok");
  server.kill();
  const EndpointAnswer refused = call(declaration);
  EXPECT_EQ(refused.kind, Kind::not_sent);
  EXPECT_THAT(refused.why, HasSubstr("nothing was sent: Couldn't connect to server"));
  server.start();
  EXPECT_EQ(call(declaration).kind, Kind::succeeded);
  declaration.url = "http://no-such-host.invalid/x";
  const EndpointAnswer nameless = call(declaration);
  EXPECT_EQ(nameless.kind, Kind::not_sent);
  EXPECT_THAT(nameless.why, HasSubstr("no-such-host.invalid"));
}

TEST(HttpHazards, WhoNeverAcceptsWasSentNothing) {
  HttpServer server({"--never-accept"});
  EndpointDeclaration declaration = http_declaration(server, "/ok");
  declaration.connect_timeout = 300ms;
  const EndpointAnswer answer = call(declaration);
  EXPECT_EQ(answer.kind, Kind::not_sent) << answer.why;
  EXPECT_TRUE(server.requests().empty());
}

TEST(HttpHazards, ServerThatIsKilledWithTheRequestLeavesItUnknown) {
  HttpServer server;
  const auto endpoint = open_http(http_declaration(server, "/silent"));
  const EndpointRequest request = a_call("k");
  endpoint->start({&request, 1});
  std::vector<EndpointAnswer> answers;
  await("the server has the request", [&] {
    endpoint->collect(answers, 1ms);
    return server.seen("k") == 1;
  });
  server.kill();
  while (answers.empty()) endpoint->collect(answers, 10s);
  EXPECT_EQ(answers[0].kind, Kind::unknown);
}

TEST(HttpHazards, ProxyOfTheEnvironmentIsNotAsked) {
  HttpServer server, proxy;
  ASSERT_EQ(setenv("http_proxy", proxy.url("").c_str(), 1), 0);
  ASSERT_EQ(setenv("ALL_PROXY", proxy.url("").c_str(), 1), 0);
  const EndpointAnswer answer = call(http_declaration(server, "/ok"));
  unsetenv("http_proxy");
  unsetenv("ALL_PROXY");
  EXPECT_EQ(answer.kind, Kind::succeeded);
  EXPECT_TRUE(proxy.requests().empty());
}

}  // namespace
}  // namespace onceward
