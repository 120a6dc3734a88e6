// What reaches those who are served, and what is answered in their place.
#include "apps/daemon/admin_server.h"

#include <gmock/gmock.h>

#include <future>

#include "apps/daemon/suite.h"

namespace onceward::daemon {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Loopback, IsWhatLeadsToThisMachine) {
  for (const char* own : {"127.0.0.1", "127.1.2.3", "::1", "::ffff:127.0.0.1", "::ffff:127.9.9.9"}) {
    EXPECT_TRUE(is_loopback(own)) << own;
  }
  for (const char* other : {"10.0.0.1", "192.168.1.2", "0.0.0.0", "128.0.0.1", "::", "::2", "fe80::1", "2001:db8::1",
                            "::ffff:10.0.0.1", "::ffff:128.0.0.1", "::127.0.0.1", "localhost", ""}) {
    EXPECT_FALSE(is_loopback(other)) << other;
  }
}

Service that_tells(std::promise<Request>& told) {
  Service service;
  service.most_body_bytes = 100;
  service.refuse = [](const Request&) { return std::nullopt; };
  service.refuse_large = [](const Request&) { return Page{413}; };
  service.refuse_unread = [](unsigned status) { return Page{status}; };
  service.serve = [&told](Request request, Respond respond) {
    told.set_value(std::move(request));
    respond(Page{200});
  };
  return service;
}
Request told_of(const std::string& host, const std::string& text) {
  std::promise<Request> told;
  const AdminServer server(host, 0, that_tells(told));
  EXPECT_EQ(http_exchange(server.port(), text).status, 200);
  return told.get_future().get();
}

TEST(AdminServer, KnowsWhoIsOnThisMachineAlsoByAnAddressOfIpv6) {
  const std::string text = "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
  EXPECT_TRUE(told_of("127.0.0.1", text).local);
  EXPECT_TRUE(told_of("::ffff:127.0.0.1", text).local);
}

TEST(AdminServer, TakesNothingThatFollowsTheBodyForAHeader) {
  const Request request = told_of("127.0.0.1",
                                  "POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Tenant: a\r\n"
                                  "Transfer-Encoding: chunked\r\nTrailer: authorization\r\n\r\n"
                                  "3\r\nabc\r\n0\r\nAuthorization: x\r\nX-Tenant: b\r\n\r\n");
  EXPECT_EQ(request.body, "abc");
  EXPECT_EQ(request.header("authorization"), "");
  EXPECT_EQ(request.header("x-tenant"), "a");
}

const char* const malformed[] = {
    "\r\n\r\n\r\n",
    "\x16\x03\x01\x02\x01\x01 this is TLS\r\n\r\n",
    "POST /ingress/captures HTTP/9.9\r\n\r\n",
    "POST /ingress/ captures HTTP/1.1\r\n\r\n",
    "POST /ingress/captures HTTP/1.1\r\nno colon\r\n\r\n",
    "POST /ingress/captures HTTP/1.1\r\nContent-Length: x\r\n\r\n",
    "POST /ingress/captures HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
};

class RunningServer : public RunningIngress {};
INSTANTIATE_TEST_SUITE_P(Store, RunningServer, testing::Values("sqlite"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(RunningServer, AnswersWhatItCannotReadWithAProblem) {
  const auto process = open_door();
  for (const char* text : malformed) {
    const HttpAnswer answer = http_exchange(port_, text);
    EXPECT_EQ(answer.status, 400) << text;
    EXPECT_EQ(code_in(answer), "request_malformed");
    EXPECT_THAT(answer.headers, HasSubstr("Connection: close"));
  }
  const HttpAnswer chunk = http_exchange(
      port_, Posted{.body = "", .more = "Transfer-Encoding: chunked\r\n"}.text() + "this is no length\r\n\r\n");
  EXPECT_EQ(chunk.status, 400);
  const HttpAnswer large = post({.more = "X-Large: " + std::string(9'000, 'x') + "\r\n"});
  EXPECT_EQ(large.status, 431);
  EXPECT_EQ(code_in(large), "header_too_large");
  EXPECT_EQ(post({.path = "/ingress/" + std::string(9'000, 'x')}).status, 431);
  EXPECT_EQ(post().status, 202);
  EXPECT_TRUE(logged(*process, "listening for /livez, /readyz, /metrics and /ingress"));
  EXPECT_THAT(get(port_, "/").body, HasSubstr("/ingress"));
}

TEST_P(RunningServer, SaysTheSameInPlainTextWhereThereIsNoFrontDoor) {
  write(store_, effect);
  const auto process = open_door();
  for (const char* text : malformed) {
    const HttpAnswer answer = http_exchange(port_, text);
    EXPECT_EQ(answer.status, 400) << text;
    EXPECT_THAT(answer.headers, HasSubstr("text/plain"));
  }
  EXPECT_EQ(http_exchange(port_, "GET /" + std::string(9'000, 'x') + " HTTP/1.1\r\n\r\n").status, 431);
  EXPECT_THAT(get(port_, "/").body, Not(HasSubstr("/ingress")));
}

}  // namespace
}  // namespace onceward::daemon
