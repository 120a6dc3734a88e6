#include "adapters/http/statuses.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace onceward::http {
namespace {

using Kind = EndpointAnswer::Kind;
using List = std::vector<std::string>;

Statuses declared(const List& succeeded, const List& failed, const List& later) {
  return Statuses(
      {{"succeeded", succeeded, Kind::succeeded}, {"failed", failed, Kind::failed}, {"later", later, Kind::later}},
      Kind::unknown);
}

TEST(Statuses, OneGoesBeforeItsClass) {
  const Statuses statuses = declared({"2xx", "409"}, {"4xx", "299"}, {"429", "503"});
  EXPECT_EQ(statuses.of(200), Kind::succeeded);
  EXPECT_EQ(statuses.of(299), Kind::failed);
  EXPECT_EQ(statuses.of(404), Kind::failed);
  EXPECT_EQ(statuses.of(409), Kind::succeeded);
  EXPECT_EQ(statuses.of(429), Kind::later);
  EXPECT_EQ(statuses.of(503), Kind::later);
}

TEST(Statuses, ThatFitNoneAreUnknown) {
  const Statuses statuses = declared({"2xx"}, {"4xx"}, {"503"});
  for (const int status : {0, 99, 100, 302, 307, 500, 502, 504, 599, 600, 999, -1}) {
    EXPECT_EQ(statuses.of(status), Kind::unknown) << status;
  }
}

TEST(Statuses, ThatAreNoneOrMeanTwoThingsAreRefused) {
  for (const char* const wrong : {"", "2", "2xX", "20", "2000", "6xx", "0xx", "abc", "20x", "-20", "x00"}) {
    EXPECT_THROW(declared({wrong}, {}, {}), Fault) << wrong;
  }
  EXPECT_THROW(declared({"4xx"}, {"4xx"}, {}), Fault);
  EXPECT_THROW(declared({}, {"503"}, {"503"}), Fault);
  EXPECT_NO_THROW(declared({"200", "200"}, {"4xx"}, {"429"}));
}

}  // namespace
}  // namespace onceward::http
