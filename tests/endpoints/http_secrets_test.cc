// Whom calls are sent to, and who may read what is secret about them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/fixtures/certificates.h"
#include "tests/fixtures/http_server.h"
#include "tests/fixtures/kept_log.h"

namespace onceward {
namespace {

using namespace fixtures;
using testing::HasSubstr;
using testing::Not;
using Kind = EndpointAnswer::Kind;

std::vector<std::string> with_tls(const Certificates& certificates) {
  return {"--tls", certificates.certificate(), certificates.key()};
}

EndpointDeclaration over_tls(const HttpServer& server, const std::string& host, const std::string& ca_file) {
  EndpointDeclaration declaration = http_declaration(server, "/ok");
  declaration.url = "https://" + host + ":" + std::to_string(server.port()) + "/ok";
  declaration.ca_file = ca_file;
  return declaration;
}

TEST(HttpTrust, TrustedServerIsCalled) {
  const Certificates certificates;
  HttpServer server(with_tls(certificates));
  for (const char* const host : {"localhost", "127.0.0.1"}) {
    const EndpointAnswer answer = ask(*open_http(over_tls(server, host, certificates.ca())), a_call(host));
    EXPECT_EQ(answer.kind, Kind::succeeded) << answer.why;
    EXPECT_EQ(server.seen(host), 1u);
  }
}

TEST(HttpTrust, ServerThatIsNotTrustedIsSentNothing) {
  const Certificates trusted, others, elsewhere("DNS:elsewhere.example"), expired("DNS:localhost", -1);
  struct Case {
    const Certificates& server;
    std::string ca_file, why;
  };
  const Case cases[] = {{others, trusted.ca(), "certificate"},
                        {others, "", "certificate"},
                        {elsewhere, elsewhere.ca(), "localhost"},
                        {expired, expired.ca(), "expired"}};
  for (const Case& one : cases) {
    HttpServer server(with_tls(one.server));
    const EndpointAnswer answer = ask(*open_http(over_tls(server, "localhost", one.ca_file)), a_call("k"));
    EXPECT_EQ(answer.kind, Kind::not_sent) << answer.why;
    EXPECT_THAT(answer.why, HasSubstr(one.why));
    EXPECT_TRUE(server.requests().empty());
  }
}

TEST(HttpTrust, ServerThatSpeaksNoTlsIsSentNothing) {
  HttpServer server;
  const EndpointAnswer answer = ask(*open_http(over_tls(server, "localhost", "")), a_call("k"));
  EXPECT_EQ(answer.kind, Kind::not_sent) << answer.why;
  EXPECT_TRUE(server.requests().empty());
}

TEST(HttpSecrets, OfUrlHeadersAndBodiesStandInNoMessage) {
  HttpServer server;
  KeptLog log;
  const std::string address = "user:hunter2@127.0.0.1:" + std::to_string(server.port());
  const auto declared = [&](const std::string& path) {
    EndpointDeclaration declaration = http_declaration(server, "/ok");
    declaration.url = "http://" + address + path + "?token=hunter2";
    declaration.headers = {{"Authorization", "Bearer hunter2"}};
    declaration.idempotent = true;
    declaration.look_up.emplace();
    declaration.look_up->url = "http://" + address + path + "/{key}?token=hunter2";
    return declaration;
  };
  std::string said;
  const auto ask_all = [&](const std::string& path) {
    const auto endpoint = open_http(declared(path), log);
    for (const std::string key : {"a", "b"}) said += ask(*endpoint, a_call(key, R"({"card":"hunter2"})")).why + "\n";
    said += ask(*endpoint, a_look_up("a")).why + "\n" + endpoint->describe() + "\n";
  };
  for (const char* const path :
       {"/reset", "/reset-reused", "/close", "/cut", "/not-http", "/huge", "/status/500", "/status/401"}) {
    ask_all(path);
  }
  EXPECT_THAT(said, HasSubstr("http://127.0.0.1:" + std::to_string(server.port())));
  EXPECT_THAT(said, HasSubstr("HTTP 500"));
  server.kill();
  ask_all("/ok");
  EXPECT_THAT(said, HasSubstr("nothing was sent"));
  EXPECT_THAT(said + log.text(), Not(HasSubstr("hunter2")));
}

TEST(HttpSecrets, OfTheUrlAreSentAsBasicAuthorisationInOneRequest) {
  HttpServer server;
  EndpointDeclaration declaration = http_declaration(server, "/status/401");
  declaration.url = "http://user:p%40ss@127.0.0.1:" + std::to_string(server.port()) + "/status/401";
  EXPECT_EQ(ask(*open_http(declaration), a_call("k")).kind, Kind::failed);
  ASSERT_EQ(server.requests().size(), 1u);
  EXPECT_EQ(server.requests()[0].header("Authorization"), "Basic dXNlcjpwQHNz");
}

}  // namespace
}  // namespace onceward
