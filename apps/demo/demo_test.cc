// The demo as its user runs it.
#include "apps/demo/demo.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <future>
#include <nlohmann/json.hpp>

#include "tests/fixtures/postgres_database.h"
#include "tests/fixtures/process.h"
#include "tests/fixtures/reader.h"

namespace onceward {
namespace {

using fixtures::Ran;
using fixtures::TemporaryDirectory;
using nlohmann::json;

// Everything that it leaves behind is in a directory of the test's own.
class Demo : public testing::Test {
 protected:
  std::vector<std::string> command(const std::vector<std::string>& arguments, int messages = 500) const {
    std::vector<std::string> words{"/usr/bin/env", "TMPDIR=" + folder_.path(), ONCEWARD_BINARY, "demo"};
    words.insert(words.end(), {"--messages", std::to_string(messages)});
    words.insert(words.end(), arguments.begin(), arguments.end());
    return words;
  }
  Ran demo(const std::vector<std::string>& arguments) const { return fixtures::run(command(arguments)); }
  // Of the object that is the last line; progress comes before it.
  static json object_in(const Ran& ran) {
    return json::parse(ran.output.substr(ran.output.rfind("{\"seed\"")), nullptr, false);
  }

  std::vector<std::filesystem::path> left() const {
    std::vector<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) paths.push_back(entry.path());
    return paths;
  }

  const TemporaryDirectory folder_;
};

bool has(const Ran& ran, std::string_view text) { return ran.output.find(text) != std::string::npos; }

TEST_F(Demo, ProvesItselfOnSqlite) {
  const Ran ran = demo({"--seed", "7"});
  EXPECT_EQ(ran.exit_code, 0) << ran.output;
  EXPECT_TRUE(has(ran, "PROOF")) << ran.output;
  EXPECT_FALSE(has(ran, "WRONG")) << ran.output;
  EXPECT_TRUE(left().empty()) << "a run removes its directory";
}

TEST_F(Demo, ProvesItselfOnPostgresAndLeavesNothingThere) {
  const fixtures::PostgresDatabase database;
  const Ran ran = demo({"--store", database.url(), "-o", "json"});
  EXPECT_EQ(ran.exit_code, 0) << ran.output;
  EXPECT_EQ(object_in(ran).at("ok"), true) << ran.output;
  const auto reader = fixtures::read_postgres(database.url());
  EXPECT_EQ(reader->number("SELECT count(*) FROM pg_tables WHERE tablename LIKE 'demo%'"), 0);
  for (const char* table : {"inbox", "inbox_outcome", "inbox_body", "attempt", "outbox", "ledger", "ledger_attempt",
                            "quarantine", "consumer"}) {
    EXPECT_EQ(reader->number(std::string("SELECT count(*) FROM onceward.") + table), 0) << table;
  }
}

TEST_F(Demo, TheSameSeedGivesTheSameNumbers) {
  // At the same time: two runs do not meet.
  auto other = std::async(std::launch::async, [this] { return demo({"--seed", "11", "-o", "json"}); });
  const json one = object_in(demo({"--seed", "11", "-o", "json"}));
  const json two = object_in(other.get());
  std::vector<std::string> names;
  for (const auto& [name, value] : one.items()) names.push_back(name);
  std::ranges::sort(names);
  EXPECT_EQ(names, (std::vector<std::string>{"captures", "conflicts", "crashes", "deliveries", "distinct", "double",
                                             "duplicates", "effects", "lost", "ok", "poison", "published", "reconciled",
                                             "seed", "unknown", "waiting"}));
  for (const char* same : {"seed", "published", "distinct", "conflicts", "poison", "effects", "lost", "double", "ok"}) {
    EXPECT_EQ(one.at(same), two.at(same)) << same;
  }
  EXPECT_EQ(one.at("distinct"), 500);
  EXPECT_EQ(one.at("lost"), 0);
  EXPECT_EQ(one.at("double"), 0);
  EXPECT_GT(one.at("crashes"), 0);
  EXPECT_GT(one.at("deliveries"), one.at("published"));
  EXPECT_GT(one.at("duplicates"), 100);
  EXPECT_GE(one.at("captures").get<int>() + one.at("waiting").get<int>(), one.at("effects"));
  EXPECT_LE(one.at("captures"), one.at("effects"));
  EXPECT_GT(one.at("reconciled"), 0);
  EXPECT_EQ(one.at("unknown"), one.at("reconciled").get<int>() + one.at("waiting").get<int>());
}

TEST_F(Demo, NaiveShowsTheDamage) {
  const Ran ran = demo({"--naive", "-o", "json"});
  EXPECT_EQ(ran.exit_code, 0) << ran.output;
  const json object = object_in(ran);
  EXPECT_GT(object.at("double"), 0);
  EXPECT_GT(object.at("captures"), object.at("distinct"));
  EXPECT_EQ(object.at("ok"), false);
}

TEST_F(Demo, MisuseLeavesNothingBehind) {
  EXPECT_EQ(demo({"--store", "mysql://localhost"}).exit_code, 2);
  EXPECT_EQ(demo({"--workers", "0"}).exit_code, 2);
  EXPECT_EQ(
      demo({"--store", "postgres://postgres@127.0.0.1:" + std::to_string(fixtures::free_port()) + "/x"}).exit_code, 5);
  EXPECT_TRUE(left().empty());
}

TEST_F(Demo, CtrlCEndsEverything) {
  fixtures::Process process(command({}, 100'000));
  const auto workers = [&] {
    return fixtures::run({"/usr/bin/pgrep", "-f", "--", "--role worker.*" + folder_.path()}).exit_code == 0;
  };
  fixtures::await("workers run", workers);
  process.signal(SIGINT);
  EXPECT_EQ(process.wait(), 130) << process.output();
  EXPECT_FALSE(workers());
  EXPECT_TRUE(left().empty());
}

}  // namespace
}  // namespace onceward
