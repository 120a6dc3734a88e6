// `onceward run` with real brokers that are away, say no, and come back.
#include <gmock/gmock.h>

#include <algorithm>

#include "apps/daemon/ports.h"
#include "apps/daemon/suite.h"
#include "onceward/adapter/sqlite.h"
#include "tests/faults/proxy.h"
#include "tests/fixtures/broker_urls.h"

namespace onceward::daemon {
namespace {

using fixtures::Process;
using fixtures::Ran;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class RunningOnBrokers : public Running {
 protected:
  RunningOnBrokers() {
    open_sqlite({.path = path_})->migrate();
    fixtures::read_sqlite(path_)->run("CREATE TABLE effect (message text NOT NULL)");
  }
  static std::string rabbitmq(int port, const std::string& queue, const std::string& login = "guest:guest") {
    return "rabbitmq://" + login + "@127.0.0.1:" + std::to_string(port) + "/%2F?connection_timeout=60s&queue=" + queue;
  }
  static int rabbitmq_port() { return fixtures::rabbitmq_server().hosts.front().port; }
  static fixtures::KafkaRecord cloud_event(const std::string& id) {
    return {
        .key = "k",
        .value = "{}",
        .headers = {{"id", id}, {"ce_source", "shop"}, {"ce_id", id}, {"ce_specversion", "1.0"}, {"ce_type", "paid"}}};
  }
  std::int64_t effects() { return fixtures::read_sqlite(path_)->number("SELECT count(*) FROM effect"); }

  static std::string trouble(const Process& process) {
    const HttpAnswer answer = get(port_of(process), "/readyz");
    if (answer.status == 200) return "ready";
    return nlohmann::json::parse(answer.body).at("trouble").at("captures").get<std::string>();
  }
  static void await_trouble(const Process& process, const std::string& part) {
    fixtures::await("not ready: " + part, [&] { return trouble(process).find(part) != std::string::npos; });
  }
  static int times_logged(const Process& process, const std::string& message) {
    int times = 0;
    for (const auto& line : log_of(process)) times += line.at("message") == message ? 1 : 0;
    return times;
  }
  static void await_tries(const faults::Proxy& proxy, int tries) {
    const auto so_far = [&] { return proxy.accepted() + proxy.turned_away(); };
    const int before = so_far();
    fixtures::await("it has tried again", [&] { return so_far() >= before + tries; });
  }
  // By all workers together; each try that does not warn is for those who debug.
  static void await_tries(const Process& process, int tries) {
    fixtures::await("it has tried again", [&] { return times_logged(process, "cannot begin yet") >= tries; });
  }
  // However often it was tried and by however many workers.
  static void expect_one_warning(const Process& process, const std::string& part) {
    int of_this = 0;
    for (const auto& line : log_of(process)) {
      const std::string level = line.at("level");
      if (level != "warn" && level != "error") continue;
      const bool says_it = std::any_of(line.begin(), line.end(), [&](const nlohmann::json& field) {
        return field.is_string() && field.get<std::string>().find(part) != std::string::npos;
      });
      of_this += says_it ? 1 : 0;
    }
    EXPECT_EQ(of_this, 1) << process.output();
  }
  // One that nothing is wrong with but what is to be said.
  static std::string source_of(const fixtures::Hopeless& hopeless) {
    if (hopeless.url.starts_with("kafka")) return hopeless.url + "&group=g";
    const bool patient = hopeless.url.find("connection_timeout=") != std::string::npos;
    return hopeless.url + (patient ? "" : "&connection_timeout=60s");
  }

  const std::string path_ = sqlite_.substr(7);
};

TEST_F(RunningOnBrokers, RabbitmqThatIsAwayAtTheStartIsWaitedFor) {
  fixtures::RabbitmqQueue queue;
  faults::Proxy proxy(rabbitmq_port());
  proxy.refuse(true);
  write_with_source(rabbitmq(proxy.port(), queue.name()), sqlite_);
  const auto process = start();
  await_trouble(*process, "rabbitmq at 127.0.0.1:");
  EXPECT_EQ(get(port_of(*process), "/livez").status, 200);
  await_tries(proxy, 6);
  expect_one_warning(*process, "rabbitmq at 127.0.0.1:");
  proxy.refuse(false);
  fixtures::await("it is ready", [&] { return trouble(*process) == "ready"; });
  queue.send({{.body = "{}", .message_id = "1", .app_id = "shop"}});
  fixtures::await("it is processed", [&] { return effects() == 1; });
  process->signal(SIGTERM);
  EXPECT_EQ(process->wait(), 0) << process->output();
  EXPECT_EQ(queue.depth(), 0u);
}

// A try is two connections at most: the second asks for TLS. So one of two workers has tried five times, with pauses that
// double from 100 ms between them.
TEST_F(RunningOnBrokers, WhoCannotBeginTriesEverMoreSeldom) {
  faults::Proxy proxy(rabbitmq_port());
  proxy.refuse(true);
  write_with_source(rabbitmq(proxy.port(), "q"), sqlite_);
  const auto began = std::chrono::steady_clock::now();
  const auto process = start();
  fixtures::await("they have tried", [&] { return proxy.turned_away() >= 20; });
  EXPECT_GE(std::chrono::steady_clock::now() - began, std::chrono::milliseconds(1'500));
}

TEST_F(RunningOnBrokers, QueueThatIsMadeLaterIsFound) {
  const std::string name = fixtures::unique_name();
  write_with_source(rabbitmq(rabbitmq_port(), name), sqlite_);
  const auto process = start();
  await_trouble(*process, "there is no queue");
  fixtures::RabbitmqClient client;
  client.declare_queue(name);
  fixtures::await("it is ready", [&] { return trouble(*process) == "ready"; });
  expect_one_warning(*process, "there is no queue");
  client.delete_queue(name);
}

TEST_F(RunningOnBrokers, WrongPasswordIsSaidAndTriedAgain) {
  fixtures::RabbitmqQueue queue;
  faults::Proxy proxy(rabbitmq_port());
  write_with_source(rabbitmq(proxy.port(), queue.name(), "guest:hunter2"), sqlite_);
  const auto process = start();
  await_trouble(*process, "check the name and the password");
  await_tries(proxy, 4);
  EXPECT_TRUE(process->running());
  expect_one_warning(*process, "check the name and the password");
  EXPECT_THAT(process->output(), Not(HasSubstr("hunter2")));
  process->signal(SIGTERM);
  EXPECT_EQ(process->wait(), 0) << process->output();
}

TEST_F(RunningOnBrokers, RefusalForAnotherReasonIsSaidToo) {
  const fixtures::StrangerToRabbitmq stranger;
  const std::string user = stranger.connection().user;
  write_with_source(rabbitmq(rabbitmq_port(), "no-such-queue", user + ":hunter2"), sqlite_);
  const auto process = start();
  await_trouble(*process, "check the name and the password");
  fixtures::rabbitmq_api("PUT", "/users/" + user, R"({"password":"hunter2","tags":""})");
  await_trouble(*process, "there is no queue");
  expect_one_warning(*process, "check the name and the password");
  expect_one_warning(*process, "there is no queue");
}

TEST_F(RunningOnBrokers, WhatCannotBeReachedIsSaidOnce) {
  fixtures::RabbitmqQueue queue;
  const fixtures::KafkaTopic topic;
  const auto hopeless = fixtures::hopeless_urls(queue.name(), topic.name());
  std::vector<std::unique_ptr<Process>> processes;
  for (const fixtures::Hopeless& one : hopeless) {
    file_ = folder_.path() + "/" + std::to_string(processes.size()) + ".toml";
    write_with_source(source_of(one), sqlite_, "[log]\nlevel = \"debug\"\n");
    processes.push_back(start());
  }
  for (std::size_t at = 0; at < hopeless.size(); ++at) {
    Process& process = *processes[at];
    await_trouble(process, hopeless[at].says);
    await_tries(process, 4);
    expect_one_warning(process, hopeless[at].says);
    process.signal(SIGTERM);
    EXPECT_EQ(process.wait(), 0) << process.output();
    EXPECT_THAT(process.output(), Not(HasSubstr("hunter2")));
  }
}

TEST_F(RunningOnBrokers, RabbitmqThatGoesAndComesBackIsSaid) {
  fixtures::RabbitmqQueue queue;
  faults::Proxy proxy(rabbitmq_port());
  write_with_source(rabbitmq(proxy.port(), queue.name()), sqlite_);
  const auto process = start_and_await_work();
  fixtures::await("it is ready", [&] { return trouble(*process) == "ready"; });
  proxy.refuse(true);
  proxy.cut_all();
  await_trouble(*process, "rabbitmq at 127.0.0.1:");
  proxy.refuse(false);
  fixtures::await("it is ready", [&] { return trouble(*process) == "ready"; });
  queue.send({{.body = "{}", .message_id = "1", .app_id = "shop"}});
  fixtures::await("it is processed", [&] { return effects() == 1; });
  EXPECT_GE(times_logged(*process, "the source is back"), 1);
}

TEST_F(RunningOnBrokers, KafkaThatIsAwayAtTheStartSaysSoOnce) {
  const std::string brokers = "127.0.0.1:" + std::to_string(fixtures::free_port());
  write_with_source("kafka://" + brokers + "/orders?group=g", sqlite_, "[log]\nlevel = \"debug\"\n");
  const auto process = start();
  await_trouble(*process, "kafka " + brokers);
  await_tries(*process, 4);
  expect_one_warning(*process, brokers);
}

TEST_F(RunningOnBrokers, TopicThatIsMadeLaterIsFound) {
  fixtures::KafkaTopic topic;
  topic.remove();
  write_with_source(topic.url(), sqlite_);
  const auto process = start();
  await_trouble(*process, "there is no topic");
  topic.create();
  fixtures::await("it is ready", [&] { return trouble(*process) == "ready"; });
  topic.send({cloud_event("1")});
  fixtures::await("it is processed", [&] { return effects() == 1; });
}

TEST_F(RunningOnBrokers, MistakeInAUrlEndsAtOnceWithItsPlace) {
  for (const auto& [url, text] : std::vector<std::pair<std::string, std::string>>{
           {"rabbitmq://u:hunter2@h/shop", "?queue=name"},
           {"rabbitmq://u:hunter2@h/shop?queue=q&prefetch=0", "push all it has"},
           {"rabbitmqs://u:hunter2@h/shop?queue=q&no_ack=true", "after its effect is committed"},
           {"kafka://u:hunter2@h/t", "group=name"},
           {"kafka://h/t?group=g&enable.auto.commit=true", "only after the effect is"},
           {"kafka://h/t?group=g&group.instance.id=one", "of 2 workers each would end the one before it"},
           {"kafka://u:${ONCEWARD_TEST_NOT_SET}@h/t?group=g", "ONCEWARD_TEST_NOT_SET is not set"},
           {"amqp1://h/q", "not there yet"}}) {
    write_with_source(url, sqlite_);
    const Ran ran = run_to_the_end(file_);
    EXPECT_EQ(ran.exit_code, 2) << ran.output;
    EXPECT_THAT(ran.output, AllOf(HasSubstr(file_ + ":9:10: source: "), HasSubstr(text), Not(HasSubstr("hunter2"))));
    const Ran checked = fixtures::run({ONCEWARD_BINARY, "config", "check", file_});
    EXPECT_EQ(checked.exit_code, 1) << checked.output;
    EXPECT_THAT(checked.output, AllOf(HasSubstr(file_ + ":9:10: source: "), HasSubstr(text)));
  }
}

TEST_F(RunningOnBrokers, PasswordComesFromTheEnvironment) {
  fixtures::RabbitmqQueue queue;
  ::setenv("ONCEWARD_TEST_PASSWORD", "guest", 1);
  write_with_source(rabbitmq(rabbitmq_port(), queue.name(), "guest:${ONCEWARD_TEST_PASSWORD}"), sqlite_);
  const auto process = start_and_await_work();
  ::unsetenv("ONCEWARD_TEST_PASSWORD");
  EXPECT_THAT(process->output(), Not(HasSubstr("guest")));
}

TEST_F(RunningOnBrokers, PasswordOfKafkaComesFromTheEnvironment) {
  fixtures::KafkaTopic topic;
  ::setenv("ONCEWARD_TEST_PASSWORD", "once@ward/1", 1);
  write_with_source(fixtures::kafka_with_login(topic.name(), "${ONCEWARD_TEST_PASSWORD}") + "&group=" + topic.group(),
                    sqlite_);
  const auto process = start_and_await_work();
  ::unsetenv("ONCEWARD_TEST_PASSWORD");
  topic.send({cloud_event("1")});
  fixtures::await("it is processed", [&] { return effects() == 1; });
  EXPECT_THAT(process->output(), Not(HasSubstr("once@ward")));
}

TEST(LeadsBack, OnlyWhereBothAreOnePlace) {
  EXPECT_TRUE(leads_back("rabbitmq://h:1,g:2/v?queue=q", "rabbitmq://u:p@g:2/v?queue=q"));
  EXPECT_TRUE(leads_back("rabbitmqs://h/v?queue=q", "rabbitmq://h/v?queue=q"));
  EXPECT_FALSE(leads_back("rabbitmq://h:1/v?queue=q", "rabbitmq://h:2/v?queue=q"));
  EXPECT_FALSE(leads_back("rabbitmq://h/v?queue=q", "rabbitmq://h/v?queue=q&prefetch=0"));
  EXPECT_FALSE(leads_back("rabbitmq://h/v?queue=q", "rabbitmq://h/w?queue=q"));
  EXPECT_FALSE(leads_back("rabbitmq://h/v?queue=q", "rabbitmq://h/v?queue=p"));
  EXPECT_FALSE(leads_back("rabbitmq://h/v?exchange=e&routing_key=q", "rabbitmq://h/v?queue=q"));
  EXPECT_TRUE(leads_back("kafka://a:1,b:2/t", "kafka://b:2,c:3/t?group=g"));
  EXPECT_FALSE(leads_back("kafka://a:1/t", "kafka://a:11/t?group=g"));
  EXPECT_FALSE(leads_back("kafka://a:1/t", "kafka://a:1/s?group=g"));
  EXPECT_TRUE(leads_back("embedded:q", "embedded:q?visibility=1s"));
  EXPECT_FALSE(leads_back("embedded:q?queue=a", "embedded:q"));
  EXPECT_FALSE(leads_back("embedded:q", "rabbitmq://h/v?queue=q"));
}

}  // namespace
}  // namespace onceward::daemon
