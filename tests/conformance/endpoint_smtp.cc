// The SMTP endpoint under test: its other side is a mail server that behaves as the recipient is called. A mail has no key: its
// subject says it.
#include <map>
#include <nlohmann/json.hpp>

#include "onceward/adapter/smtp.h"
#include "tests/conformance/endpoint_backends.h"
#include "tests/fixtures/mail_server.h"

namespace onceward::fixtures {
namespace {

class SmtpEndpointUnderTest final : public EndpointUnderTest {
 public:
  std::unique_ptr<Endpoint> open(const EndpointSettings& settings) override {
    EndpointDeclaration declaration = mail_declaration(server_.url());
    declaration.timeout = settings.longest;
    if (settings.most_under_way > 0) declaration.concurrency = settings.most_under_way;
    return open_smtp(declaration);
  }
  void reply(const std::string& key, Reply reply) override { replies_[key] = reply; }
  std::string body(const std::string& key, const std::string& text) override {
    static const std::map<Reply, std::string> recipients{{Reply::yes, "a"},
                                                         {Reply::no, "refuse"},
                                                         {Reply::not_now, "busy"},
                                                         {Reply::silence, "mute-data"},
                                                         {Reply::breaks_off, "drop-data"}};
    const std::string to = recipients.at(replies_[key]) + "@shop.example";
    return nlohmann::json{{"to", to}, {"subject", key}, {"text", text}}.dump();
  }
  std::vector<Seen> seen() override {
    std::vector<Seen> all;
    for (const MailServer::Mail& mail : server_.mails()) all.push_back({mail.subject, mail.text, false});
    return all;
  }
  // The id of the mail, as its reader has it.
  std::string reference_of(const std::string& key) override {
    constexpr std::string_view before = "Message-ID: <";
    for (const MailServer::Mail& mail : server_.mails()) {
      if (mail.subject != key) continue;
      const std::size_t begin = mail.data.find(before) + before.size();
      return mail.data.substr(begin, mail.data.find('>', begin) - begin);
    }
    return "no mail under " + key;
  }
  void go_away(bool away) override { away ? server_.kill() : server_.start(); }

 private:
  MailServer server_;
  std::map<std::string, Reply> replies_;
};

}  // namespace

EndpointBackend smtp_endpoint() {
  return {"smtp", {.remote = true, .says_when = false, .looks_up = false, .lists = false}, [] {
            return std::make_unique<SmtpEndpointUnderTest>();
          }};
}

}  // namespace onceward::fixtures
