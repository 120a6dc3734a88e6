#include "adapters/http/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace onceward::http {
namespace {

using testing::HasSubstr;
using testing::Not;

EndpointDeclaration declared() {
  EndpointDeclaration declaration;
  declaration.name = "gateway";
  declaration.url = "https://user:hunter2@pay.example/charge/hunter2";
  return declaration;
}

std::string refusal_of(const EndpointDeclaration& declaration) {
  try {
    read_plan(declaration);
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.fault(), FaultCode::endpoint_refused);
    EXPECT_THAT(fault.what(), Not(HasSubstr("hunter2")));
    return fault.what();
  }
  return "none";
}

// With one thing changed.
template <class Change>
std::string refusal(Change&& change) {
  EndpointDeclaration declaration = declared();
  change(declaration);
  return refusal_of(declaration);
}

TEST(HttpPlan, IsShownWithoutCredentialsAndPath) {
  EXPECT_EQ(read_plan(declared()).place, "https://pay.example:443");
  EndpointDeclaration other = declared();
  other.url = "http://[::1]:8080/x";
  EXPECT_EQ(read_plan(other).place, "http://[::1]:8080");
}

TEST(HttpPlan, RefusesUrlsOfOtherKinds) {
  for (const char* const url : {"", "pay.example/x", "ftp://hunter2@h/", "file:///etc/passwd", "smtp://h", "https://",
                                "gopher://h/_x", "https://u:hunter2@h:port/", "http://h/a b"}) {
    EXPECT_THAT(refusal([&](auto& made) { made.url = url; }), HasSubstr("https://host:port/path")) << url;
  }
}

TEST(HttpPlan, RefusesWhatPassesALimit) {
  using namespace std::chrono_literals;
  EXPECT_THAT(refusal([](auto& made) { made.timeout = 0ms; }), HasSubstr("timeout goes from"));
  EXPECT_THAT(refusal([](auto& made) { made.connect_timeout = 1h; }), HasSubstr("connect_timeout goes from"));
  EXPECT_THAT(refusal([](auto& made) { made.concurrency = 0; }), HasSubstr("concurrency"));
  EXPECT_THAT(refusal([](auto& made) { made.most_response_bytes = 1ull << 40; }), HasSubstr("most_response_bytes"));
  EXPECT_THAT(refusal([](auto& made) { made.ca_file = "/nowhere/hunter2"; }), HasSubstr("ca_file cannot be read"));
  for (const char* const method : {"TRACE", "GET", ""}) {
    EXPECT_THAT(refusal([&](auto& made) { made.method = method; }), HasSubstr("POST, PUT"));
  }
}

TEST(HttpPlan, RefusesHeadersThatAreNotTheirs) {
  const auto with = [](const std::string& name, const std::string& value) {
    return refusal([&](auto& made) { made.headers = {{name, value}}; });
  };
  EXPECT_EQ(with("Authorization", "Bearer hunter2"), "none");
  EXPECT_EQ(with("X-Empty", ""), "none");
  EXPECT_THAT(with("X-A", "hunter2\r\nX-B: b"), HasSubstr("the value of the header X-A"));
  EXPECT_THAT(with("X A", "hunter2"), HasSubstr("name of a header"));
  EXPECT_THAT(with("X-A: b\r\nX", "hunter2"), HasSubstr("name of a header"));
  EXPECT_THAT(with("content-length", "3"), HasSubstr("cannot be declared"));
  EXPECT_THAT(with("Transfer-Encoding", "chunked"), HasSubstr("cannot be declared"));
  EXPECT_THAT(with("content-type", "text/plain"), HasSubstr("content_type"));
  EXPECT_THAT(with("idempotency-key", "hunter2"), HasSubstr("key_header"));
  EXPECT_THAT(with("Host", "other.example"), HasSubstr("cannot be declared"));
  for (const char* const key_header : {"a b", ""}) {
    EXPECT_THAT(refusal([&](auto& made) { made.key_header = key_header; }), HasSubstr("key_header"));
  }
}

std::string refusal_of_look_up(const std::string& url, const std::string& pointer = "",
                               const std::vector<std::string>& values = {},
                               const std::vector<std::string>& not_done = {"404"}) {
  LookUpDeclaration look_up;
  look_up.url = url;
  look_up.done_pointer = pointer;
  look_up.done_values = values;
  look_up.not_done = not_done;
  return refusal([&](auto& made) { made.look_up = look_up; });
}

TEST(HttpPlan, RefusesLookUpsThatAskForNothing) {
  EXPECT_EQ(refusal_of_look_up("https://pay.example/by/{key}"), "none");
  EXPECT_EQ(refusal_of_look_up("https://pay.example/?r={reference}&b={business_key}"), "none");
  EXPECT_THAT(refusal_of_look_up("https://pay.example/all"), HasSubstr("no call in particular"));
  for (const char* const url : {"https://{key}.example/", "https://h/{hunter2}", "https://h/{key", "ftp://h/{key}"}) {
    EXPECT_THAT(refusal_of_look_up(url), HasSubstr("behind the host")) << url;
  }
  EXPECT_THAT(refusal_of_look_up("https://h/{key}", "/state"), HasSubstr("belong together"));
  EXPECT_THAT(refusal_of_look_up("https://h/{key}", "state", {"x"}), HasSubstr("JSON pointer"));
  EXPECT_THAT(refusal_of_look_up("https://h/{key}", "", {}, {"2xx"}), HasSubstr("something else"));
}

TEST(HttpPlan, RefusesLookUpsWhoseValuesSayTwoThings) {
  const auto with = [](const std::string& not_done_pointer, const std::vector<std::string>& done,
                       const std::vector<std::string>& not_done) {
    LookUpDeclaration look_up;
    look_up.url = "https://pay.example/by/{key}";
    if (!done.empty()) look_up.done_pointer = "/state";
    look_up.done_values = done;
    look_up.not_done_pointer = not_done_pointer;
    look_up.not_done_values = not_done;
    return refusal([&](auto& made) { made.look_up = look_up; });
  };
  EXPECT_EQ(with("/data", {"done"}, {"[]"}), "none");
  EXPECT_EQ(with("", {"done"}, {"gone"}), "none");
  EXPECT_THAT(with("data", {"done"}, {"[]"}), HasSubstr("JSON pointer"));
  EXPECT_THAT(with("/data", {}, {"[]"}), HasSubstr("any other answer would be done"));
  EXPECT_THAT(with("", {"done", "x"}, {"y", "x"}), HasSubstr("in common"));
}

}  // namespace
}  // namespace onceward::http
