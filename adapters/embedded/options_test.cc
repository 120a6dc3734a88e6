#include "adapters/embedded/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace onceward {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

// What is said about a URL that is refused.
std::string refusal(const std::string& url) {
  try {
    read_embedded_url(url);
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.fault(), FaultCode::source_refused);
    return fault.what();
  }
  return "accepted";
}

TEST(EmbeddedUrl, PathAloneHasTheDefaults) {
  const EmbeddedOptions options = read_embedded_url("embedded:orders.queue");
  EXPECT_EQ(options.path, "orders.queue");
  EXPECT_EQ(options.queue, "default");
  EXPECT_EQ(options.visibility, 60s);
  EXPECT_EQ(options.disturbance.duplicates, 0);
  EXPECT_EQ(options.disturbance.reorder, 0u);
}

TEST(EmbeddedUrl, EveryOptionIsRead) {
  const EmbeddedOptions options = read_embedded_url(
      "embedded:/var/lib/orders.queue?queue=orders.eu&visibility=1500ms&duplicates=0.25&reorder=100&seed="
      "18446744073709551615");
  EXPECT_EQ(options.path, "/var/lib/orders.queue");
  EXPECT_EQ(options.queue, "orders.eu");
  EXPECT_EQ(options.visibility, 1500ms);
  EXPECT_EQ(options.disturbance.duplicates, 0.25);
  EXPECT_EQ(options.disturbance.reorder, 100u);
  EXPECT_EQ(options.disturbance.seed, 18446744073709551615u);
}

TEST(EmbeddedUrl, PercentStandsForBytes) {
  EXPECT_EQ(read_embedded_url("embedded:what%3f%25%2Fnow?queue=%61b").path, "what?%/now");
  EXPECT_EQ(read_embedded_url("embedded:a?queue=%61b").queue, "ab");
  for (const char* const url : {"embedded:a%", "embedded:a%2", "embedded:a%zz", "embedded:a?queue=b%2"}) {
    EXPECT_THAT(refusal(url), HasSubstr("%25")) << url;
  }
  EXPECT_THAT(refusal("embedded:a%00b"), HasSubstr("NUL"));
}

TEST(EmbeddedUrl, OtherUrlsAreRefused) {
  for (const char* const url : {"", "sqlite:a", "embedded", "Embedded:a"}) {
    EXPECT_THAT(refusal(url), HasSubstr("embedded:path?queue=name")) << url;
  }
  EXPECT_THAT(refusal("embedded:" + std::string(2048, 'a')), HasSubstr("2048"));
}

TEST(EmbeddedUrl, PathIsAPathOfAFile) {
  for (const char* const url : {"embedded:", "embedded:?queue=a", "embedded://host/a", "embedded::memory:"}) {
    EXPECT_THAT(refusal(url), HasSubstr("embedded:orders.queue is relative")) << url;
  }
}

TEST(EmbeddedUrl, UnknownOptionsAreRefusedWithAHint) {
  EXPECT_THAT(refusal("embedded:a?visability=3s"), HasSubstr(R"(did you mean "visibility"?)"));
  EXPECT_THAT(refusal("embedded:a?color=red"), HasSubstr("one of: queue, visibility, duplicates, reorder, seed"));
  EXPECT_THAT(refusal("embedded:a?=3"), HasSubstr("one of: queue"));
  EXPECT_THAT(refusal("embedded:a?queue=b&&seed=1"), HasSubstr("one of: queue"));
}

TEST(EmbeddedUrl, OptionIsThereOnceAndHasAValue) {
  EXPECT_THAT(refusal("embedded:a?seed=1&queue=b&seed=1"), HasSubstr("seed is there twice"));
  EXPECT_THAT(refusal("embedded:a?queue"), HasSubstr("write queue=value"));
}

TEST(EmbeddedUrl, ValuesHaveTheirForm) {
  EXPECT_THAT(refusal("embedded:a?visibility=60"), HasSubstr("e.g. \"30s\""));
  for (const char* const url : {"embedded:a?duplicates=", "embedded:a?duplicates=much", "embedded:a?duplicates=0.3x"}) {
    EXPECT_THAT(refusal(url), HasSubstr("e.g. 0.3")) << url;
  }
  for (const char* const url : {"embedded:a?reorder=-1", "embedded:a?reorder=1.5", "embedded:a?reorder="}) {
    EXPECT_THAT(refusal(url), HasSubstr("e.g. 100")) << url;
  }
  for (const char* const url : {"embedded:a?seed=-1", "embedded:a?seed=18446744073709551616", "embedded:a?seed=x"}) {
    EXPECT_THAT(refusal(url), HasSubstr("whole number")) << url;
  }
}

TEST(EmbeddedUrl, ValuesHaveTheirLimits) {
  EXPECT_THAT(refusal("embedded:a?queue="), HasSubstr("name"));
  EXPECT_THAT(refusal("embedded:a?queue=a%20b"), HasSubstr("name"));
  EXPECT_THAT(refusal("embedded:a?queue=" + std::string(101, 'a')), HasSubstr("name"));
  EXPECT_THAT(refusal("embedded:a?visibility=99ms"), HasSubstr("from 100ms to 12h"));
  EXPECT_THAT(refusal("embedded:a?visibility=13h"), HasSubstr("from 100ms to 12h"));
  for (const char* const url :
       {"embedded:a?duplicates=0.91", "embedded:a?duplicates=-0.1", "embedded:a?duplicates=nan"}) {
    EXPECT_THAT(refusal(url), HasSubstr("from 0 to 0.9")) << url;
  }
  EXPECT_THAT(refusal("embedded:a?reorder=10001"), HasSubstr("from 0 to 10000"));
  EXPECT_EQ(refusal("embedded:a?visibility=100ms&duplicates=0.9&reorder=10000"), "accepted");
  EXPECT_EQ(refusal("embedded:a?visibility=12h"), "accepted");
}

TEST(EmbeddedUrl, WhatIsMadeInCodeHasTheSameLimits) {
  EXPECT_THROW(open_embedded({.path = ""}), Fault);
  EXPECT_THROW(open_embedded({.path = "a.queue", .visibility = 1ms}), Fault);
  EXPECT_THROW(EmbeddedSender({.path = "a.queue", .queue = "no name"}), Fault);
}

}  // namespace
}  // namespace onceward
