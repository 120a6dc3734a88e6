// The front door of the running daemon: requests through a real socket, the consumer behind it, and kill -9 in between.
#include "apps/daemon/ingress_post.h"

#include <atomic>

#include "apps/daemon/suite.h"
#include "tests/faults/proxy.h"
#include "tests/fixtures/chance.h"

namespace onceward::daemon {
namespace {

using fixtures::Process;
using testing::HasSubstr;
using testing::Not;

INSTANTIATE_TEST_SUITE_P(Store, RunningIngress, testing::Values("sqlite", "postgres"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(RunningIngress, GivesACommandToItsConsumerOnceHoweverOftenItIsRepeated) {
  const auto process = open_door();
  const Posted posted{.more = "Onceward-Type: capture.requested\r\n"};
  const HttpAnswer first = post(posted);
  EXPECT_EQ(first.status, 202) << first.body;
  EXPECT_THAT(first.headers, Not(HasSubstr("Idempotency-Replayed")));
  const std::string id = nlohmann::json::parse(first.body).at("messageId");
  for (int i = 0; i < 5; ++i) {
    Posted repeat = posted;
    repeat.more += "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b716920333" + std::to_string(i) + "-01\r\n";
    const HttpAnswer again = post(repeat);
    EXPECT_EQ(again.status, 202);
    EXPECT_EQ(again.body, first.body);
    EXPECT_THAT(again.headers, HasSubstr("Idempotency-Replayed: true"));
  }
  fixtures::await("it is applied", [&] { return effects() >= 1 && depth() == QueueDepth{0, 0}; });
  EXPECT_EQ(reader_->read("SELECT message, note FROM effect"),
            (std::vector<std::vector<std::optional<std::string>>>{{id, "capture.requested"}}));
  EXPECT_EQ(answered("accepted"), 1);
  EXPECT_EQ(answered("repeated"), 5);
  EXPECT_EQ(post({.key = "k2", .body = "\x01\xff not JSON", .content_type = "application/octet-stream"}).status, 202);
  fixtures::await("bytes are applied too", [&] { return effects() == 2; });
}

TEST_P(RunningIngress, RefusesWithProblems) {
  const auto process = open_door();
  EXPECT_EQ(post().status, 202);
  const auto expect = [&](const Posted& posted, int status, const std::string& code) {
    const HttpAnswer answer = post(posted);
    EXPECT_EQ(answer.status, status) << answer.body;
    EXPECT_EQ(code_in(answer), code);
    return answer.headers;
  };
  expect({.key = ""}, 400, "key_missing");
  expect({.key = std::string(256, 'k')}, 400, "key_malformed");
  expect({.key = "\xff"}, 400, "key_malformed");
  expect({.body = R"({"amount":2})"}, 422, "key_reused");
  expect({.more = "Onceward-Type: other\r\n"}, 422, "key_reused");
  expect({.key = "k2", .body = R"({"amount":)"}, 400, "body_malformed");
  expect({.key = "k2", .body = ""}, 400, "body_malformed");
  expect({.key = "k2", .more = "Onceward-Type: \xff\r\n"}, 400, "command_refused");
  expect({.key = "k2", .more = "Onceward-Occurred-At: yesterday\r\n"}, 400, "command_refused");
  expect({.key = "k2", .content_type = ""}, 415, "content_type_missing");
  expect({.key = "k2", .more = "Content-Encoding: gzip\r\n"}, 415, "content_encoding_refused");
  expect({.key = "k2", .body = std::string(1001, '1')}, 413, "body_too_large");
  expect({.key = "k2", .path = "/ingress/nobody"}, 404, "consumer_unknown");
  expect({.key = "k2", .more = "Origin: https://example.org\r\n"}, 403, "origin_refused");
  EXPECT_THAT(expect({.key = "k2", .method = "PUT"}, 405, "method_refused"), HasSubstr("Allow: POST"));
  EXPECT_EQ(post({.path = "/livez"}).status, 405);
  EXPECT_EQ(answered("refused"), 11);
  EXPECT_EQ(answered("mismatched"), 2);
  EXPECT_THAT(get(port_, "/metrics").body,
              HasSubstr("onceward_idempotency_conflicts_total{consumer=\"captures\",what=\"request\"} 2"));
  EXPECT_EQ(reader_->number("SELECT count(*) FROM " + table("ingress")), 1);
}

// Its size is not known before it is read, and no more of it is read than is allowed.
TEST_P(RunningIngress, StopsReadingABodyThatIsTooLarge) {
  const auto process = open_door();
  std::string chunked =
      "POST /ingress/captures HTTP/1.1\r\nHost: x\r\nIdempotency-Key: k\r\nContent-Type: text/plain\r\n"
      "Transfer-Encoding: chunked\r\n\r\n";
  for (int i = 0; i < 3; ++i) chunked += "1f4\r\n" + std::string(500, 'x') + "\r\n";  // and there is no end
  const HttpAnswer answer = http_exchange(port_, chunked);
  EXPECT_EQ(answer.status, 413);
  EXPECT_EQ(code_in(answer), "body_too_large");
  EXPECT_THAT(answer.headers, HasSubstr("Connection: close"));
  // One who sends all of it before listening is heard out, or the answer would be lost with the connection.
  EXPECT_EQ(post({.body = std::string(4u << 20, '1')}).status, 413);
}

TEST_P(RunningIngress, TellsOneWhoWaitsForItToGoAhead) {
  const auto process = open_door();
  EXPECT_EQ(post({.more = "Expect: 100-continue\r\n"}).status, 100);  // and what was asked for after it
  fixtures::await("it is applied", [&] { return effects() == 1; });
  EXPECT_EQ(post({.key = "k2", .content_type = "", .more = "Expect: 100-continue\r\n"}).status, 415);
}

TEST_P(RunningIngress, TakesTheTokenOfTheEnvironment) {
  ::setenv("ONCEWARD_TEST_TOKEN", "hunter2", 1);
  write(store_, effect, std::string(ingress) + "token = \"${ONCEWARD_TEST_TOKEN}\"\n");
  const auto process = open_door();
  ::unsetenv("ONCEWARD_TEST_TOKEN");
  EXPECT_EQ(post({.more = "Authorization: Bearer hunter2\r\n"}).status, 202);
  EXPECT_EQ(post({.key = "k2", .more = "authorization: bearer hunter2\r\nOrigin: https://example.org\r\n"}).status,
            202);
  for (const char* wrong :
       {"Bearer hunter3", "Bearer hunter", "Bearer hunter22", "Basic aHVudGVyMg==", "hunter2", "Bearer", ""}) {
    const std::string header = std::string("Authorization: ") + wrong + "\r\n";
    const HttpAnswer answer = post({.key = "k3", .more = *wrong ? header : ""});
    EXPECT_EQ(answer.status, 401) << wrong;
    EXPECT_EQ(code_in(answer), "token_missing");
    EXPECT_THAT(answer.headers, HasSubstr("WWW-Authenticate: Bearer"));
  }
  fixtures::await("they are applied", [&] { return effects() == 2; });
  EXPECT_THAT(process->output(), Not(HasSubstr("hunter")));
}

TEST_P(RunningIngress, WhateverIsKilledTheCommandIsAppliedOnce) {
  fixtures::Chance chance;
  constexpr int commands = 40;
  auto process = open_door();
  int kills = 0;
  for (int number = 0; number < commands; ++number) {
    std::atomic<bool> accepted = false;
    std::jthread client([&, port = &port_](std::stop_token stop) {
      while (!accepted && !stop.stop_requested()) {
        try {
          const HttpAnswer answer = http_exchange(*port, Posted{.key = "k" + std::to_string(number)}.text());
          if (answer.status == 202) accepted = true;
        } catch (const std::exception&) {  // it was killed before it answered
        }
        std::this_thread::yield();
      }
    });
    if (chance.between(0, 3) == 0) {
      std::this_thread::sleep_for(std::chrono::microseconds(chance.between(0, 8'000)));
      process->signal(SIGKILL);
      EXPECT_EQ(process->wait(), 128 + SIGKILL);
      client.request_stop();
      client.join();
      ++kills;
      let_leases_pass();
      let_visibility_pass();
      process = open_door();
      while (!accepted) accepted = post({.key = "k" + std::to_string(number)}).status == 202;
    }
    fixtures::await("it is accepted", [&] { return accepted.load(); });
  }
  EXPECT_GT(kills, 0);
  let_visibility_pass();
  fixtures::await("all are applied", [&] { return depth() == QueueDepth{0, 0} && effects() >= commands; });
  EXPECT_EQ(effects(), commands);
  EXPECT_EQ(reader_->number("SELECT count(*) FROM " + table("quarantine")), 0);
}

// --- what only a server can be made to do

class RunningIngressOnPostgres : public RunningIngress {};
INSTANTIATE_TEST_SUITE_P(Store, RunningIngressOnPostgres, testing::Values("postgres"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(RunningIngressOnPostgres, KilledBetweenTheQueueAndTheStoreIsMendedByTheNextTry) {
  reader_->run(
      "CREATE FUNCTION held() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_advisory_xact_lock(7); "
      "RETURN NEW; END'");
  reader_->run("CREATE TRIGGER held BEFORE UPDATE OF status ON onceward.ingress FOR EACH ROW EXECUTE FUNCTION held()");
  const auto holder = fixtures::read_postgres(store_);
  holder->run("SELECT pg_advisory_lock(7)");
  {
    const auto process = open_door();
    std::jthread client([port = port_] { EXPECT_THROW(http_exchange(port, Posted{}.text()), std::exception); });
    fixtures::await("its message is applied, and the answer is not kept",
                    [&] { return effects() == 1 && fixtures::waiting_for_locks(*reader_) == 1; });
    process->signal(SIGKILL);
    process->wait();
  }
  holder->run("SELECT pg_advisory_unlock(7)");
  fixtures::await("the server has noticed", [&] {
    return reader_->number(
               "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state <> 'idle' AND "
               "pid <> pg_backend_pid()") == 0;
  });
  EXPECT_EQ(reader_->number("SELECT count(*) FROM onceward.ingress WHERE status = 0"), 1);
  const auto next = open_door();
  const HttpAnswer early = post();
  EXPECT_EQ(early.status, 409);
  EXPECT_THAT(early.headers, HasSubstr("Retry-After: "));
  EXPECT_EQ(post({.body = "2"}).status, 422);
  let_leases_pass();
  EXPECT_EQ(post().status, 202);
  fixtures::await("the second is received", [&] {
    return get(port_, "/metrics")
               .body.find("onceward_consumer_deliveries_total{consumer=\"captures\",verdict=\"duplicate\"} 1") !=
           std::string::npos;
  });
  EXPECT_EQ(effects(), 1);
}

TEST_P(RunningIngressOnPostgres, SlowStoreKeepsNobodyWaitingWhoWatchesAndTooManyAreToldSo) {
  const auto process = open_door();
  const auto holder = fixtures::read_postgres(store_);
  holder->run("BEGIN");
  holder->run("LOCK TABLE onceward.ingress IN ACCESS EXCLUSIVE MODE");
  std::atomic<int> accepted = 0, busy = 0, other = 0;
  {
    std::vector<std::jthread> clients;
    for (int i = 0; i < 30; ++i) {
      clients.emplace_back([&, i] {
        const HttpAnswer answer = post({.key = "k" + std::to_string(i)});
        ++(answer.status == 202 ? accepted : answer.status == 503 ? busy : other);
      });
    }
    fixtures::await("some are turned away", [&] { return busy == 13; });
    for (int i = 0; i < 5; ++i) EXPECT_EQ(get(port_, "/livez").status, 200);
    EXPECT_EQ(get(port_, "/readyz").status, 200);
    EXPECT_EQ(accepted, 0);
    holder->run("COMMIT");
  }
  EXPECT_EQ(accepted, 17);
  EXPECT_EQ(other, 0);
  fixtures::await("those are applied", [&] { return effects() == 17; });
}

TEST_P(RunningIngressOnPostgres, OutageIsAnsweredWithLater) {
  faults::Proxy proxy(faults::port_of(store_));
  write(proxy.instead_of(store_), effect, ingress);
  const auto process = open_door();
  EXPECT_EQ(post().status, 202);
  proxy.refuse(true);
  proxy.cut_all();
  const HttpAnswer away = post({.key = "k2"});
  EXPECT_EQ(away.status, 503);
  EXPECT_EQ(code_in(away), "store_unavailable");
  EXPECT_THAT(away.headers, HasSubstr("Retry-After: "));
  EXPECT_EQ(get(port_, "/livez").status, 200);
  proxy.refuse(false);
  fixtures::await("it is back", [&] { return post({.key = "k2"}).status == 202; });
  fixtures::await("both are applied", [&] { return effects() == 2; });
  EXPECT_TRUE(logged(*process, "requests are answered with 503: the store or a queue is away"));
  EXPECT_TRUE(logged(*process, "requests are carried out again"));
}

// --- who may come in, as the server's thread asks it

class IngressCallers : public testing::Test {
 protected:
  IngressCallers() {
    application_.store = "sqlite:nowhere.db";
    application_.admin.host = "0.0.0.0";
    application_.ingress.consumers = {"captures"};
    application_.consumers.resize(1);
    application_.consumers[0].name = "captures";
    application_.consumers[0].source = "embedded:nowhere.queue";
  }
  int asked(bool local, const std::string& authorization = {}) {
    IngressPost post(application_, silent_log());
    Request request{"POST", "/ingress/captures", {{"content-type", "text/plain"}}, local};
    if (!authorization.empty()) request.headers["authorization"] = authorization;
    const auto refusal = post.refuse(request);
    return refusal ? static_cast<int>(refusal->status) : 0;
  }
  Application application_;
};

TEST_F(IngressCallers, OfAnotherMachineNeedAToken) {
  EXPECT_EQ(asked(true), 0);
  EXPECT_EQ(asked(true, "Bearer of something that nobody asked for"), 0);
  EXPECT_EQ(asked(false), 401);
  EXPECT_EQ(asked(false, "Bearer "), 401);
}

// Whoever comes through a proxy of this machine looks local.
TEST_F(IngressCallers, NeedTheTokenWhereverTheyAreOnceThereIsOne) {
  application_.ingress.token = "hunter2";
  EXPECT_EQ(asked(true), 401);
  EXPECT_EQ(asked(true, "Bearer hunter3"), 401);
  EXPECT_EQ(asked(true, "Bearer hunter2"), 0);
  EXPECT_EQ(asked(false), 401);
  EXPECT_EQ(asked(false, "Bearer hunter2"), 0);
  EXPECT_EQ(asked(false, "Bearer hunter3"), 401);
}

TEST_F(IngressCallers, FindOnlyWhatCanBeServed) {
  EXPECT_NO_THROW(IngressPost(application_, silent_log()));
  const auto refused = [](Application application, auto change) {
    change(application);
    EXPECT_THROW(IngressPost(application, silent_log()), std::invalid_argument);
  };
  refused(application_, [](Application& a) { a.admin.host.clear(); });
  refused(application_, [](Application& a) { a.ingress.consumers = {"nobody"}; });
  refused(application_, [](Application& a) { a.consumers[0].source = "rabbitmq://localhost/?queue=q"; });
  refused(application_, [](Application& a) { a.consumers[0].identity.scheme = KeyScheme::uuidv7; });
  refused(application_, [](Application& a) { a.ingress.token = "${ONCEWARD_TEST_NOT_SET}"; });
  ::setenv("ONCEWARD_TEST_TOKEN", "", 1);
  refused(application_, [](Application& a) { a.ingress.token = "${ONCEWARD_TEST_TOKEN}"; });
  ::unsetenv("ONCEWARD_TEST_TOKEN");
}

}  // namespace
}  // namespace onceward::daemon
