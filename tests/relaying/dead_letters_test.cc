// Dead letters: whatever is parked, for whatever reason, reaches the place of a route, by the real binary and the real brokers.
#include <gmock/gmock.h>

#include "apps/daemon/suite.h"
#include "tests/fixtures/kafka.h"
#include "tests/fixtures/rabbitmq.h"

namespace onceward::daemon {
namespace {

using fixtures::KafkaRecord;
using fixtures::KafkaTopic;
using fixtures::Process;
using fixtures::RabbitmqQueue;
using fixtures::RawMessage;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Pair;

class RunningDeadLetters : public RunningOnStore {
 protected:
  // Its handler cannot apply what has no amount, nor what the table refuses.
  void write_consumer(const std::string& source, const std::string& to, const std::string& more = {}) const {
    std::ofstream(file_) << "[store]\nurl = \"" << store_ << "\"\n[admin]\nlisten = \"127.0.0.1:0\"\n"
                         << "[relay]\nproducer = \"shop\"\npoll = \"50ms\"\nlease = \"1s\"\n"
                         << "retry = { attempts = 100, first_delay = \"50ms\", longest_delay = \"100ms\" }\n"
                         << "[[route]]\nname = \"dead\"\ntypes = [\"onceward.dead_letter.captures\"]\nto = \"" << to
                         << "\"\n"
                         << "[[consumer]]\nname = \"captures\"\nowner = \"payments\"\nsource = \"" << source << "\"\n"
                         << "dead_letters = true\nidentity = { producer = \"till\" }\n"
                         << "retry = { attempts = 2, first_delay = \"50ms\", longest_delay = \"50ms\" }\n"
                         << "sql = [\"INSERT INTO effect (message, note) SELECT message_id, NULLIF(note, 'none') FROM "
                            "messages\"]\n"
                         << "fields = { note = { pointer = \"/note\" } }\n"
                         << more;
    reader_->run("DROP TABLE effect; CREATE TABLE effect (message text NOT NULL, note text NOT NULL)");
  }
  std::int64_t parked() { return reader_->number("SELECT count(*) FROM " + table("quarantine")); }
  std::int64_t waiting() {
    return reader_->number("SELECT count(*) FROM " + table("outbox_pending")) +
           reader_->number("SELECT count(*) FROM " + table("outbox_waiting"));
  }
  static std::string rabbitmq(const std::string& more) {
    const int port = fixtures::rabbitmq_server().hosts.front().port;
    return "rabbitmq://guest:guest@127.0.0.1:" + std::to_string(port) + "/%2F?" + more;
  }
};
INSTANTIATE_TEST_SUITE_P(On, RunningDeadLetters, testing::Values("sqlite", "postgres"),
                         [](const auto& of) { return of.param; });

RawMessage native(const std::string& id, const std::string& body) {
  return {.body = body, .content_type = "application/json", .message_id = id, .app_id = "till", .headers = {{"x", id}}};
}

std::map<std::string, std::string> headers_of(const RawMessage& message) {
  std::map<std::string, std::string> headers;
  for (const auto& [name, value] : message.headers) headers[name] = value;
  return headers;
}

TEST_P(RunningDeadLetters, EveryKindOfParkedMessageIsPublishedWithItsIdsAndItsBytes) {
  RabbitmqQueue queue, dead;
  write_consumer(rabbitmq("queue=" + queue.name()), rabbitmq("format=native&queue=" + dead.name()));
  const auto process = start_and_await_work();
  queue.send({native("good", R"({"note":"1"})")});
  fixtures::await("it is applied", [&] { return reader_->number("SELECT count(*) FROM effect") == 1; });
  queue.send(
      {native("good", R"({"note":"2"})"),
       native("fieldless", "{}"),
       native("exhausted", R"({"note":"none"})"),
       {.body = "no JSON \xff", .content_type = "application/vnd.onceward.envelope+json", .message_id = "unread"}});
  const std::string too_long =
      R"({"messageId":")" + std::string(300, 'x') + R"(","producer":"till","payload":{"note":"1"}})";
  queue.send({{.body = too_long, .content_type = "application/vnd.onceward.envelope+json", .message_id = "too long"}});
  fixtures::await("all have arrived", [&] { return dead.depth() == 5; });
  EXPECT_EQ(parked(), 5);
  EXPECT_EQ(reader_->number("SELECT attempts FROM " + table("quarantine") + " WHERE id = 'exhausted'"), 2);
  std::map<std::string, std::string> bodies, reasons;
  for (int i = 0; i < 5; ++i) {
    const auto copy = dead.client().take(dead.name());
    ASSERT_TRUE(copy);
    const auto headers = headers_of(*copy);
    const std::string id = copy->message_id;
    bodies[id] = copy->body;
    reasons[id] = headers.at("onceward-reason");
    EXPECT_EQ(headers.at("onceward-consumer"), "captures");
    if (headers.contains("x")) EXPECT_EQ(headers.at("x"), id);
  }
  EXPECT_THAT(bodies,
              ElementsAre(Pair("exhausted", R"({"note":"none"})"), Pair("fieldless", "{}"),
                          Pair("good", R"({"note":"2"})"), Pair("too long", too_long), Pair("unread", "no JSON \xff")));
  EXPECT_THAT(reasons, IsSupersetOf({Pair("good", "conflict"), Pair("unread", "invalid_utf8"),
                                     Pair("too long", "id_too_long")}));
  fixtures::await("nothing is left in the outbox", [&] { return waiting() == 0; });
  process->signal(SIGTERM);
  EXPECT_EQ(process->wait(), 0) << process->output();
  EXPECT_EQ(queue.depth(), 0u);
}

// The source is acknowledged meanwhile: nothing comes back, and no delivery limit comes nearer.
TEST_P(RunningDeadLetters, WaitForTheirPlaceWithoutHoldingUpTheSource) {
  RabbitmqQueue queue, dead;
  const std::string exchange = fixtures::unique_name();
  dead.client().declare_exchange(exchange);
  write_consumer(rabbitmq("queue=" + queue.name()), rabbitmq("exchange=" + exchange + "&routing_key=dead"));
  auto process = start_and_await_work();
  queue.send({native("a", "{}"), native("b", R"({"note":"1"})")});
  fixtures::await("no queue takes it", [&] {
    return reader_->number("SELECT count(*) FROM " + table("outbox_waiting") + " WHERE reason = 'refused'") == 1;
  });
  fixtures::await("the other is applied", [&] { return reader_->number("SELECT count(*) FROM effect") == 1; });
  process->signal(SIGKILL);
  process->wait();
  EXPECT_EQ(queue.depth(), 0u);
  dead.client().bind(dead.name(), exchange, "dead");
  process = start_and_await_work();
  fixtures::await("it has arrived", [&] { return dead.depth() == 1; });
  EXPECT_EQ(dead.client().take(dead.name())->message_id, "a");
  dead.client().delete_exchange(exchange);
}

TEST_P(RunningDeadLetters, OfKafkaKeepTheirKeyAndTheirHeaders) {
  KafkaTopic topic, dead;
  const std::string brokers = "kafka://" + fixtures::kafka_brokers() + "/";
  write_consumer(topic.url(), brokers + dead.name() + "?format=native");
  const auto process = start_and_await_work();
  topic.send({{.key = "k", .value = R"({"note":"none"})", .headers = {{"id", "exhausted"}, {"x", "1"}}},
              {.key = "gone", .headers = {{"id", "tombstone"}}},
              {.value = R"({"note":"1"})", .headers = {{"id", "good"}}}});
  fixtures::await("both have arrived", [&] { return dead.read().size() == 2; });
  std::map<std::string, KafkaRecord> copies;
  for (const KafkaRecord& copy : dead.read()) {
    const std::map<std::string, std::string> headers(copy.headers.begin(), copy.headers.end());
    copies[headers.at("id")] = copy;
    EXPECT_EQ(headers.at("onceward-consumer"), "captures");
  }
  EXPECT_EQ(copies["exhausted"].key, "k");
  EXPECT_EQ(copies["exhausted"].value, R"({"note":"none"})");
  EXPECT_THAT(copies["exhausted"].headers, Contains(Pair("x", "1")));
  EXPECT_EQ(copies["tombstone"].key, "gone");
  EXPECT_EQ(copies["tombstone"].value, std::nullopt);
}

TEST_P(RunningDeadLetters, ThatWouldComeBackOrHaveNoRouteAreRefused) {
  const auto refused = [&](const std::string& source, const std::string& to) {
    write_consumer(source, to);
    return run_to_the_end(file_).output;
  };
  EXPECT_THAT(refused(rabbitmq("queue=q"), rabbitmq("queue=q")),
              HasSubstr("the dead letters of captures would come back"));
  EXPECT_THAT(refused("kafka://127.0.0.1:1/t?group=g", "kafka://127.0.0.1:1/t"), HasSubstr("would come back"));
  EXPECT_THAT(refused("embedded:" + queue_path_, "embedded:" + queue_path_), HasSubstr("would come back"));
  write_consumer(rabbitmq("queue=q"), rabbitmq("queue=p"));
  std::string text = (std::ostringstream() << std::ifstream(file_).rdbuf()).str();
  text.replace(text.find("onceward.dead_letter.captures"), 29, "paid");
  std::ofstream(file_) << text;
  EXPECT_THAT(run_to_the_end(file_).output,
              AllOf(HasSubstr("dead_letters: no route takes them"), HasSubstr("onceward.dead_letter.captures")));
}

}  // namespace
}  // namespace onceward::daemon
