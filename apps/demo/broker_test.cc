// The demo over a real broker, as its user runs it; small, since the broker is started twice.
#include "apps/demo/broker.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "apps/demo/run_directory.h"
#include "apps/demo/tables.h"
#include "onceward/adapter/sqlite.h"
#include "tests/faults/proxy.h"
#include "tests/fixtures/postgres_database.h"
#include "tests/fixtures/process.h"
#include "tests/fixtures/reader.h"

namespace onceward {
namespace {

using fixtures::Ran;
using nlohmann::json;
using testing::Contains;
using testing::HasSubstr;

class DemoAtBroker : public testing::TestWithParam<std::string> {
 protected:
  std::vector<std::string> command(const std::vector<std::string>& arguments) const {
    std::vector<std::string> words{
        "/usr/bin/env", "TMPDIR=" + folder_.path(), ONCEWARD_BINARY, "demo", "--broker", GetParam(), "--workers", "2"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    return words;
  }
  Ran demo(const std::vector<std::string>& arguments) const {
    return fixtures::run(command(arguments), std::chrono::minutes(4));
  }
  static json object_in(const Ran& ran) {
    return json::parse(ran.output.substr(ran.output.rfind("{\"seed\"")), nullptr, false);
  }
  std::string directory() const { return std::filesystem::directory_iterator(folder_.path())->path().string(); }
  void start_broker() const { script({"start"}); }
  // It is thrown away: it need not end in an orderly way.
  void stop_broker() const { script({"stop", "--kill"}); }
  void script(std::vector<std::string> words) const {
    words.insert(words.begin() + 1, directory() + "/broker");
    words.insert(words.begin(), fixtures::environment("ONCEWARD_SCRIPTS") + "/" + GetParam());
    fixtures::run_well(words);
  }
  json run_file() const { return json::parse(std::ifstream(directory() + "/run.json")); }
  // Each store with one broker.
  static bool on_postgres() { return GetParam() == "kafka"; }
  std::unique_ptr<fixtures::Reader> open_store() const {
    return on_postgres() ? fixtures::read_postgres(fixtures::shared_database().url())
                         : fixtures::read_sqlite(directory() + "/store.db");
  }
  // For people. The broker is stopped by then, and left so.
  std::string proof() const {
    start_broker();
    std::string text = fixtures::run({ONCEWARD_BINARY "-checker", directory()}).output;
    stop_broker();
    return text;
  }
  // The names of the lines that are wrong.
  std::vector<std::string> wrong() const {
    const json proof = json::parse(fixtures::run({ONCEWARD_BINARY "-checker", directory(), "-o", "json"}).output);
    std::vector<std::string> names;
    for (const json& line : proof.at("lines")) {
      if (!line.at("ok")) names.push_back(line.at("name"));
    }
    return names;
  }
  void send_one_more() const {
    const json run = run_file();
    const std::string place = (GetParam() == "kafka" ? "/" : "?queue=") + std::string(demo::broker_queue);
    const std::string file = directory() + "/one.ndjson";
    std::ofstream(file) << R"({"messageId":"one more","producer":"checkout","eventType":"t","payload":{}})" << "\n";
    fixtures::run_well({ONCEWARD_BINARY, "send", run.at("brokerUrl").get<std::string>() + place, file});
  }
  bool runs() const { return fixtures::run({"/usr/bin/pgrep", "-f", "--", folder_.path()}).exit_code == 0; }

  const fixtures::TemporaryDirectory folder_;
};
INSTANTIATE_TEST_SUITE_P(On, DemoAtBroker, testing::Values("rabbitmq", "kafka"),
                         [](const auto& of) { return of.param; });

// The checker is seen to be red: an effect was deleted, another doubled, a restart forgotten, a message left in the broker.
TEST_P(DemoAtBroker, ProvesItselfThoughTheBrokerIsKilledAndSeesWhatIsSpoiled) {
  std::vector<std::string> arguments{"--messages", "300", "--keep", "-o", "json"};
  if (on_postgres()) {
    fixtures::shared_database().empty();
    arguments.insert(arguments.end(), {"--store", fixtures::shared_database().url()});
  }
  const Ran ran = demo(arguments);
  ASSERT_EQ(ran.exit_code, 0) << ran.output << proof();
  const json object = object_in(ran);
  EXPECT_EQ(object.at("broker"), GetParam());
  EXPECT_GT(object.at("broker_restarts"), 0);
  EXPECT_EQ(object.at("lost"), 0);
  EXPECT_EQ(object.at("double"), 0);
  EXPECT_GT(object.at("crashes"), 0);
  EXPECT_GT(object.at("deliveries"), object.at("published"));
  EXPECT_FALSE(runs()) << "the broker is stopped";

  start_broker();
  EXPECT_EQ(wrong(), std::vector<std::string>{});
  open_store()->run(fmt::format(
      "DELETE FROM {0} WHERE message_id = (SELECT max(message_id) FROM {0}); INSERT INTO {0} SELECT * FROM {0} LIMIT 1",
      run_file().at("captureTable").get<std::string>()));
  std::filesystem::resize_file(directory() + "/broker.ndjson", 0);
  const auto names = wrong();
  EXPECT_THAT(names, Contains("lost"));
  EXPECT_THAT(names, Contains("double"));
  EXPECT_THAT(names, Contains("broker killed and restarted"));
  send_one_more();
  EXPECT_THAT(wrong(), Contains("left in the queue"));
  stop_broker();
}

// A broker that hangs up on everybody, as one does that is killed. Red if a worker takes it for one that says no, and ends.
TEST_P(DemoAtBroker, WorkerThatFindsADyingBrokerWaitsForIt) {
  faults::Proxy dying(fixtures::free_port());
  demo::Run run;
  run.directory = folder_.path();
  run.store = "sqlite:" + folder_.path() + "/store.db";
  run.consumer = "demo";
  run.capture_table = "demo_capture";
  run.balance_table = "demo_balance";
  run.broker = GetParam();
  run.broker_url = fmt::format("{}://127.0.0.1:{}", GetParam(), dying.port());
  demo::write_run(run);
  make_tables(*open_sqlite({.path = folder_.path() + "/store.db"}), run);
  fixtures::Process worker(
      {ONCEWARD_BINARY, "demo", "--role", "worker", "--number", "0", "--directory", run.directory});
  fixtures::await("it has tried again", [&] { return dying.turned_away() >= 20 || !worker.running(); });
  EXPECT_TRUE(worker.running()) << worker.output();
  worker.signal(SIGTERM);
  EXPECT_EQ(worker.wait(), 0) << worker.output();
}

TEST_P(DemoAtBroker, NaiveShowsTheDamage) {
  const Ran ran = demo({"--messages", "200", "--naive", "-o", "json"});
  EXPECT_EQ(ran.exit_code, 0) << ran.output;
  const json object = object_in(ran);
  EXPECT_GT(object.at("double"), 0);
  EXPECT_GT(object.at("broker_restarts"), 0);
  EXPECT_EQ(object.at("ok"), false);
}

TEST_P(DemoAtBroker, CtrlCStopsTheBroker) {
  fixtures::Process process(command({"--messages", "100000"}));
  fixtures::await("workers run", [&] {
    return fixtures::run({"/usr/bin/pgrep", "-f", "--", "--role worker.*" + folder_.path()}).exit_code == 0;
  });
  process.signal(SIGINT);
  EXPECT_EQ(process.wait(), 130) << process.output();
  EXPECT_FALSE(runs());
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

TEST_P(DemoAtBroker, WithoutTheScriptsSaysWhatToDo) {
  auto words = command({});
  words.insert(words.begin() + 1, {"-u", "ONCEWARD_SCRIPTS"});
  const Ran ran = fixtures::run(words);
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_THAT(ran.output, HasSubstr("./run demo --broker " + GetParam()));
}

}  // namespace
}  // namespace onceward
