// [relay] and [[route]] in a file.
#include "src/declaration/route.h"

#include "src/declaration/suite.h"

namespace onceward {
namespace {

using namespace files;  // NOLINT: the suite is the tests' vocabulary

using std::chrono::milliseconds;

TEST(Routes, AreRead) {
  const Application application = read(R"toml(
[relay]
producer = "shop"
lease = "30s"
poll = "20ms"
retry = { attempts = 3, first_delay = "1ms", longest_delay = "1m" }
[[route]]
name = "orders"
types = ["order.paid", "refund.*"]
to = "kafka://broker/orders"
key = "{type}"
order = "key"
[[route]]
name = "rest"
types = ["*"]
to = "embedded:rest.queue"
)toml");
  EXPECT_EQ(application.relay, (RelayDeclaration{.producer = "shop",
                                                 .retry = {3, milliseconds(1), milliseconds(60'000)},
                                                 .lease = milliseconds(30'000),
                                                 .poll = milliseconds(20)}));
  ASSERT_EQ(application.routes.size(), 2u);
  EXPECT_EQ(application.routes[0],
            (RouteDeclaration{"orders", {"order.paid", "refund.*"}, "kafka://broker/orders", "{type}", Order::key}));
  EXPECT_EQ(application.routes[1], (RouteDeclaration{"rest", {"*"}, "embedded:rest.queue", "", Order::none}));
}

TEST(Routes, OfDeadLettersNameThem) {
  using declaration::route_for;
  const std::vector<RouteDeclaration> all{{.name = "all", .types = {"*"}, .to = {}, .key = {}}};
  EXPECT_EQ(route_for("paid", all), &all[0]);
  EXPECT_EQ(route_for(dead_letter_type("payments"), all), nullptr);
  std::vector<RouteDeclaration> named = all;
  named.push_back({.name = "dead", .types = {"onceward.dead_letter.*"}, .to = {}, .key = {}});
  EXPECT_EQ(route_for(dead_letter_type("payments"), named), &named[1]);
}

TEST(Routes, OfDeadLettersAreMissedOnlyWhereThereAreOthers) {
  const std::string_view consumer =
      "[[consumer]]\nname = \"payments\"\nowner = \"me\"\nsource = \"embedded:in\"\ndead_letters = true\n";
  EXPECT_TRUE(read(consumer).consumers[0].dead_letters) << "another process relays";
  expect_one_mistake({"[relay]\nproducer = \"shop\"\n[[route]]\nname = \"a\"\ntypes = [\"*\"]\nto = \"embedded:q\"", 5,
                      16, "dead_letters", "no route takes them", "onceward.dead_letter.payments"},
                     consumer);
}

TEST(Routes, MistakesAreFoundWhereTheyAre) {
  const std::string_view relay = "[relay]\nproducer = \"shop\"\n";
  const std::string_view route =
      "[relay]\nproducer = \"shop\"\n[[route]]\nname = \"a\"\ntypes = [\"x\"]\nto = \"embedded:q\"\n";
  expect_one_mistake({"lease = \"1ms\"", 3, 9, "relay.lease", "outside 1s to 10m", "relay that has died"}, relay);
  expect_one_mistake({"poll = \"1ms\"", 3, 8, "relay.poll", "outside 10ms to 1m", "nobody told"}, relay);
  expect_one_mistake({"retry.attempts = 0", 3, 18, "relay.retry.attempts", "0", "hundred times"}, relay);
  expect_one_mistake({"order = \"partition\"", 7, 9, "order", "a source's", "order = \"key\""}, route);
  expect_one_mistake({"keys = \"x\"", 7, 1, "keys", "unknown key", "key"}, route);
  expect_one_mistake(
      {"[[route]]\nname = \"a\"\ntypes = [\"y\"]\nto = \"embedded:q\"", 8, 8, "name", "declared twice", "pause"},
      route);
  expect_one_mistake(
      {"[[route]]\nname = \"b\"\ntypes = [\"*y\"]\nto = \"embedded:q\"", 9, 10, "types[0]", "at its end", "order.*"},
      route);
  expect_one_mistake({"[[route]]\nname = \"b\"\ntypes = [\"y\"]\nto = \"nats:q\"", 10, 6, "to", "unknown", "kafka://"},
                     route);
  expect_one_mistake({"[[route]]\nname = \"b\"\ntypes = [\"y\"]", 7, 1, "to", "is missing", "kafka://"}, route);
  expect_one_mistake({"[[route]]\nname = \"b\"\nto = \"embedded:q\"", 7, 1, "types", "is missing", "order.paid"},
                     route);
  expect_one_mistake({"[[route]]\nname = \"a\"\ntypes = [\"x\"]\nto = \"embedded:q\"\n", 1, 1, "relay.producer",
                      "is missing", "[relay]"},
                     "");
}

}  // namespace
}  // namespace onceward
