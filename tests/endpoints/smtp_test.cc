// Mail over SMTP, to a real server that behaves as its recipients are called and writes down what it took.
#include "onceward/adapter/smtp.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/common/timestamp.h"
#include "tests/fixtures/certificates.h"
#include "tests/fixtures/http_server.h"
#include "tests/fixtures/mail_server.h"

namespace onceward {
namespace {

using namespace fixtures;
using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using Kind = EndpointAnswer::Kind;

std::string mail_to(const std::string& name) {
  return R"({"to":")" + name + R"(@shop.example","subject":"Paid","text":"Thank you."})";
}

EndpointAnswer send(const EndpointDeclaration& declaration, const std::string& body, const std::string& key = "k") {
  return ask(*open_smtp(declaration), a_call(key, body));
}

TEST(Mails, ArriveWithAHeadThatIsTheSameOnEveryAttempt) {
  MailServer server;
  const auto endpoint = open_smtp(mail_declaration(server.url()));
  const std::string body =
      R"({"to":["a@shop.example","b@shop.example"],"subject":"Bezahlt: 5 €","text":"Grüße\n.\nEnd"})";
  EndpointRequest request = a_call("mail/1", body);
  request.created_at = *read_timestamp("2026-11-17T08:05:09Z");
  for (int attempt = 0; attempt < 2; ++attempt) {
    const EndpointAnswer answer = ask(*endpoint, request);
    EXPECT_EQ(answer.kind, Kind::succeeded) << answer.why;
    EXPECT_EQ(answer.status, 250);
    EXPECT_THAT(answer.response, HasSubstr("queued as 4711"));
    EXPECT_THAT(answer.external_ref, testing::EndsWith("@shop.example"));
    const auto mails = server.mails();
    ASSERT_EQ(mails.size(), static_cast<std::size_t>(attempt) + 1);
    EXPECT_EQ(mails.back().from, "onceward@shop.example");
    EXPECT_THAT(mails.back().to, ElementsAre("a@shop.example", "b@shop.example"));
    const std::string& data = mails.back().data;
    EXPECT_THAT(data, HasSubstr("Message-ID: <" + answer.external_ref + ">\r\n"));
    EXPECT_THAT(data, HasSubstr("Date: Tue, 17 Nov 2026 08:05:09 +0000\r\n"));
    EXPECT_THAT(data, HasSubstr("From: \"Onceward\" <onceward@shop.example>\r\n"));
    EXPECT_THAT(data, HasSubstr("To: a@shop.example,\r\n b@shop.example\r\n"));
    EXPECT_THAT(data, HasSubstr("Subject: =?UTF-8?B?QmV6YWhsdDogNSDigqw=?=\r\n"));
    EXPECT_THAT(data, HasSubstr("Content-Type: text/plain; charset=utf-8\r\n"));
    EXPECT_THAT(data, HasSubstr("Gr=C3=BC=C3=9Fe\r\n.\r\nEnd"));
  }
}

TEST(Mails, ThatAreRefusedHaveAnAnswerBeforeAndAfterTheirData) {
  MailServer server;
  const EndpointDeclaration declaration = mail_declaration(server.url());
  const struct {
    const char* to;
    Kind kind;
    int status;
    std::size_t seen;
  } cases[] = {{"refuse", Kind::failed, 550, 0},
               {"busy", Kind::later, 451, 0},
               {"refuse-data", Kind::failed, 554, 1},
               {"busy-data", Kind::later, 451, 2}};
  for (const auto& one : cases) {
    const EndpointAnswer answer = send(declaration, mail_to(one.to));
    EXPECT_EQ(answer.kind, one.kind) << one.to;
    EXPECT_EQ(answer.status, one.status) << one.to;
    EXPECT_EQ(answer.why, "SMTP " + std::to_string(one.status));
    EXPECT_EQ(server.mails().size(), one.seen) << one.to;
  }
}

TEST(Mails, ToSeveralOfWhomOneIsRefusedGoToNobody) {
  MailServer server;
  const EndpointAnswer answer =
      send(mail_declaration(server.url()), R"({"to":["a@shop.example","refuse@shop.example"],"subject":"","text":""})");
  EXPECT_EQ(answer.kind, Kind::failed);
  EXPECT_TRUE(server.mails().empty());
}

TEST(Mails, WhoseConnectionIsLostAfterTheirDataAreUnknownAndSentOnce) {
  MailServer server;
  const EndpointAnswer answer = send(mail_declaration(server.url()), mail_to("drop-data"));
  EXPECT_EQ(answer.kind, Kind::unknown);
  EXPECT_THAT(answer.why, HasSubstr("no reply to the message"));
  EXPECT_EQ(server.mails().size(), 1u);
}

TEST(Mails, WithoutAReplyEndWithTheTimeoutAndAreUnknown) {
  MailServer server;
  EndpointDeclaration declaration = mail_declaration(server.url());
  declaration.timeout = 1s;
  EXPECT_EQ(send(declaration, mail_to("mute-data")).kind, Kind::unknown);
  EXPECT_EQ(server.mails().size(), 1u);
}

TEST(Mails, WhoseConnectionIsLostBeforeTheirDataWereNotSent) {
  MailServer server;
  const EndpointDeclaration declaration = mail_declaration(server.url());
  EXPECT_EQ(send(declaration, mail_to("drop")).kind, Kind::not_sent);
  EXPECT_TRUE(server.mails().empty());
  server.kill();
  const EndpointAnswer away = send(declaration, mail_to("a"));
  EXPECT_EQ(away.kind, Kind::not_sent);
  EXPECT_THAT(away.why, HasSubstr("nothing was sent"));
}

// libcurl takes its leave while everything else stands still.
TEST(Mails, ServerThatDoesNotSayGoodbyeHoldsUpNobody) {
  MailServer server;
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(send(mail_declaration(server.url()), mail_to("mute-quit")).kind, Kind::succeeded);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 20s);
}

TEST(Mails, ThatCannotBeMeantHaveFailedAndNothingWasSent) {
  MailServer server;
  for (const char* const body : {"", R"({"to":"a@b","subject":"x\r\nBcc: c@d","text":""})",
                                 R"({"to":"a@b\r\nRCPT TO:<c@d>","subject":"x","text":""})", R"({"to":"a@b"})"}) {
    const EndpointAnswer answer = send(mail_declaration(server.url()), body);
    EXPECT_EQ(answer.kind, Kind::failed) << body;
    EXPECT_NE(answer.why, "") << body;
  }
  EXPECT_TRUE(server.mails().empty());
}

std::string login_url(const MailServer& server, const std::string& scheme, const std::string& password) {
  return scheme + "://shop:" + password + "@localhost:" + std::to_string(server.port());
}

TEST(Mails, AreSentOverTlsWithALoginAndNeverWithout) {
  const Certificates certificates, others;
  for (const std::string scheme : {"smtp", "smtps"}) {
    MailServer server({scheme == "smtp" ? "--starttls" : "--tls", certificates.certificate(), certificates.key(),
                       "--login", "shop", "hunter2"});
    EndpointDeclaration declaration = mail_declaration(login_url(server, scheme, "hunter2"));
    declaration.ca_file = certificates.ca();
    const EndpointAnswer sent = send(declaration, mail_to("a"));
    EXPECT_EQ(sent.kind, Kind::succeeded) << scheme << sent.why;
    ASSERT_EQ(server.mails().size(), 1u);
    EXPECT_TRUE(server.mails()[0].tls || scheme == "smtps");
    EXPECT_EQ(server.mails()[0].user, "shop");

    declaration.ca_file = others.ca();
    EXPECT_EQ(send(declaration, mail_to("a")).kind, Kind::not_sent);
    declaration.ca_file = certificates.ca();
    declaration.url = login_url(server, scheme, "wrong-hunter2");
    const EndpointAnswer denied = send(declaration, mail_to("a"));
    EXPECT_EQ(denied.kind, Kind::not_sent);
    EXPECT_THAT(denied.why + open_smtp(declaration)->describe(), Not(HasSubstr("hunter2")));
    EXPECT_EQ(server.mails().size(), 1u);
  }
}

TEST(Mails, AreNotSentToAServerWithoutTlsUnlessItIsDeclared) {
  MailServer server;
  EndpointDeclaration declaration = mail_declaration("smtp://127.0.0.1:" + std::to_string(server.port()));
  EXPECT_EQ(send(declaration, mail_to("a")).kind, Kind::not_sent);
  EXPECT_TRUE(server.mails().empty());
  EXPECT_FALSE(open_smtp(declaration)->looks_up());
}

}  // namespace
}  // namespace onceward
