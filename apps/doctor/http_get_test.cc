#include "apps/doctor/http_get.h"

#include <gtest/gtest.h>

#include "tests/fixtures/http_server.h"

namespace onceward::doctor {
namespace {

TEST(HttpPlace, IsReadWithAnyPassword) {
  const auto place = read_http_place("http://me:p@s:/s@broker:15672/prefix/");
  ASSERT_TRUE(place);
  EXPECT_EQ(place->user, "me");
  EXPECT_EQ(place->password, "p@s:/s");
  EXPECT_EQ(place->url, "http://broker:15672/prefix");
  EXPECT_EQ(read_http_place("https://[::1]/")->url, "https://[::1]");
  EXPECT_EQ(read_http_place("https://me@h")->password, "");
  for (const char* const url : {"", "h:1", "ftp://h", "http://", "http://me:pw@", "http://h:port", "http://h/?q"}) {
    EXPECT_FALSE(read_http_place(url)) << url;
  }
}

TEST(HttpGet, SaysWhoAsksAndFollowsNobody) {
  const fixtures::HttpServer server;
  const HttpPlace place{.url = server.url(""), .user = "me", .password = "pw"};
  EXPECT_EQ(http_get(place, "/ok").status, 200);
  EXPECT_EQ(server.requests().at(0).header("Authorization"), "Basic bWU6cHc=");
  EXPECT_EQ(http_get(place, "/redirect?to=" + server.url("/ok")).status, 307);
  EXPECT_EQ(server.requests().size(), 2u);
}

TEST(HttpGet, EndsWithoutAnAnswerInTimeOrWithOneThatIsTooLarge) {
  const fixtures::HttpServer server;
  for (const auto& [path, patience] :
       std::vector<std::pair<std::string, std::chrono::milliseconds>>{{"/silent", std::chrono::milliseconds(100)},
                                                                      {"/drip", std::chrono::milliseconds(100)},
                                                                      {"/huge", fixtures::generous}}) {
    EXPECT_THROW(http_get({.url = server.url(""), .patience = patience}, path), std::runtime_error) << path;
  }
}

}  // namespace
}  // namespace onceward::doctor
