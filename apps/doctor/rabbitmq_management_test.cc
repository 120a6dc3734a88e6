#include "apps/doctor/rabbitmq_management.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/doctor/examine.h"
#include "tests/fixtures/certificates.h"
#include "tests/fixtures/http_server.h"

namespace onceward::doctor {
namespace {

TEST(QueueSettings, AreReadFromArgumentsPoliciesAndTheDefault) {
  const auto read = [](const std::string& json, std::optional<std::int32_t> by_default) {
    return std::get<QueueSettings>(read_queue_settings(json, by_default));
  };
  const auto both = read(R"({"type":"quorum","arguments":{"x-delivery-limit":5,"x-message-ttl":9000},
      "effective_policy_definition":{"delivery-limit":3,"dead-letter-exchange":"dead","expires":60000}})",
                         -1);
  EXPECT_EQ(both.delivery_limit, 3);
  EXPECT_EQ(both.dead_letter_exchange, "dead");
  EXPECT_EQ(both.lifetime, std::chrono::seconds(9));
  EXPECT_EQ(both.queue_lifetime, std::chrono::minutes(1));
  const std::string bare = R"({"type":"quorum","arguments":{}})";
  EXPECT_EQ(read(bare, -1).delivery_limit, std::nullopt);
  EXPECT_EQ(read(bare, 20).delivery_limit, 20);
  EXPECT_EQ(read(R"({"type":"quorum","arguments":{"x-delivery-limit":-1}})", 20).delivery_limit, std::nullopt);
  EXPECT_EQ(read(R"({"type":"classic","arguments":{}})", 20).delivery_limit, std::nullopt);
  for (const auto& [argument, policy] : {std::pair(5, -1), std::pair(-1, 5)}) {
    const std::string json = fmt::format(R"({{"type":"quorum","arguments":{{"x-delivery-limit":{}}},
        "effective_policy_definition":{{"delivery-limit":{}}}}})",
                                         argument, policy);
    EXPECT_EQ(read(json, 20).delivery_limit, 5) << json;
  }
  for (const char* const other : {"", "[]", "{}", "{\"type\":7}"}) {
    EXPECT_TRUE(std::holds_alternative<std::string>(read_queue_settings(other, 20))) << other;
  }
}

TEST(QueueSettings, WithoutALimitAndADefaultAreUnknown) {
  const auto status = [](const std::string& json, std::optional<std::int32_t> by_default) {
    return name(look_at_limit(std::get<QueueSettings>(read_queue_settings(json, by_default)), 20).status);
  };
  const std::string bare = R"({"type":"quorum","arguments":{}})";
  EXPECT_EQ(status(bare, -1), "ok");
  EXPECT_EQ(status(bare, 20), "problem");
  EXPECT_EQ(status(bare, std::nullopt), "unknown");
  EXPECT_EQ(status(R"({"type":"quorum","arguments":{"x-delivery-limit":-1}})", std::nullopt), "ok");
  EXPECT_EQ(status(R"({"type":"quorum","arguments":{"x-delivery-limit":5}})", std::nullopt), "problem");
  EXPECT_EQ(status(R"({"type":"classic","arguments":{}})", std::nullopt), "ok");
}

// The source logs the last delivery by the limit that it believes in.
TEST(QueueSettings, WithAnotherLimitThanTheSourceBelievesInAreSaid) {
  const auto hinted = [](const std::string& type, std::optional<std::int64_t> limit, std::int32_t believed) {
    const QueueSettings settings{.type = type, .delivery_limit = limit};
    const std::string text = look_at_limit(settings, believed).text;
    return text.find(fmt::format("write delivery_limit={} in the URL", limit.value_or(-1))) != text.npos;
  };
  EXPECT_FALSE(hinted("quorum", 5, 5));
  EXPECT_FALSE(hinted("quorum", std::nullopt, -1));
  EXPECT_TRUE(hinted("quorum", 5, -1));
  EXPECT_TRUE(hinted("quorum", 5, 20));
  EXPECT_TRUE(hinted("quorum", std::nullopt, 20));
  EXPECT_FALSE(hinted("classic", std::nullopt, 20));
}

class ExchangeRoutes : public testing::Test {
 protected:
  using Reaches = ExchangeRoute::Reaches;
  static constexpr Reaches no = Reaches::no, unknown = Reaches::unknown, yes = Reaches::yes;

  // Whether another queue is reached, and the queue "own" itself.
  static std::pair<Reaches, Reaches> reached(const std::string& type, const std::string& bindings,
                                             const std::optional<std::string>& key = "k",
                                             const std::string& more = "") {
    const auto route = read_route("{\"type\":\"" + type + "\"" + more + "}", "[" + bindings + "]", "own", key);
    return {route.another, route.back};
  }
  static std::string to(const std::string& destination, const std::string& key, const std::string& kind = "queue") {
    return fmt::format(R"({{"destination":"{}","destination_type":"{}","routing_key":"{}"}})", destination, kind, key);
  }
  static constexpr const char* overflow = R"(,"arguments":{"alternate-exchange":"other"})";
};

TEST_F(ExchangeRoutes, AreKnownWhereTheBindingsTell) {
  EXPECT_EQ(reached("fanout", ""), std::pair(no, no));
  EXPECT_EQ(reached("fanout", to("q", "x"), std::nullopt), std::pair(yes, no));
  EXPECT_EQ(reached("fanout", to("e", "x", "exchange")), std::pair(unknown, unknown));
  EXPECT_EQ(reached("direct", to("q", "x") + "," + to("q", "k")), std::pair(yes, no));
  EXPECT_EQ(reached("direct", to("q", "x")), std::pair(no, no));
  EXPECT_EQ(reached("direct", to("q", "k"), std::nullopt), std::pair(unknown, no)) << "each message has its own key";
  EXPECT_EQ(reached("topic", to("q", "#"), std::nullopt), std::pair(yes, no));
  EXPECT_EQ(reached("topic", to("q", "a.*")), std::pair(unknown, no));
  EXPECT_EQ(reached("headers", to("q", "")), std::pair(unknown, no));
  EXPECT_EQ(reached("direct", "", "k", overflow), std::pair(unknown, unknown));
  EXPECT_EQ(reached("direct", to("q", "k"), "k", overflow), std::pair(yes, no));
  EXPECT_EQ(read_route("{}", "[]", "own", "k").another, unknown);
  EXPECT_EQ(read_route("{\"type\":\"fanout\"}", "", "own", "k").another, unknown);
}

TEST_F(ExchangeRoutes, ThatLeadBackAreToldFromThoseThatLeadOn) {
  EXPECT_EQ(reached("fanout", to("own", "")), std::pair(no, yes));
  EXPECT_EQ(reached("fanout", to("own", "") + "," + to("q", "")), std::pair(yes, yes));
  EXPECT_EQ(reached("direct", to("own", "x") + "," + to("q", "k")), std::pair(yes, no));
  EXPECT_EQ(reached("direct", to("own", "k"), std::nullopt), std::pair(no, unknown));
  EXPECT_EQ(reached("topic", to("own", "#") + "," + to("q", "a.*")), std::pair(unknown, yes));
  EXPECT_EQ(reached("fanout", to("own", "", "exchange")), std::pair(unknown, unknown)) << "an exchange of that name";
  EXPECT_EQ(reached("direct", to("own", "k"), "k", overflow), std::pair(no, yes));
}

TEST(Management, IsAskedOverTlsOnlyWhereItIsTrusted) {
  const fixtures::Certificates certificates, others;
  const fixtures::HttpServer server({"--tls", certificates.certificate(), certificates.key()});
  const auto asked = [&](const std::string& ca_file) {
    RabbitmqSourceOptions options;
    options.connection.ca_file = ca_file;
    options.connection.verify_peer = false;  // is of the broker alone
    options.management = fmt::format("https://me:hunter2@localhost:{}", server.port());
    return std::get<std::string>(ask_management(options, std::nullopt));
  };
  for (const std::string& ca_file : {others.ca(), std::string()}) {
    const std::string why = asked(ca_file);
    EXPECT_THAT(why, testing::HasSubstr("certificate"));
    EXPECT_THAT(why, testing::Not(testing::HasSubstr("hunter2")));
  }
  EXPECT_TRUE(server.requests().empty());
  EXPECT_EQ(asked(certificates.ca()), "the management API's answer is no queue");
  EXPECT_EQ(server.requests().size(), 1u);
}

}  // namespace
}  // namespace onceward::doctor
