#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/fixtures/broker_urls.h"

namespace onceward::cli {
namespace {

using namespace fixtures;                         // NOLINT: the fixtures are the tests' vocabulary
using Row = std::pair<std::string, std::string>;  // status and what

class DoctorSources : public testing::Test {
 protected:
  Spoken examine(const std::string& source, const std::string& more = {}, const std::string& output = "json") const {
    const std::string file = folder_.path() + "/app.toml";
    std::ofstream(file) << "[[consumer]]\nname = \"captures\"\nowner = \"me\"\nsource = \"" << source << "\"\n" << more;
    return fixtures::speak({ONCEWARD_BINARY, "doctor", "sources", file, "-o", output});
  }
  static std::map<std::string, Row> rows_of(const Spoken& spoken) {
    std::map<std::string, Row> rows;
    for (const auto& row : nlohmann::json::parse(spoken.out)) {
      EXPECT_EQ(row.at("consumer"), "captures");
      rows[row.at("check")] = {row.at("status"), row.at("what")};
    }
    return rows;
  }
  // The URL option that names the API of the server, as the user guest.
  static std::string management() {
    std::string url = fixtures::environment("ONCEWARD_TEST_RABBITMQ_API");
    return "&management=" + url.substr(0, url.rfind("/api"));
  }
  static std::string dead_letters_to(const std::string& url) {
    return "dead_letters = true\n[relay]\nproducer = \"shop\"\n[[route]]\nname = \"dead\"\n"
           "types = [\"onceward.dead_letter.captures\"]\nto = \"" +
           url + "\"\n";
  }

  const fixtures::TemporaryDirectory folder_;
};

TEST_F(DoctorSources, WithoutTheManagementApiTheLimitIsUnknown) {
  fixtures::RabbitmqQueue queue({.delivery_limit = 3, .expires = false});
  queue.send({{.body = "{}"}});
  const Spoken spoken = examine(rabbitmq_url(queue.name()));
  EXPECT_EQ(spoken.exit_code, 0) << spoken.err;
  auto rows = rows_of(spoken);
  EXPECT_EQ(rows["connection"].first, "ok");
  EXPECT_EQ(rows["queue"].first, "ok");
  EXPECT_NE(rows["queue"].second.find("1 message(s) wait"), std::string::npos) << spoken.out;
  EXPECT_EQ(rows["prefetch"].first, "ok");
  EXPECT_EQ(rows["acknowledgement"].first, "ok");
  EXPECT_EQ(rows["delivery_limit"].first, "unknown");
  EXPECT_NE(rows["delivery_limit"].second.find("management="), std::string::npos);
  EXPECT_EQ(rows["retention"].first, "unknown");
  EXPECT_EQ(queue.depth(), 1u);
}

TEST_F(DoctorSources, DeliveryLimitWithoutDeadLettersIsAProblem) {
  fixtures::RabbitmqQueue queue({.delivery_limit = 3, .expires = false});
  const Spoken spoken = examine(rabbitmq_url(queue.name()) + management());
  EXPECT_EQ(spoken.exit_code, 6) << spoken.out;
  auto rows = rows_of(spoken);
  EXPECT_EQ(rows["delivery_limit"].first, "problem");
  EXPECT_NE(rows["delivery_limit"].second.find("comes back 3 time(s)"), std::string::npos) << spoken.out;
  EXPECT_NE(rows["delivery_limit"].second.find("write delivery_limit=3"), std::string::npos) << spoken.out;
  EXPECT_EQ(spoken.out.find("guest"), std::string::npos) << spoken.out;
}

TEST_F(DoctorSources, DeliveryLimitWithDeadLettersIsFine) {
  fixtures::RabbitmqQueue dead;
  const std::string exchange = fixtures::unique_name();
  dead.client().declare_exchange(exchange, "fanout");
  fixtures::RabbitmqQueue queue({.delivery_limit = 3, .dead_letter_exchange = exchange});
  const auto limit = [&] { return rows_of(examine(rabbitmq_url(queue.name()) + management()))["delivery_limit"]; };
  EXPECT_EQ(limit().first, "problem") << "nothing is bound to it";
  dead.client().bind(dead.name(), exchange, "");
  fixtures::await("the management API knows", [&] { return limit().first == "ok"; });
  fixtures::RabbitmqQueue by_default({.delivery_limit = 3, .dead_letter_exchange = "", .dead_letter_key = dead.name()});
  const Spoken spoken = examine(rabbitmq_url(by_default.name()) + management());
  EXPECT_EQ(rows_of(spoken)["delivery_limit"].first, "ok") << spoken.out;
  dead.client().delete_exchange(exchange);
}

TEST_F(DoctorSources, DeliveryLimitWithDeadLettersThatGoNowhereIsAProblem) {
  for (const fixtures::QueueArguments& arguments : std::vector<fixtures::QueueArguments>{
           {.delivery_limit = 3, .dead_letter_exchange = "nowhere", .expires = false},
           {.delivery_limit = 3, .dead_letter_exchange = "", .dead_letter_key = "nobody", .expires = false}}) {
    fixtures::RabbitmqQueue queue(arguments);
    const Spoken spoken = examine(rabbitmq_url(queue.name()) + management());
    EXPECT_EQ(spoken.exit_code, 6) << spoken.out;
    EXPECT_EQ(rows_of(spoken)["delivery_limit"].first, "problem") << spoken.out;
  }
  fixtures::RabbitmqQueue own_key({.delivery_limit = 3, .dead_letter_exchange = ""});
  const Spoken spoken = examine(rabbitmq_url(own_key.name()) + management());
  EXPECT_EQ(rows_of(spoken)["delivery_limit"].first, "unknown") << spoken.out;
}

// RabbitMQ drops what comes back to its queue by the limit alone.
TEST_F(DoctorSources, DeliveryLimitWithDeadLettersThatOnlyComeBackIsAProblem) {
  const auto name = fixtures::unique_name(), exchange = fixtures::unique_name();
  fixtures::RabbitmqClient client;
  client.declare_exchange(exchange, "fanout");
  for (const fixtures::QueueArguments& arguments : std::vector<fixtures::QueueArguments>{
           {.delivery_limit = 3, .dead_letter_exchange = "", .dead_letter_key = name, .expires = false},
           {.delivery_limit = 3, .dead_letter_exchange = exchange, .expires = false}}) {
    client.declare_queue(name, arguments);
    if (!arguments.dead_letter_key) client.bind(name, exchange, "");
    fixtures::await("the management API knows", [&] {
      const Spoken spoken = examine(rabbitmq_url(name) + management());
      EXPECT_EQ(spoken.exit_code, 6) << spoken.out;
      EXPECT_EQ(rows_of(spoken)["delivery_limit"].first, "problem") << spoken.out;
      return rows_of(spoken)["delivery_limit"].second.find("leads only back") != std::string::npos;
    });
    client.delete_queue(name);
  }
  client.delete_exchange(exchange);
}

TEST_F(DoctorSources, StreamIsAProblem) {
  const std::string path = "/queues/%2F/" + fixtures::unique_name();
  fixtures::rabbitmq_api("PUT", path, R"({"durable":true,"arguments":{"x-queue-type":"stream"}})");
  const Spoken spoken = examine(rabbitmq_url(path.substr(path.rfind('/') + 1)));
  fixtures::rabbitmq_api("DELETE", path);
  EXPECT_NE(spoken.exit_code, 0) << spoken.out;
  EXPECT_TRUE(std::ranges::any_of(rows_of(spoken), [](const auto& row) {
    return row.second.first == "problem" && row.second.second.find("stream") != std::string::npos;
  })) << spoken.out;
}

TEST_F(DoctorSources, PlaceForDeadLettersIsLookedAt) {
  fixtures::RabbitmqQueue queue, dead;
  const std::string source = rabbitmq_url(queue.name());
  const Spoken there = examine(source, dead_letters_to(rabbitmq_url(dead.name())));
  EXPECT_EQ(there.exit_code, 0) << there.out;
  EXPECT_EQ(rows_of(there)["dead_letters"].first, "ok");
  const Spoken missing = examine(source, dead_letters_to(rabbitmq_url("nowhere")));
  EXPECT_EQ(missing.exit_code, 5) << missing.out;
  EXPECT_THAT(rows_of(missing)["dead_letters"].second, testing::HasSubstr("there is no queue"));
  const Spoken back = examine(source, dead_letters_to(source));
  EXPECT_EQ(back.exit_code, 6) << back.out;
  EXPECT_THAT(rows_of(back)["dead_letters"].second, testing::HasSubstr("leads back"));
  EXPECT_EQ(rows_of(examine(source, "dead_letters = true\n"))["dead_letters"].first, "unknown");
}

TEST_F(DoctorSources, ExchangeForDeadLettersIsFineWhereItLeadsToAnotherQueueAlone) {
  fixtures::RabbitmqQueue queue({.expires = false}), dead;
  const std::string exchange = fixtures::unique_name();
  dead.client().declare_exchange(exchange);
  std::string to = rabbitmq_url("x");
  to.replace(to.find("queue=x"), 7, "exchange=" + exchange + "&routing_key=k");
  const auto row = [&](const std::string& more) {
    return rows_of(examine(rabbitmq_url(queue.name()) + more, dead_letters_to(to)))["dead_letters"];
  };
  EXPECT_EQ(row("").first, "unknown") << "AMQP does not tell";
  EXPECT_EQ(row(management()).first, "problem") << "nothing is bound to it";
  dead.client().bind(dead.name(), exchange, "k");
  fixtures::await("the management API knows", [&] { return row(management()).first == "ok"; });
  EXPECT_EQ(row("").first, "unknown");
  queue.client().bind(queue.name(), exchange, "k");
  fixtures::await("the management API knows", [&] {
    const Row seen = row(management());
    return seen.first == "problem" && seen.second.find("leads back") != std::string::npos;
  });
  dead.client().delete_exchange(exchange);
}

TEST_F(DoctorSources, QueueThatMayNotBeReadCannotBeUsed) {
  const fixtures::StrangerToRabbitmq stranger;
  for (const bool quorum : {true, false}) {
    fixtures::RabbitmqQueue queue({.quorum = quorum});
    queue.send({{.body = "{}"}});
    const Spoken spoken = examine(rabbitmq_url(queue.name(), stranger.login()));
    EXPECT_EQ(spoken.exit_code, 5) << spoken.out;
    EXPECT_NE(spoken.out.find("reading is not permitted"), std::string::npos) << spoken.out;
    stranger.permit_reading();
    EXPECT_EQ(examine(rabbitmq_url(queue.name(), stranger.login())).exit_code, 0);
    EXPECT_EQ(queue.depth(), 1u);
    stranger.permit_reading(false);
  }
}

TEST_F(DoctorSources, ManagementApiThatDoesNotAnswerMakesNothingOk) {
  fixtures::RabbitmqQueue queue;
  const std::string nobody = "http://guest:hunter2@127.0.0.1:" + std::to_string(fixtures::free_port());
  const Spoken away = examine(rabbitmq_url(queue.name()) + "&management=" + nobody);
  EXPECT_EQ(away.exit_code, 0) << away.out;
  EXPECT_EQ(rows_of(away)["delivery_limit"].first, "unknown") << away.out;
  std::string wrong = management();
  wrong.replace(wrong.find(":guest@"), 7, ":hunter2@");
  const Spoken refused = examine(rabbitmq_url(queue.name()) + wrong);
  EXPECT_EQ(rows_of(refused)["delivery_limit"].first, "unknown") << refused.out;
  EXPECT_NE(refused.out.find("check the name and the password in management="), std::string::npos) << refused.out;
  EXPECT_EQ((away.out + refused.out).find("hunter2"), std::string::npos);
}

TEST_F(DoctorSources, QueueThatIsToBeDeclaredIsNotMade) {
  const std::string name = fixtures::unique_name();
  const Spoken spoken = examine(rabbitmq_url(name) + "&declare=quorum");
  EXPECT_EQ(spoken.exit_code, 0) << spoken.out;
  EXPECT_EQ(rows_of(spoken)["queue"].first, "unknown");
  EXPECT_EQ(examine(rabbitmq_url(name)).exit_code, 5);
}

TEST_F(DoctorSources, QueueThatKeepsLongerThanDeclaredIsAProblem) {
  fixtures::RabbitmqQueue queue({.expires = false, .message_ttl_ms = 86'400'000});
  const auto with = [&](const std::string& declared) {
    return examine(rabbitmq_url(queue.name()) + management(),
                   "[consumer.retention]\nbroker_retention = \"" + declared + "\"\n");
  };
  const Spoken enough = with("1d");
  EXPECT_EQ(enough.exit_code, 0) << enough.out;
  EXPECT_EQ(rows_of(enough)["retention"].first, "ok") << enough.out;
  EXPECT_EQ(rows_of(enough)["delivery_limit"].first, "ok") << enough.out;
  EXPECT_FALSE(rows_of(enough).contains("expiry")) << enough.out;
  const Spoken short_of = with("23h");
  EXPECT_EQ(short_of.exit_code, 6) << short_of.out;
  EXPECT_EQ(rows_of(short_of)["retention"].first, "problem") << short_of.out;

  fixtures::RabbitmqQueue forgotten;
  const Spoken expiring = examine(rabbitmq_url(forgotten.name()) + management());
  EXPECT_EQ(expiring.exit_code, 6) << expiring.out;
  EXPECT_EQ(rows_of(expiring)["expiry"].first, "problem") << expiring.out;
  EXPECT_EQ(rows_of(expiring)["retention"].first, "unknown") << expiring.out;
}

TEST_F(DoctorSources, RetentionOfATopicIsComparedWithTheDeclared) {
  const fixtures::KafkaTopic topic;  // 7 days, if nobody says otherwise, and as many until a segment is closed
  const auto with = [&](const std::string& declared) {
    return examine(topic.url(),
                   declared.empty() ? "" : "[consumer.retention]\nbroker_retention = \"" + declared + "\"\n");
  };
  const Spoken enough = with("30d");
  EXPECT_EQ(enough.exit_code, 0) << enough.out;
  EXPECT_EQ(rows_of(enough)["topic"].first, "ok");
  EXPECT_EQ(rows_of(enough)["group"].first, "ok") << enough.out;
  EXPECT_EQ(rows_of(enough)["retention"].first, "ok") << enough.out;
  EXPECT_EQ(rows_of(with("14d"))["retention"].first, "ok");
  for (const std::string declared : {"13d", "1d"}) {
    const Spoken short_of = with(declared);
    EXPECT_EQ(short_of.exit_code, 6) << short_of.out;
    EXPECT_EQ(rows_of(short_of)["retention"].first, "problem") << short_of.out;
    EXPECT_NE(short_of.out.find("declared broker_retention of " + declared), std::string::npos) << short_of.out;
    EXPECT_NE(short_of.out.find("for 14d (retention.ms is 7d, and segment.ms 7d"), std::string::npos) << short_of.out;
  }
  const Spoken undeclared = with("");
  EXPECT_EQ(undeclared.exit_code, 0) << undeclared.out;
  EXPECT_EQ(rows_of(undeclared)["retention"].first, "unknown") << undeclared.out;
  EXPECT_TRUE(topic.committed().empty());
}

TEST_F(DoctorSources, MistakeInAUrlIsAProblemWithItsReason) {
  for (const auto& [url, text] : std::vector<std::pair<std::string, std::string>>{
           {"rabbitmq://u:hunter2@h/shop?queue=q&prefetch=0", "push all it has"},
           {"rabbitmq://u:hunter2@h/shop?queue=q&no_ack=true", "after its effect is committed"},
           {"kafka://u:hunter2@h/t?group=g&enable.auto.commit=true", "only after the effect is"}}) {
    const Spoken spoken = examine(url);
    EXPECT_EQ(spoken.exit_code, 6) << spoken.out;
    EXPECT_EQ(rows_of(spoken)["url"].first, "problem") << spoken.out;
    EXPECT_NE(spoken.out.find(text), std::string::npos) << spoken.out;
    EXPECT_EQ(spoken.out.find("hunter2"), std::string::npos) << spoken.out;
  }
}

TEST_F(DoctorSources, EmbeddedQueueIsFine) {
  const Spoken spoken = examine("embedded:" + folder_.path() + "/queue.db", {}, "table");
  EXPECT_EQ(spoken.exit_code, 0) << spoken.err;
  EXPECT_EQ(spoken.out.substr(0, 8), "CONSUMER") << spoken.out;
}

TEST_F(DoctorSources, WhatCannotBeReachedIsSaidInOneRow) {
  fixtures::RabbitmqQueue queue;
  const fixtures::KafkaTopic topic;
  for (const Hopeless& hopeless : hopeless_urls(queue.name(), topic.name())) {
    const bool kafka = hopeless.url.starts_with("kafka");
    const Spoken spoken = examine(hopeless.url + (kafka ? "&group=g" : ""));
    EXPECT_EQ(spoken.exit_code, 5) << hopeless.url << spoken.out << spoken.err;
    const auto rows = rows_of(spoken);
    EXPECT_EQ(rows.size(), 1u) << spoken.out;
    EXPECT_EQ(rows.begin()->second.first, "problem");
    EXPECT_NE(rows.begin()->second.second.find(hopeless.says), std::string::npos) << hopeless.url << spoken.out;
    EXPECT_EQ(spoken.out.find("hunter2"), std::string::npos) << spoken.out;
  }
}

}  // namespace
}  // namespace onceward::cli
