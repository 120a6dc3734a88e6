// The practice drill PaymentCaptureRequested, item by item, with the real binary: messages from RabbitMQ into PostgreSQL, a worker
// of its own that calls a gateway, and the gateway's own log.
#include <gmock/gmock.h>

#include "apps/daemon/suite.h"
#include "onceward/adapter/postgres.h"
#include "tests/fixtures/http_server.h"
#include "tests/fixtures/postgres_database.h"
#include "tests/fixtures/rabbitmq.h"

namespace onceward::daemon {
namespace {

using fixtures::Process;
using fixtures::RawMessage;
using testing::UnorderedElementsAre;

constexpr const char* drill_queue = "payment.capture.requested.q";

class PaymentDrill : public Running {
 protected:
  void SetUp() override {
    fixtures::shared_database().empty();
    open_postgres({.url = store_})->migrate();
    reader_ = fixtures::read_postgres(store_);
    reader_->run("CREATE TABLE capture (message text NOT NULL, request text NOT NULL, amount bigint NOT NULL)");
    client_.declare_queue(drill_queue);
    declare_consumer();
  }
  void TearDown() override { client_.delete_queue(drill_queue); }

  // It declares no endpoint, so that whoever consumes makes no call.
  void declare_consumer() {
    const int port = fixtures::rabbitmq_server().hosts.front().port;
    std::ofstream(file_) << "[store]\nurl = \"" << store_ << "\"\n[admin]\nlisten = \"127.0.0.1:0\"\n"
                         << "[[consumer]]\nname = \"payment-capture\"\nowner = \"payments\"\n"
                         << "source = \"rabbitmq://guest:guest@127.0.0.1:" << port << "/%2F?queue=" << drill_queue
                         << "\"\n"
                         << R"(
sql = ["INSERT INTO capture (message, request, amount) SELECT message_id, request, amount FROM messages"]
[consumer.versions]
schema = { lowest = 1, highest = 1, required = true }
[consumer.fields]
request = { pointer = "/captureRequestId" }
correlation = { pointer = "/correlationId" }
amount = { pointer = "/amount", type = "int64" }
[[consumer.call]]
endpoint = "gateway"
key = "{request}"
body = { captureRequestId = "{request}", amount = "{amount}" }
)";
  }
  // The separate worker: calls a path of the gateway, which says how it behaves.
  std::unique_ptr<Process> start_caller(const std::string& path) const {
    const std::string file = folder_.path() + "/caller.toml";
    std::ofstream(file) << "[store]\nurl = \"" << store_ << "\"\n[admin]\nlisten = \"127.0.0.1:0\"\n"
                        << "[[endpoint]]\nname = \"gateway\"\nurl = \"" << gateway_.url(path)
                        << "\"\nreference = \"/id\"\npoll = \"50ms\"\nretry = { attempts = 2, first_delay = \"50ms\", "
                           "longest_delay = \"100ms\" }\n";
    return std::make_unique<Process>(std::vector<std::string>{ONCEWARD_BINARY, "dispatch", file});
  }

  static nlohmann::json envelope(const std::string& id, const std::string& request, int amount = 100) {
    return {{"messageId", id},
            {"producer", "shop"},
            {"schemaVersion", 1},
            {"payload", {{"captureRequestId", request}, {"correlationId", "journey"}, {"amount", amount}}}};
  }
  void send(const nlohmann::json& envelope, int times = 1) {
    const RawMessage message{.body = envelope.dump(), .content_type = "application/vnd.onceward.envelope+json"};
    client_.send(drill_queue, std::vector<RawMessage>(static_cast<std::size_t>(times), message));
  }

  std::int64_t count(const std::string& table, const std::string& where = "true") {
    return reader_->number("SELECT count(*) FROM " + table + " WHERE " + where);
  }
  std::int64_t captures() { return count("capture"); }
  std::int64_t intents() { return count("onceward.ledger"); }
  void await_captures(std::int64_t number) {
    fixtures::await("they are applied", [&] { return captures() == number; });
  }
  void await_calls(const std::string& state, std::int64_t number) {
    fixtures::await("calls are " + state,
                    [&] { return count("onceward.ledger", "state = '" + state + "'") == number; });
  }
  static double metric(const Process& process, const std::string& name) {
    const auto samples = samples_in(get(port_of(process), "/metrics").body);
    const auto found = samples.find(name);
    return found == samples.end() ? 0 : found->second;
  }
  static std::string deliveries(const std::string& verdict) {
    return "onceward_consumer_deliveries_total{consumer=\"payment-capture\",verdict=\"" + verdict + "\"}";
  }
  void await_deliveries(const Process& process, const std::string& verdict, double number) {
    fixtures::await("they came", [&] { return metric(process, deliveries(verdict)) == number; });
  }
  // What is left at the broker when nobody holds anything any longer.
  std::uint32_t left_after(Process& process) {
    process.signal(SIGTERM);
    EXPECT_EQ(process.wait(), 0) << process.output();
    return client_.depth(drill_queue);
  }

  const std::string store_ = fixtures::shared_database().url();
  std::unique_ptr<fixtures::Reader> reader_;
  fixtures::RabbitmqClient client_;
  fixtures::HttpServer gateway_;
};

TEST_F(PaymentDrill, PD1MessagesAreAcknowledgedByHandAndOnlyWhenTheyAreDone) {
  reader_->run("BEGIN; LOCK TABLE capture");
  const auto process = start_and_await_work();
  send(envelope("m1", "r1"));
  const auto other = fixtures::read_postgres(store_);
  fixtures::await("it has begun", [&] { return fixtures::waiting_for_locks(*other) > 0; });
  EXPECT_EQ(client_.depth(drill_queue), 0u);
  process->signal(SIGKILL);
  fixtures::await("it comes back", [&] { return client_.depth(drill_queue) == 1; });
  reader_->run("ROLLBACK");
  const auto next = start_and_await_work();
  fixtures::await("it is done", [&] {  // by this one, or by the killed one whose COMMIT was under way
    return metric(*next, deliveries("first")) + metric(*next, deliveries("duplicate")) == 1;
  });
  EXPECT_EQ(captures(), 1);
  EXPECT_EQ(left_after(*next), 0u);
}

TEST_F(PaymentDrill, PD2EnvelopesAreValidated) {
  const auto process = start_and_await_work();
  auto without_id = envelope("", "r1"), without_version = envelope("m2", "r2"),
       without_correlation = envelope("m3", "r3"), without_request = envelope("m4", "r4");
  without_id.erase("messageId");
  without_version.erase("schemaVersion");
  without_correlation["payload"].erase("correlationId");
  without_request["payload"].erase("captureRequestId");
  for (const auto& wrong : {without_id, without_version, without_correlation, without_request}) send(wrong);
  send(envelope("m5", "r5"));
  fixtures::await("four are parked", [&] { return count("onceward.quarantine") == 4; });
  await_captures(1);
  std::vector<std::string> reasons;
  for (const auto& row : reader_->read("SELECT reason FROM onceward.quarantine")) reasons.push_back(row[0].value());
  EXPECT_THAT(reasons, UnorderedElementsAre("missing_message_id", "unsupported_schema_version", "missing_field",
                                            "missing_field"));
  EXPECT_EQ(intents(), 1);
}

TEST_F(PaymentDrill, PD3MessageIsInTheInboxOnce) {
  const auto process = start_and_await_work();
  send(envelope("m1", "r1"), 3);
  await_deliveries(*process, "duplicate", 2);
  EXPECT_EQ(count("onceward.inbox"), 1);
  EXPECT_EQ(captures(), 1);
  EXPECT_THROW(reader_->run("INSERT INTO onceward.inbox SELECT * FROM onceward.inbox"), std::runtime_error);
}

TEST_F(PaymentDrill, PD4CaptureRequestIsInTheLedgerOnce) {
  const auto process = start_and_await_work();
  send(envelope("m1", "r1"));
  send(envelope("m2", "r1"));  // another message that asks for the same
  await_captures(2);
  EXPECT_EQ(intents(), 1);
  EXPECT_EQ(reader_->value("SELECT idempotency_key FROM onceward.ledger"), "r1");
  EXPECT_THROW(reader_->run("INSERT INTO onceward.ledger SELECT * FROM onceward.ledger"), std::runtime_error);
}

TEST_F(PaymentDrill, PD5InboxAndLedgerAreCommittedTogetherBeforeTheAcknowledgement) {
  reader_->run("BEGIN; LOCK TABLE onceward.ledger");
  const auto process = start_and_await_work();
  send(envelope("m1", "r1"));
  const auto other = fixtures::read_postgres(store_);
  fixtures::await("it waits for the ledger", [&] { return fixtures::waiting_for_locks(*other) > 0; });
  EXPECT_EQ(other->number("SELECT count(*) FROM onceward.inbox"), 0);
  EXPECT_EQ(metric(*process, "onceward_consumer_settled_total{consumer=\"payment-capture\",how=\"accept\"}"), 0);
  reader_->run("COMMIT");
  await_captures(1);
  EXPECT_EQ(reader_->number("SELECT count(*) FROM onceward.inbox i JOIN onceward.ledger l ON i.xmin = l.xmin"), 1);
  EXPECT_EQ(left_after(*process), 0u);
}

TEST_F(PaymentDrill, PD6AnotherProcessCallsWithTheCaptureRequestAsKey) {
  const auto process = start_and_await_work();
  send(envelope("m1", "r1"));
  await_captures(1);
  EXPECT_EQ(left_after(*process), 0u);
  EXPECT_TRUE(gateway_.requests().empty());
  const auto caller = start_caller("/ok");
  await_calls("succeeded", 1);
  const auto requests = gateway_.requests();
  ASSERT_EQ(requests.size(), 1u);
  EXPECT_EQ(requests[0].key, "r1");
  EXPECT_EQ(nlohmann::json::parse(requests[0].body), (nlohmann::json{{"captureRequestId", "r1"}, {"amount", 100}}));
}

TEST_F(PaymentDrill, PD7DuplicatesCallOnce) {
  const auto process = start_and_await_work();
  const auto caller = start_caller("/ok");
  send(envelope("m1", "r1"), 4);
  await_calls("succeeded", 1);
  send(envelope("m1", "r1"), 4);
  await_deliveries(*process, "duplicate", 7);
  send(envelope("m2", "r2"));
  await_calls("succeeded", 2);
  EXPECT_EQ(gateway_.requests().size(), 2u);
}

TEST_F(PaymentDrill, PD8SameIdWithOtherContentIsParkedAndNotApplied) {
  const auto process = start_and_await_work();
  send(envelope("m1", "r1"));
  await_captures(1);
  send(envelope("m1", "r1", 999));
  fixtures::await("it is parked", [&] { return count("onceward.quarantine") == 1; });
  EXPECT_EQ(reader_->value("SELECT reason FROM onceward.quarantine"), "conflict");
  EXPECT_EQ(reader_->value("SELECT amount FROM capture"), "100");
  EXPECT_EQ(left_after(*process), 0u);
}

TEST_F(PaymentDrill, PD9WhatHappenedIsCounted) {
  const auto process = start_and_await_work();
  send(envelope("m1", "r1"), 3);
  await_deliveries(*process, "duplicate", 2);
  send(envelope("m2", "r1"));
  await_deliveries(*process, "first", 2);
  send(envelope("m1", "r1", 999));
  await_deliveries(*process, "conflict", 1);
  EXPECT_EQ(metric(*process, "onceward_ledger_duplicates_total{target=\"gateway\"}"), 1);
  EXPECT_EQ(metric(*process, "onceward_consumer_duplicate_conflicts_total{consumer=\"payment-capture\"}"), 1);
}

TEST_F(PaymentDrill, PD10KillsAndConcurrentConsumersApplyEachOnce) {
  constexpr int requests = 200;
  std::vector<std::unique_ptr<Process>> consumers;
  for (int i = 0; i < 3; ++i) consumers.push_back(start_and_await_work());
  for (int i = 0; i < requests; ++i) {
    send(envelope("m" + std::to_string(i), "r" + std::to_string(i)), 2);
    if (i % 60 != 59) continue;
    fixtures::await("some are applied", [&] { return captures() > i - 30; });
    consumers.front()->signal(SIGKILL);
    consumers.erase(consumers.begin());
    consumers.push_back(start_and_await_work());
  }
  await_captures(requests);
  for (const auto& consumer : consumers) {
    consumer->signal(SIGTERM);
    EXPECT_EQ(consumer->wait(), 0) << consumer->output();
  }
  const auto last = start_and_await_work();  // takes what the killed ones held
  fixtures::await("nothing is left", [&] { return client_.depth(drill_queue) == 0; });
  EXPECT_EQ(left_after(*last), 0u);
  EXPECT_EQ(captures(), requests);
  EXPECT_EQ(count("onceward.inbox"), requests);
  EXPECT_EQ(intents(), requests);
}

TEST_F(PaymentDrill, PS1DuplicatesAreAcknowledged) {
  const auto process = start_and_await_work();
  send(envelope("m1", "r1"), 20);
  await_deliveries(*process, "duplicate", 19);
  EXPECT_EQ(left_after(*process), 0u);
  EXPECT_EQ(captures(), 1);
  EXPECT_EQ(count("onceward.quarantine"), 0);
}

TEST_F(PaymentDrill, PS2RequestIsCapturedAtMostOnceThoughTheGatewayFailsAndTheCallerIsKilled) {
  const auto process = start_and_await_work();
  send(envelope("m1", "r1"));
  send(envelope("m2", "r2"));
  auto caller = start_caller("/reset");  // has seen it, and says nothing
  await_calls("unknown", 2);
  caller->signal(SIGKILL);
  caller->wait();
  caller = start_caller("/ok");
  send(envelope("m3", "r3"));
  await_calls("succeeded", 1);
  for (const char* request : {"r1", "r2", "r3"}) EXPECT_EQ(gateway_.seen(request), 1u) << request;
}

TEST_F(PaymentDrill, PS3FailuresAreClassified) {
  const auto process = start_and_await_work();
  const auto one_at = [&](const std::string& path, const std::string& state, const std::string& id) {
    const auto caller = start_caller(path);
    send(envelope("m" + id, "r" + id));
    fixtures::await("the call is " + state, [&] {
      return count("onceward.ledger", "idempotency_key = 'r" + id + "' AND state = '" + state + "'") == 1;
    });
  };
  one_at("/status/422", "failed", "1");   // a definite no
  one_at("/status/500", "unknown", "2");  // after the work, perhaps
  one_at("/silent", "attempting", "3");   // under way, as long as nobody knows better
  one_at("/ok", "succeeded", "4");
  EXPECT_EQ(gateway_.seen("r1"), 1u);
  EXPECT_EQ(gateway_.seen("r2"), 1u);
}

TEST_F(PaymentDrill, PS4ReplayRebuildsWithoutCapturing) {
  constexpr int requests = 5;
  const auto send_all = [&] {
    for (int i = 0; i < requests; ++i) send(envelope("m" + std::to_string(i), "r" + std::to_string(i)));
  };
  const auto caller = start_caller("/ok");
  auto process = start_and_await_work();
  send_all();
  await_calls("succeeded", requests);
  EXPECT_EQ(left_after(*process), 0u);
  reader_->run("TRUNCATE capture, onceward.inbox, onceward.inbox_outcome");  // a restore without them
  process = start_and_await_work();
  send_all();
  await_captures(requests);
  EXPECT_EQ(metric(*process, "onceward_ledger_duplicates_total{target=\"gateway\"}"), requests);
  send(envelope("after", "after"));
  await_calls("succeeded", requests + 1);
  EXPECT_EQ(gateway_.requests().size(), requests + 1u);
}

}  // namespace
}  // namespace onceward::daemon
