// What a call over HTTP looks like to the other side, and what its answers mean.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "onceward/version.h"
#include "tests/fixtures/http_server.h"

namespace onceward {
namespace {

using namespace fixtures;
using namespace std::chrono_literals;
using testing::HasSubstr;
using Kind = EndpointAnswer::Kind;

TEST(HttpCalls, AreSentOnceWithTheirKeyBytesAndContext) {
  HttpServer server;
  EndpointDeclaration declaration = http_declaration(server, "/ok?a=1");
  declaration.headers = {{"Authorization", "Bearer secret"}, {"X-Empty", ""}};
  declaration.reference = "/id";
  const auto endpoint = open_http(declaration);
  const std::string body = "{\"bytes\":\"\\u0000 é\"}\n";
  EndpointRequest request = a_call("capture/7", body);
  request.correlation_id = "order-1";
  request.trace_parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  const EndpointAnswer answer = ask(*endpoint, request);
  EXPECT_EQ(answer.kind, Kind::succeeded) << answer.why;
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.external_ref, "ref-capture/7");
  EXPECT_EQ(answer.response, R"({"id":"ref-capture/7","state":"done"})");

  ASSERT_EQ(server.requests().size(), 1u);
  const HttpServer::Request seen = server.requests()[0];
  EXPECT_EQ(seen.method, "POST");
  EXPECT_EQ(seen.target, "/ok?a=1");
  EXPECT_EQ(seen.key, "capture/7");
  EXPECT_EQ(seen.body, body);
  EXPECT_EQ(seen.header("Content-Type"), "application/json");
  EXPECT_EQ(seen.header("Authorization"), "Bearer secret");
  EXPECT_EQ(seen.header("X-Empty"), "");
  EXPECT_EQ(seen.header("X-Correlation-ID"), "order-1");
  EXPECT_EQ(seen.header("traceparent"), request.trace_parent);
  EXPECT_EQ(seen.header("User-Agent"), "onceward/" + std::string(version()));
  EXPECT_EQ(seen.header("Expect"), std::nullopt);
}

TEST(HttpCalls, OfAnyMethodAndHeaderAsDeclared) {
  HttpServer server;
  EndpointDeclaration declaration = http_declaration(server, "/ok");
  declaration.method = "PUT";
  declaration.content_type = "text/csv";
  declaration.key_header = "X-Request-Key";
  const std::string body(3u << 20, 'x');  // libcurl would ask for leave to send so much
  EXPECT_EQ(ask(*open_http(declaration), a_call("k", body)).kind, Kind::succeeded);
  declaration.method = "DELETE";
  EXPECT_EQ(ask(*open_http(declaration), a_call("k2", "")).kind, Kind::succeeded);
  const auto requests = server.requests();
  ASSERT_EQ(requests.size(), 2u);
  EXPECT_EQ(requests[0].method, "PUT");
  EXPECT_EQ(requests[0].header("X-Request-Key"), "k");
  EXPECT_EQ(requests[0].header("Content-Type"), "text/csv");
  EXPECT_EQ(requests[0].header("Expect"), std::nullopt);
  EXPECT_EQ(requests[0].body, body);
  EXPECT_EQ(requests[1].method, "DELETE");
  EXPECT_EQ(requests[1].body, "");
}

TEST(HttpCalls, AreAnsweredByTheStatusThatIsDeclared) {
  HttpServer server;
  const std::map<int, Kind> by_default{{200, Kind::succeeded}, {204, Kind::succeeded}, {302, Kind::unknown},
                                       {400, Kind::failed},    {404, Kind::failed},    {429, Kind::later},
                                       {500, Kind::unknown},   {502, Kind::unknown},   {503, Kind::unknown}};
  for (const auto& [status, kind] : by_default) {
    const auto endpoint = open_http(http_declaration(server, "/status/" + std::to_string(status)));
    const EndpointAnswer answer = ask(*endpoint, a_call("k" + std::to_string(status)));
    EXPECT_EQ(answer.kind, kind) << status;
    EXPECT_EQ(answer.status, status);
    EXPECT_EQ(answer.why, kind == Kind::succeeded ? "" : "HTTP " + std::to_string(status));
  }
  EndpointDeclaration other = http_declaration(server, "/status/500");
  other.failed = {"4xx", "500"};
  EXPECT_EQ(ask(*open_http(other), a_call("other")).kind, Kind::failed);
}

// It may come from somebody in between, who had passed the request on.
TEST(HttpCalls, AServerThatDoesNotSayWhenToComeAgainMayHaveDoneIt) {
  HttpServer server;
  const auto kind_of = [&](const std::string& path) {
    EndpointDeclaration declaration = http_declaration(server, path);
    declaration.later = {"409", "429", "503"};
    return ask(*open_http(declaration), a_call("k")).kind;
  };
  EXPECT_EQ(kind_of("/status/503"), Kind::unknown);
  EXPECT_EQ(kind_of("/status/503?retry_after=1"), Kind::later);
  EXPECT_EQ(kind_of("/status/429"), Kind::later);
  EXPECT_EQ(kind_of("/status/409"), Kind::later);
}

TEST(HttpCalls, ThatAreOnlyAcceptedAreUnknownUnderTheNameThatTheyWereGiven) {
  HttpServer server;
  EndpointDeclaration declaration = http_declaration(server, "/ok");
  declaration.reference = "/id";
  declaration.succeeded = {"201"};
  const EndpointAnswer answer = ask(*open_http(declaration), a_call("k"));
  EXPECT_EQ(answer.kind, Kind::unknown);
  EXPECT_EQ(answer.external_ref, "ref-k");
}

TEST(HttpCalls, RetryAfterIsKeptWhereItIsLaterAndBounded) {
  HttpServer server;
  const auto after = [&](const std::string& path) {
    return ask(*open_http(http_declaration(server, path)), a_call("k")).after;
  };
  EXPECT_EQ(after("/status/503?retry_after=7"), 7s);
  EXPECT_EQ(after("/status/429?retry_after=120"), 120s);
  EXPECT_EQ(after("/status/429"), std::nullopt);
  EXPECT_EQ(after("/status/429?retry_after=soon"), std::nullopt);
  EXPECT_EQ(after("/status/429?retry_after=-5"), std::nullopt);
  EXPECT_EQ(after("/status/503?retry_after=99999999"), 24h);
  EXPECT_EQ(after("/status/503?retry_after=Fri,%2031%20Dec%202100%2023:59:59%20GMT"), 24h);
  EXPECT_EQ(after("/status/429?retry_after=Fri,%2031%20Dec%201999%2023:59:59%20GMT"), std::nullopt);
  EXPECT_EQ(after("/status/400?retry_after=7"), std::nullopt);
}

TEST(HttpCalls, UpToTheRoomAreUnderWayAtOnceAndEachIsAnsweredUnderItsTag) {
  HttpServer server;
  EndpointDeclaration declaration = http_declaration(server, "/slow?ms=50");
  declaration.concurrency = 8;
  const auto endpoint = open_http(declaration);
  EXPECT_EQ(endpoint->room(), 8u);
  std::vector<std::string> keys;
  for (int i = 0; i < 8; ++i) keys.push_back("k" + std::to_string(i));
  std::vector<EndpointRequest> requests;
  for (std::uint64_t i = 0; i < 8; ++i) requests.push_back({.tag = 100 + i, .key = keys[i], .body = "{}"});
  endpoint->start(requests);
  EXPECT_EQ(endpoint->room(), 0u);
  EXPECT_EQ(endpoint->under_way(), 8u);
  std::vector<EndpointAnswer> answers;
  while (answers.size() < 8) endpoint->collect(answers, 10s);
  EXPECT_EQ(endpoint->under_way(), 0u);
  std::map<std::uint64_t, Kind> by_tag;
  for (const EndpointAnswer& answer : answers) by_tag[answer.tag] = answer.kind;
  EXPECT_EQ(by_tag.size(), 8u);
  for (const auto& [tag, kind] : by_tag) EXPECT_EQ(kind, Kind::succeeded) << tag;
  for (const std::string& key : keys) EXPECT_EQ(server.seen(key), 1u);
}

TEST(HttpCalls, ThatCanNeverBeMadeHaveFailedAndNothingWasSent) {
  HttpServer server;
  const auto endpoint = open_http(http_declaration(server, "/ok"));
  for (const std::string key : {"", "a\r\nX-Injected: 1", " a", "a ", "a\x01"}) {
    const EndpointAnswer answer = ask(*endpoint, a_call(key));
    EXPECT_EQ(answer.kind, Kind::failed);
    EXPECT_THAT(answer.why, HasSubstr("the key cannot be a header"));
  }
  const EndpointAnswer large = ask(*endpoint, a_call("k", std::string((16u << 20) + 1, 'x')));
  EXPECT_EQ(large.kind, Kind::failed);
  EXPECT_THAT(large.why, HasSubstr("the body has 16777217 bytes"));
  EXPECT_TRUE(server.requests().empty());
}

TEST(HttpCalls, ContextThatWouldBeAHeaderOfItsOwnIsLeftOut) {
  HttpServer server;
  EndpointRequest request = a_call("k");
  request.correlation_id = "a\r\nX-Injected: 1";
  EXPECT_EQ(ask(*open_http(http_declaration(server, "/ok")), request).kind, Kind::succeeded);
  EXPECT_EQ(server.requests()[0].header("X-Injected"), std::nullopt);
}

}  // namespace
}  // namespace onceward
