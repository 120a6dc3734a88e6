// [[consumer.call]] and [ingress] in a file.
#include "src/declaration/suite.h"

namespace onceward {
namespace {

using namespace files;  // NOLINT: the suite is the tests' vocabulary

// Ten lines; what a case adds begins on the eleventh.
constexpr std::string_view capturing = R"toml([[consumer]]
name = "captures"
owner = "team"
source = "embedded:q"
sql = "SELECT 1 FROM messages"
[consumer.fields]
invoice = { pointer = "/invoice" }
note = { pointer = "/note", optional = true }
[[consumer.call]]
endpoint = "gateway"
)toml";

TEST(Calls, AreRead) {
  const Application application = read(std::string(capturing) + R"toml(
key = "capture/{invoice}"
type = "capture"
business_key = "{invoice}"
body = { b = "{note}", a = [1, 2.5, true, "for {invoice}"], "c\"" = {} }
approval = "required"
[[consumer.call]]
endpoint = "mail"
key = "mail/{message_id}"
body = "{payload}"
[[consumer.call]]
endpoint = "log"
key = "log/{message_id}"
[consumer.call.body]
x.y = "{tenant}"
[[endpoint]]
name = "gateway"
[[endpoint]]
name = "mail"
[[endpoint]]
name = "log"
)toml");
  const auto& calls = application.consumers.at(0).calls;
  ASSERT_EQ(calls.size(), 3u);
  EXPECT_EQ(calls[0],
            (CallDeclaration{"gateway", "capture/{invoice}", "capture", "{invoice}",
                             R"({"b":"{note}","a":[1,2.5,true,"for {invoice}"],"c\"":{}})", Approval::required}));
  EXPECT_EQ(calls[1], (CallDeclaration{"mail", "mail/{message_id}", "", "", "{payload}", Approval::none}));
  EXPECT_EQ(calls[2].body, R"({"x":{"y":"{tenant}"}})");
}

TEST(Calls, MistakesAreFoundWhereTheyAre) {
  const std::string with_body = std::string(capturing) + "body = \"{payload}\"\n";
  const auto expect_in_key = [&](const Case& wrong) { expect_one_mistake(wrong, with_body); };
  expect_in_key({"", 9, 1, "call[0].key", "is missing", "capture/{invoice}"});
  expect_in_key({"key = \"capture\"", 12, 7, "call[0].key", "the same for every message", "{invoice}"});
  expect_in_key({"key = \"{invoise}\"", 12, 7, "call[0].key", "{invoise} is no declared field", "invoice"});
  expect_in_key({"key = \"{note}\"", 12, 7, "call[0].key", "{note} may be missing", "null"});
  expect_in_key({"key = \"{payload}\"", 12, 7, "call[0].key", "whole body only", "body"});
  expect_in_key({"key = \"{invoice}{message_id}\"", 12, 7, "call[0].key", "nothing between them", "{invoice}/{line}"});
  expect_in_key({"key = \"{invoice\"", 12, 7, "call[0].key", "not closed", "{{"});
  expect_in_key({"key = \"{invoice}\"\ntype = \"{x}\"", 13, 8, "call[0].type", "no declared field", "one of"});
  expect_in_key(
      {"key = \"{invoice}\"\nbusiness_key = \"{note}\"", 13, 16, "call[0].business_key", "may be missing", ""});
  expect_in_key({"key = \"{invoice}\"\nkeys = 1", 13, 1, "call[0].keys", "unknown key", "key"});
  expect_in_key({"key = \"{invoice}\"\n[[consumer.call]]\nendpoint = \"gateway\"\nbody = []\nkey = \"{invoice}\"", 16,
                 7, "call[1].key", "another call to the same endpoint", "one key is one call"});

  const std::string with_key = std::string(capturing) + "key = \"{invoice}\"\n";
  const auto expect_in_body = [&](const Case& wrong) { expect_one_mistake(wrong, with_key); };
  expect_in_body({"", 9, 1, "call[0].body", "is missing", "{payload}"});
  expect_in_body({"body = 7", 12, 8, "call[0].body", "an integer where a body", "{payload}"});
  expect_in_body({"body = \"{invoice}\"", 12, 8, "call[0].body", "is no JSON", "{payload}"});
  expect_in_body({"body = { a = \"{x}\" }", 12, 8, "call[0].body", "{x} is no declared field", "one of"});
  expect_in_body({"body = { a = \"a {note}\" }", 12, 8, "call[0].body", "{note} may be missing", "by itself"});
  expect_in_body({"body = { a = \"{payload}\" }", 12, 8, "call[0].body", "whole body only", ""});
  expect_in_body({"body = { a = 2026-01-01 }", 12, 14, "call[0].body.a", "no dates", "in quotes"});
  expect_in_body({"body = [nan]", 12, 9, "call[0].body[0]", "no such number", "text"});
  expect_in_body(
      {"body = []\n[[endpoint]]\nname = \"gatway\"", 10, 12, "call[0].endpoint", "no endpoint of this file", "gatway"});
}

TEST(Calls, NeedAHandlerInSql) {
  expect_one_mistake({"[[consumer.call]]\nendpoint = \"a\"\nkey = \"{message_id}\"\nbody = []", 5, 12, "call",
                      "handlers in SQL", "stage its own"},
                     "[[consumer]]\nname = \"a\"\nowner = \"b\"\nsource = \"embedded:q\"\n");
}

TEST(Calls, WhoseEndpointIsUnreadableAreNotBlamed) {
  const auto mistakes =
      mistakes_in(std::string(capturing) + "key = \"{invoice}\"\nbody = []\n[[endpoint]]\nnme = \"gateway\"\n");
  ASSERT_EQ(mistakes.size(), 1u) << to_string(mistakes);
  EXPECT_EQ(mistakes[0].key, "nme");
}

TEST(FrontDoor, IsRead) {
  const Application application = read(std::string(capturing) + R"toml(key = "{invoice}"
body = "{payload}"
[ingress]
consumers = ["captures"]
token = "${TOKEN}"
expiry = "2d"
most_body_bytes = 1000
)toml");
  EXPECT_EQ(application.ingress, (IngressDeclaration{{"captures"}, "${TOKEN}", std::chrono::hours(48), 1000}));
}

TEST(FrontDoor, MistakesAreFoundWhereTheyAre) {
  const std::string_view others =
      "[[consumer]]\nname = \"a\"\nowner = \"b\"\nsource = \"embedded:q\"\n[[consumer]]\nname = \"k\"\nowner = \"b\"\n"
      "source = \"kafka://h/t?group=g\"\n[ingress]\n";
  const auto expect = [&](const Case& wrong) { expect_one_mistake(wrong, others); };
  expect({"", 9, 1, "ingress.consumers", "is missing", "captures"});
  expect({"consumers = [\"b\"]", 10, 14, "ingress.consumers[0]", "no consumer of this file", "one of"});
  expect({"consumers = [\"k\"]", 10, 14, "ingress.consumers[0]", "no embedded queue", "embedded:"});
  expect({"consumers = [\"a\", \"a\"]", 10, 19, "ingress.consumers[1]", "named twice", "once"});
  expect({"consumers = [\"a\"]\nexpiry = \"1m\"", 11, 10, "ingress.expiry", "whole number of hours", "round"});
  expect({"consumers = [\"a\"]\nmost_body_bytes = 0", 11, 19, "ingress.most_body_bytes", "outside", "memory"});
  expect({"consumers = [\"a\"]\ntokn = \"x\"", 11, 1, "ingress.tokn", "unknown key", "token"});
}

}  // namespace
}  // namespace onceward
