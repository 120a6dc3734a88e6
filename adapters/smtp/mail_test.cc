#include "adapters/smtp/mail.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/common/timestamp.h"

namespace onceward::smtp {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::string wrong_with(std::string_view json) {
  const auto read = read_mail(json);
  return read.index() == 1 ? std::get<1>(read) : "nothing";
}

TEST(Mail, IsReadFromItsJson) {
  const auto one = read_mail(R"({"to":"a@b.example","subject":"H\u00e9","text":"x\ny"})");
  ASSERT_EQ(one.index(), 0u);
  EXPECT_THAT(std::get<0>(one).to, ElementsAre("a@b.example"));
  EXPECT_EQ(std::get<0>(one).subject, "Hé");
  EXPECT_EQ(std::get<0>(one).text, "x\ny");
  const auto two = read_mail(R"({"text":"","subject":"","to":["a@b","c+d@e.example"]})");
  ASSERT_EQ(two.index(), 0u);
  EXPECT_THAT(std::get<0>(two).to, ElementsAre("a@b", "c+d@e.example"));
}

TEST(Mail, LineBreaksInItsHeadAreRefused) {
  for (const char* const subject : {R"(a\r\nBcc: x@y)", R"(a\nb)", R"(a\rb)", R"(a\u0000b)"}) {
    const std::string json = std::string(R"({"to":"a@b","text":"","subject":")") + subject + R"("})";
    EXPECT_THAT(wrong_with(json), HasSubstr("the subject has a line break")) << subject;
  }
  for (const char* const to : {R"(a@b\r\nRCPT TO:<x@y>)", R"(a@b\n)", "a@b> <x@y", "a@b,x@y", "a b@c", "a@b@c", "@b",
                               "a@", "", "a", R"(\"a\"@b)", "-f@b"}) {
    const std::string json = std::string(R"({"subject":"","text":"","to":")") + to + R"("})";
    EXPECT_THAT(wrong_with(json), HasSubstr("an address is not written")) << to;
  }
}

TEST(Mail, WhatIsNoneIsRefusedWithoutAWordOfIt) {
  for (const char* const json :
       {R"({"to":"a@b","subject":"hunter2"})", R"({"to":7,"subject":"hunter2","text":""})",
        R"({"to":[["a@b"]],"subject":"hunter2","text":""})", R"({"to":"a@b","subject":"hunter2","text":"","cc":"c@d"})",
        R"({"to":"a@b","to":"c@d","subject":"hunter2","text":""})", "hunter2", "[]", ""}) {
    EXPECT_THAT(wrong_with(json), HasSubstr("the body is")) << json;
    EXPECT_THAT(wrong_with(json), Not(HasSubstr("hunter2")));
  }
  EXPECT_THAT(wrong_with(R"({"to":[],"subject":"","text":""})"), HasSubstr("1 to 100 addresses"));
  EXPECT_THAT(wrong_with(R"({"to":"a@b","text":"","subject":")" + std::string(1001, 'x') + R"("})"),
              HasSubstr("1000 bytes"));
}

TEST(Mail, SenderIsAnAddressWithOrWithoutAName) {
  EXPECT_EQ(read_sender("a@b.example")->address, "a@b.example");
  EXPECT_EQ(read_sender("The, Shop <a@b.example>")->name, "The, Shop");
  EXPECT_EQ(read_sender("The, Shop <a@b.example>")->address, "a@b.example");
  for (const char* const wrong : {"", "a", "a@b>", "<a@b>", "N <a>", "N\r\nBcc: x <a@b>", "\"N\" <a@b>", "N <a@b> x"}) {
    EXPECT_FALSE(read_sender(wrong)) << wrong;
  }
}

TEST(Mail, MessageIdIsAFunctionOfEndpointAndKey) {
  const Sender sender{"", "a@shop.example"};
  EXPECT_EQ(message_id(sender, "mail", "k"), message_id(sender, "mail", "k"));
  EXPECT_NE(message_id(sender, "mail", "k"), message_id(sender, "mail", "k2"));
  EXPECT_NE(message_id(sender, "mail", "k"), message_id(sender, "mai", "lk"));
  EXPECT_EQ(message_id(sender, "mail", "k").size(), 32 + std::string_view("@shop.example").size());
}

TEST(Mail, HeadHoldsWhatEveryAttemptSays) {
  const auto head = head_of({{"a@b", "c@d"}, "Paid", ""}, {"The Shop", "s@shop.example"}, "id@shop.example",
                            *read_timestamp("2026-11-17T08:05:09.5Z"));
  EXPECT_THAT(head, Contains("From: \"The Shop\" <s@shop.example>"));
  EXPECT_THAT(head, Contains("To: a@b,\r\n c@d"));
  EXPECT_THAT(head, Contains("Subject: Paid"));
  EXPECT_THAT(head, Contains("Date: Tue, 17 Nov 2026 08:05:09 +0000"));
  EXPECT_THAT(head, Contains("Message-ID: <id@shop.example>"));
}

TEST(Mail, TextsOfOtherScriptsBecomeEncodedWords) {
  EXPECT_EQ(in_head("plain: text"), "plain: text");
  EXPECT_EQ(in_head("é"), "=?UTF-8?B?w6k=?=");
  EXPECT_EQ(in_head("=?UTF-8?Q?x?="), "=?UTF-8?B?PT9VVEYtOD9RP3g/PQ==?=");
  std::string many;
  for (int i = 0; i < 100; ++i) many += "€";
  const std::string words = in_head(many);
  for (std::size_t at = 0, end = 0; at < words.size(); at = end + 2) {
    end = std::min(words.find("\r\n", at), words.size());
    EXPECT_LE(end - at, 76u);
  }
  EXPECT_EQ(in_head(std::string(2000, 'x')).find("=?UTF-8?B?"), 0u);
}

TEST(Mail, LinesOfTheTextEndAsMailWantsIt) {
  EXPECT_EQ(with_line_ends("a\nb\r\nc\rd\n\n"), "a\r\nb\r\nc\r\nd\r\n\r\n");
  EXPECT_EQ(with_line_ends(""), "");
}

}  // namespace
}  // namespace onceward::smtp
