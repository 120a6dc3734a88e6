#include "src/declaration/url.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/declaration/text.h"

namespace onceward::declaration {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Url read(std::string_view text) {
  const auto url = read_url(text);
  EXPECT_EQ(url.index(), 0u) << std::get<std::string>(url);
  return url.index() == 0 ? std::get<Url>(url) : Url{};
}
std::string wrong_with_url(std::string_view text) {
  const auto url = read_url(text);
  return url.index() == 1 ? std::get<std::string>(url) : "nothing";
}

TEST(Url, EveryPartIsReadAndDecoded) {
  const Url url = read("rabbitmq://us%40er:pa%3Ass@broker.example:5671/%2F?queue=orders%20eu&prefetch=10");
  EXPECT_EQ(url.user, "us@er");
  EXPECT_EQ(url.password, "pa:ss");
  ASSERT_EQ(url.hosts.size(), 1u);
  EXPECT_EQ(url.hosts[0].name, "broker.example");
  EXPECT_EQ(url.hosts[0].port, 5671);
  EXPECT_THAT(url.segments, ElementsAre("/"));
  ASSERT_EQ(url.options.size(), 2u);
  EXPECT_EQ(url.options[0].name, "queue");
  EXPECT_EQ(url.options[0].value, "orders eu");
}

TEST(Url, WhatWouldEndAHostOrBeginAnotherIsRefused) {
  for (const char* const text : {"kafka://a%00b/topic", "kafka://a,b%00/topic", "kafka://a%2Cb/topic"}) {
    EXPECT_EQ(wrong_with_url(text), "a host has neither a NUL nor a comma in it") << text;
  }
}

TEST(Url, WhatIsNotThereIsEmpty) {
  const Url url = read("kafka://broker");
  EXPECT_EQ(url.user, "");
  EXPECT_EQ(url.password, std::nullopt);
  EXPECT_EQ(url.hosts[0].port, std::nullopt);
  EXPECT_TRUE(url.segments.empty());
  EXPECT_TRUE(read("kafka://broker/").segments.empty());
  EXPECT_EQ(read("kafka://user:@broker").password, "");
}

TEST(Url, SeveralHostsAreAList) {
  const Url url = read("kafka://me:word@one:1,two,[::1]:3/topic?a=b");
  ASSERT_EQ(url.hosts.size(), 3u);
  EXPECT_EQ(url.hosts[0].port, 1);
  EXPECT_EQ(url.hosts[1].name, "two");
  EXPECT_EQ(url.hosts[2].name, "::1");
  EXPECT_EQ(url.hosts[2].port, 3);
  EXPECT_EQ(url.user, "me");
  EXPECT_THAT(url.segments, ElementsAre("topic"));
  EXPECT_EQ(url.options.size(), 1u);
}

TEST(Url, OthersAreRefusedAndNotRepeated) {
  for (const char* const text :
       {"", "kafka:", "kafka://", "kafka:///t", "kafka://h ost", "kafka://host:99999", "kafka://host:0", "kafka://a,,b",
        "kafka://h/a#b", "kafka://h/%zz", "kafka://h/?a=%2", "kafka://h/%00"}) {
    EXPECT_NE(wrong_with_url(text), "nothing") << text;
  }
  EXPECT_THAT(wrong_with_url("kafka://user:sesame@ho st"), Not(HasSubstr("sesame")));
  EXPECT_THAT(wrong_with_url("kafka://h/" + std::string(most_url_bytes, 'a')), HasSubstr("2048"));
}

TEST(Url, PasswordThatEndsTheHostIsRefusedAndNotRepeated) {
  for (const char* const text :
       {"rabbitmq://u:TOP@ter2/x@h?queue=a", "rabbitmq://u:12/ter2@h?queue=a", "rabbitmq://u:hun/ter2@h/v?queue=a",
        "rabbitmq://u:12?ter2@h/v?queue=a", "kafka://u:12?ter2@h/t?group=g", "kafka://u:a/@ter2@h/t?group=g"}) {
    EXPECT_THAT(wrong_with_url(text), AllOf(HasSubstr("%40 and %2F"), Not(HasSubstr("ter2")))) << text;
  }
  EXPECT_EQ(wrong_with_url("rabbitmq://u:p%40@h/v%40w?queue=a@b&management=http://m:p@h:1"), "nothing");
  for (const char* const text : {"@", "/@", ":/@", "a://@", "://"}) EXPECT_NE(wrong_with_url(text), "nothing") << text;
}

TEST(PostgresUrl, WhatLibpqReadsAsItIsMeantIsAccepted) {
  for (const char* const text :
       {"postgres://", "postgres:///shop", "postgres://app@/shop", "postgres://app:hun%2Fter%402@db:5432/shop",
        "postgresql://one:1,two:2/shop?target_session_attrs=read-write", "postgres://%2Fvar%2Frun/shop",
        "postgres://app@[::1]:5432/shop?port=5433", "postgres://?host=/tmp&user=me@corp&port=1,2"}) {
    EXPECT_EQ(wrong_with_postgres_url(text), std::nullopt) << text;
  }
}

// Each has a password that libpq takes for a host, a port or a database.
TEST(PostgresUrl, WhatLibpqWouldReadOtherwiseIsRefusedAndNotRepeated) {
  for (const char* const text :
       {"postgres://u:hun/ter2@127.0.0.1/x", "postgres://u:12/ter2@127.0.0.1/x", "postgres://u:hun@ter2@127.0.0.1/x",
        "postgres://u:12?ter2@127.0.0.1/x", "postgres://u:12?ter2=@127.0.0.1/x#y", "postgres://u:hun#ter2@127.0.0.1/x",
        "postgres://u:hun%ter2@127.0.0.1/x", "postgres://u:hun:ter2:99999/x", "postgres://db:ter2/x",
        "postgres://db:0/x", "postgres://db/x/ter2", "postgres://db/x?port=ter2"}) {
    const auto wrong = wrong_with_postgres_url(text);
    ASSERT_NE(wrong, std::nullopt) << text;
    EXPECT_THAT(*wrong, Not(HasSubstr("ter2"))) << text;
  }
}

constexpr std::array<std::string_view, 4> names{"wait", "most", "tls", "format"};

UrlOptions options(std::string_view text) {
  return {"broker", FaultCode::source_refused, std::get<0>(read_url_options(text)), names};
}
template <class Call>
std::string refusal(Call&& call) {
  try {
    call();
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.fault(), FaultCode::source_refused);
    return fault.what();
  }
  return "accepted";
}

TEST(UrlOptions, EachKindIsReadWithinItsLimits) {
  const UrlOptions all = options("wait=5s&most=7&tls=true&format=b");
  constexpr std::array<std::string_view, 2> words{"a", "b"};
  EXPECT_EQ(all.duration("wait", 1s, 10s), 5s);
  EXPECT_EQ(all.number("most", 1, 7), 7);
  EXPECT_EQ(all.flag("tls"), true);
  EXPECT_EQ(all.choice("format", words), 1u);
  EXPECT_EQ(options("").number("most", 1, 7), std::nullopt);
  EXPECT_THAT(refusal([&] { all.duration("wait", 6s, 10s); }), HasSubstr("from 6s to 10s"));
  EXPECT_THAT(refusal([&] { all.number("most", 1, 6); }), HasSubstr("from 1 to 6"));
  EXPECT_THAT(refusal([&] { all.flag("format"); }), HasSubstr("none of: false, true"));
}

TEST(UrlOptions, ThoseThatNobodyKnowsAreRefusedWithAHint) {
  EXPECT_THAT(refusal([] { options("wiat=5s"); }), HasSubstr(R"(did you mean "wait"?)"));
  EXPECT_THAT(refusal([] { options("colour=red"); }), HasSubstr("one of: wait, most, tls, format"));
  EXPECT_THAT(refusal([] { options("=1"); }), HasSubstr("unknown"));
  EXPECT_THAT(refusal([] { options("most=1&"); }), HasSubstr("unknown"));
  EXPECT_THAT(refusal([] { options("most"); }), HasSubstr("write most=value"));
  EXPECT_THAT(refusal([] { options("most=1&tls=true&most=1"); }), HasSubstr("most is there twice"));
}

}  // namespace
}  // namespace onceward::declaration
