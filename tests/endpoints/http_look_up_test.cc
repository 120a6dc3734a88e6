// What became of a call, asked of the other side by its key or by its own name for it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/fixtures/http_server.h"

namespace onceward {
namespace {

using namespace fixtures;
using namespace std::chrono_literals;
using testing::HasSubstr;
using Kind = EndpointAnswer::Kind;

EndpointDeclaration looking_up(const HttpServer& server, const std::string& path) {
  EndpointDeclaration declaration = http_declaration(server, "/reset");
  declaration.look_up.emplace();
  declaration.look_up->url = server.url(path);
  return declaration;
}

TEST(HttpLookUps, SayWhatBecameOfACallThatIsUnknown) {
  HttpServer server;
  EndpointDeclaration declaration = looking_up(server, "/calls/{key}");
  declaration.look_up->done_pointer = "/state";
  declaration.look_up->done_values = {"settled", "done"};
  declaration.look_up->reference = "/id";
  const auto endpoint = open_http(declaration);
  EXPECT_TRUE(endpoint->looks_up());
  EXPECT_EQ(ask(*endpoint, a_call("pay/7?x=é")).kind, Kind::unknown);
  const EndpointAnswer done = ask(*endpoint, a_look_up("pay/7?x=é"));
  EXPECT_EQ(done.kind, Kind::done) << done.why;
  EXPECT_EQ(done.external_ref, "ref-pay/7?x=é");
  EXPECT_EQ(done.why, "");
  const EndpointAnswer not_done = ask(*endpoint, a_look_up("pay/8"));
  EXPECT_EQ(not_done.kind, Kind::not_done);
  EXPECT_EQ(not_done.why, "HTTP 404");
  EXPECT_EQ(server.requests()[1].method, "GET");
  EXPECT_EQ(server.requests()[1].target, "/calls/pay%2F7%3Fx%3D%C3%A9");
  EXPECT_EQ(server.requests()[1].key, "") << "it is no call";
}

TEST(HttpLookUps, CarryTheHeadersThatAreDeclaredAndTheContext) {
  HttpServer server;
  EndpointDeclaration declaration = looking_up(server, "/calls/{key}?b={business_key}");
  declaration.headers = {{"Authorization", "Bearer secret"}};
  EndpointRequest request = a_look_up("k");
  request.business_key = "invoice 1";
  request.correlation_id = "order-1";
  EXPECT_EQ(ask(*open_http(declaration), request).kind, Kind::not_done);
  EXPECT_EQ(server.requests()[0].header("Authorization"), "Bearer secret");
  EXPECT_EQ(server.requests()[0].header("X-Correlation-ID"), "order-1");
  EXPECT_EQ(server.requests()[0].target, "/calls/k?b=invoice%201");
}

TEST(HttpLookUps, ValueThatIsNotDeclaredIsStillUnknown) {
  HttpServer server;
  EndpointDeclaration declaration = looking_up(server, "/calls/{key}?state=pending");
  declaration.look_up->done_pointer = "/state";
  declaration.look_up->done_values = {"done"};
  const auto endpoint = open_http(declaration);
  ask(*endpoint, a_call("k"));
  const EndpointAnswer pending = ask(*endpoint, a_look_up("k"));
  EXPECT_EQ(pending.kind, Kind::still_unknown);
  EXPECT_THAT(pending.why, HasSubstr("none of look_up.done_values"));
  declaration.look_up->done_pointer = "/elsewhere";
  EXPECT_THAT(ask(*open_http(declaration), a_look_up("k")).why,
              HasSubstr("nothing where look_up.done_pointer points to"));
}

// Providers that have no address for one call are asked for all with its key, and answer with 200 and none.
TEST(HttpLookUps, AnEmptyListSaysNotDoneWhereItIsDeclared) {
  for (const std::string bare : {"", "?bare"}) {
    HttpServer server;
    EndpointDeclaration declaration = looking_up(server, "/search/{key}" + bare);
    LookUpDeclaration& look_up = *declaration.look_up;
    look_up.done_pointer = bare.empty() ? "/data/0/state" : "/0/state";
    look_up.done_values = {"done"};
    look_up.reference = bare.empty() ? "/data/0/id" : "/0/id";
    EXPECT_EQ(ask(*open_http(declaration), a_look_up("k")).kind, Kind::still_unknown);
    if (bare.empty()) look_up.not_done_pointer = "/data";
    look_up.not_done_values = {"[]"};
    const auto endpoint = open_http(declaration);
    const EndpointAnswer none = ask(*endpoint, a_look_up("k"));
    EXPECT_EQ(none.kind, Kind::not_done);
    EXPECT_THAT(none.why, HasSubstr("look_up.not_done_values"));
    EXPECT_EQ(none.external_ref, "");
    EXPECT_EQ(ask(*endpoint, a_call("k")).kind, Kind::unknown);
    const EndpointAnswer found = ask(*endpoint, a_look_up("k"));
    EXPECT_EQ(found.kind, Kind::done) << found.why;
    EXPECT_EQ(found.external_ref, "ref-k");
  }
}

TEST(HttpLookUps, AValueSaysNotDoneWhereItIsDeclaredAndAnyOtherNothing) {
  HttpServer server;
  const auto kind_of = [&](const std::string& state, const std::string& not_done_pointer = "") {
    EndpointDeclaration declaration = looking_up(server, "/calls/{key}?state=" + state);
    declaration.look_up->done_pointer = "/state";
    declaration.look_up->done_values = {"done"};
    declaration.look_up->not_done_pointer = not_done_pointer;
    declaration.look_up->not_done_values = {"refused", "ref-k"};
    return ask(*open_http(declaration), a_look_up("k")).kind;
  };
  ask(*open_http(looking_up(server, "/calls/{key}")), a_call("k"));
  EXPECT_EQ(kind_of("done"), Kind::done);
  EXPECT_EQ(kind_of("refused"), Kind::not_done);
  EXPECT_EQ(kind_of("pending"), Kind::still_unknown);
  EXPECT_EQ(kind_of("done", "/id"), Kind::still_unknown) << "it says both";
  EXPECT_EQ(kind_of("pending", "/id"), Kind::not_done);
}

TEST(HttpLookUps, ThatAreNotAnsweredAreStillUnknown) {
  for (const std::string path : {"/silent", "/reset", "/close", "/cut", "/huge", "/garbage", "/html", "/status/500",
                                 "/status/403", "/redirect?to=/ok&x="}) {
    HttpServer server;
    EndpointDeclaration declaration = looking_up(server, path + (path.find('?') == path.npos ? "?k={key}" : "{key}"));
    declaration.timeout = path == "/silent" ? 300ms : std::chrono::milliseconds(generous);
    declaration.look_up->done_pointer = "/state";
    declaration.look_up->done_values = {"done"};
    const EndpointAnswer answer = ask(*open_http(declaration), a_look_up("k"));
    EXPECT_EQ(answer.kind, Kind::still_unknown) << path;
    EXPECT_NE(answer.why, "") << path;
  }
  HttpServer server;
  const auto endpoint = open_http(looking_up(server, "/calls/{key}"));
  server.kill();
  EXPECT_EQ(ask(*endpoint, a_look_up("k")).kind, Kind::not_sent);
}

TEST(HttpLookUps, ArePutOffByAServerThatIsTooBusy) {
  HttpServer server;
  for (const std::string status : {"429", "503"}) {
    const EndpointAnswer answer =
        ask(*open_http(looking_up(server, "/status/" + status + "?retry_after=7&k={key}")), a_look_up("k"));
    EXPECT_EQ(answer.kind, Kind::later);
    EXPECT_EQ(answer.after, 7s);
  }
}

TEST(HttpLookUps, ByAReferenceThatNobodyKnowsAreNotAsked) {
  HttpServer server;
  const auto endpoint = open_http(looking_up(server, "/calls/{reference}"));
  const EndpointAnswer unasked = ask(*endpoint, a_look_up("k"));
  EXPECT_EQ(unasked.kind, Kind::still_unknown);
  EXPECT_THAT(unasked.why, HasSubstr("not known of this call"));
  EXPECT_EQ(ask(*endpoint, a_look_up("k", "..")).kind, Kind::still_unknown);
  EXPECT_TRUE(server.requests().empty());
  EXPECT_EQ(ask(*endpoint, a_look_up("k", "ref-9")).kind, Kind::not_done);
  EXPECT_EQ(server.requests()[0].target, "/calls/ref-9");
}

TEST(HttpLookUps, AreNotOfferedWhereNoneIsDeclared) {
  HttpServer server;
  EXPECT_FALSE(open_http(http_declaration(server, "/ok"))->looks_up());
}

EndpointDeclaration listing(const HttpServer& server, const std::string& path) {
  EndpointDeclaration declaration = http_declaration(server, "/ok");
  declaration.list = ListDeclaration{
      .url = server.url(path), .items = "/data", .key = "/key", .reference = "/made/id", .next = "/next"};
  return declaration;
}

FaultCode fault_of(const EndpointDeclaration& declaration) {
  try {
    open_http(declaration)->list(Timestamp{});
  } catch (const Fault& fault) {
    return fault.fault();
  }
  ADD_FAILURE() << "no fault";
  return FaultCode::transaction_failed;
}

TEST(HttpLists, AreReadPageByPage) {
  HttpServer server;
  const auto endpoint = open_http(listing(server, "/list?since={since}"));
  for (int i = 1; i <= 7; ++i) ask(*endpoint, a_call("k" + std::to_string(i)));
  const auto records = endpoint->list(Timestamp{});
  ASSERT_TRUE(records);
  ASSERT_EQ(records->size(), 7u);
  EXPECT_EQ(records->at(0).key, "k1");
  EXPECT_EQ(records->at(6).key, "k7");
  EXPECT_EQ(records->at(6).external_ref, "ref-k7");
  EXPECT_EQ(server.requests().size(), 7u + 3u);
  EXPECT_EQ(server.requests()[7].target, "/list?since=1970-01-01T00%3A00%3A00Z");
}

TEST(HttpLists, NeverLeaveTheirHostAndEnd) {
  HttpServer server;
  EXPECT_EQ(fault_of(listing(server, "/list-away")), FaultCode::endpoint_refused);
  EXPECT_EQ(fault_of(listing(server, "/list-loop")), FaultCode::endpoint_refused);
  EXPECT_EQ(server.requests().size(), 1u + 1'000u);
}

TEST(HttpLists, ThatAreNoneAreRefusedAndThoseThatAreAwayAreWaitedFor) {
  HttpServer server;
  for (const char* const path : {"/list-wrong", "/garbage", "/html", "/status/404", "/huge", "/redirect?to=/list"}) {
    EXPECT_EQ(fault_of(listing(server, path)), FaultCode::endpoint_refused) << path;
  }
  for (const char* const path : {"/reset", "/cut", "/status/503", "/status/429"}) {
    EXPECT_EQ(fault_of(listing(server, path)), FaultCode::endpoint_unavailable) << path;
  }
  EXPECT_FALSE(open_http(http_declaration(server, "/ok"))->list(Timestamp{}).has_value());
}

}  // namespace
}  // namespace onceward
