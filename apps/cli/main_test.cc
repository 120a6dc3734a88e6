// The real binary, as its user runs it.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/fixtures/postgres_database.h"
#include "tests/fixtures/process.h"

namespace onceward {
namespace {

using fixtures::Ran;
using fixtures::TemporaryDirectory;

Ran onceward(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), ONCEWARD_BINARY);
  return fixtures::run(arguments);
}

bool has(const Ran& ran, std::string_view text) { return ran.output.find(text) != std::string::npos; }

std::string write(const TemporaryDirectory& folder, std::string_view text) {
  const std::string path = folder.path() + "/app.toml";
  std::ofstream(path) << text;
  return path;
}

const std::vector<std::vector<std::string>> commands{
    {"run"},
    {"send"},
    {"tail"},
    {"doctor", "sources"},
    {"inbox", "ls"},
    {"inbox", "show"},
    {"quarantine", "ls"},
    {"quarantine", "show"},
    {"quarantine", "retry"},
    {"quarantine", "discard"},
    {"outbox", "ls"},
    {"outbox", "show"},
    {"outbox", "retry"},
    {"outbox", "discard"},
    {"outbox", "pause"},
    {"outbox", "resume"},
    {"ledger", "ls"},
    {"ledger", "show"},
    {"ledger", "approve"},
    {"ledger", "refuse"},
    {"ledger", "retry"},
    {"ledger", "cancel"},
    {"ledger", "reconcile"},
    {"config", "check"},
    {"config", "show"},
    {"store", "migrate"},
    {"store", "status"},
    {"demo"},
    {"version"},
};

TEST(CommandLine, EveryCommandHasHelpWithAnExample) {
  auto all = commands;
  all.insert(all.end(), {{}, {"store"}, {"config"}, {"inbox"}, {"quarantine"}, {"outbox"}, {"doctor"}});
  for (std::vector<std::string> arguments : all) {
    arguments.push_back("--help");
    const Ran ran = onceward(arguments);
    EXPECT_EQ(ran.exit_code, 0) << ran.output;
    EXPECT_TRUE(has(ran, "Example: onceward")) << ran.output;
  }
}

TEST(CommandLine, TheReferenceHasAHeadingForEveryCommand) {
  std::ifstream reference(ONCEWARD_SOURCE_DIRECTORY "/docs/reference/commands.md");
  std::vector<std::string> headings;
  for (std::string line; std::getline(reference, line);) {
    if (line.starts_with("## `onceward ")) headings.push_back(line);
  }
  std::vector<std::string> wanted;
  for (const auto& command : commands) {
    std::string heading = "## `onceward";
    for (const std::string& word : command) heading += " " + word;
    wanted.push_back(heading + "`");
  }
  EXPECT_EQ(headings, wanted);
}

TEST(CommandLine, MisuseIsExitCode2) {
  EXPECT_EQ(onceward({}).exit_code, 2);
  EXPECT_EQ(onceward({"nonsense"}).exit_code, 2);
  EXPECT_EQ(onceward({"store", "status", "--store", "mysql://localhost"}).exit_code, 2);
  EXPECT_EQ(onceward({"config", "check", "/nowhere/app.toml"}).exit_code, 2);
}

TEST(CommandLine, UnknownCommandIsNamedWithTheNearest) {
  const Ran far = onceward({"frobnicate"});
  EXPECT_EQ(far.exit_code, 2);
  EXPECT_TRUE(has(far, "frobnicate")) << far.output;
  EXPECT_TRUE(has(far, "quarantine")) << far.output;
  const Ran near = onceward({"quarantine", "lst"});
  EXPECT_EQ(near.exit_code, 2);
  EXPECT_TRUE(has(near, "quarantine lst; did you mean \"ls\"?")) << near.output;
  EXPECT_TRUE(has(onceward({"quarantine"}), "subcommand")) << "nothing is unknown";
}

TEST(CommandLine, CommandsThatOnlyReadMakeNoDatabase) {
  const TemporaryDirectory folder;
  const std::string path = folder.path() + "/typo.db";
  for (const std::vector<std::string>& command : {std::vector<std::string>{"inbox", "ls"},
                                                  {"inbox", "show", "--consumer", "c", "--id", "m"},
                                                  {"quarantine", "ls"},
                                                  {"quarantine", "show", "1"},
                                                  {"quarantine", "retry", "1", "--who", "me", "--why", "x", "--yes"},
                                                  {"outbox", "ls"},
                                                  {"outbox", "show", "1"},
                                                  {"outbox", "pause", "orders", "--who", "me", "--why", "x", "--yes"},
                                                  {"store", "status"},
                                                  {"store", "migrate", "--dry-run"}}) {
    std::vector<std::string> words = command;
    words.insert(words.end(), {"--store", "sqlite:" + path});
    const Ran ran = onceward(words);
    EXPECT_EQ(ran.exit_code, command.back() == "--dry-run" ? 0 : 6) << ran.output;
    EXPECT_FALSE(std::filesystem::exists(path)) << command[0] << " " << command[1];
    EXPECT_TRUE(command.back() == "--dry-run" || has(ran, "there is no database " + path)) << ran.output;
  }
}

// One rule wherever the URL comes from.
TEST(CommandLine, StoreUrlWithAnAuthorityIsRefusedFromFlagEnvironmentAndFile) {
  const TemporaryDirectory folder;
  const std::string url = "sqlite://" + folder.path() + "/shop.db";
  const std::string file = write(folder, "[store]\nurl = \"" + url + "\"\n");
  for (const std::vector<std::string>& how :
       {std::vector<std::string>{ONCEWARD_BINARY, "store", "migrate", "--store", url},
        {"env", "ONCEWARD_STORE=" + url, ONCEWARD_BINARY, "store", "migrate"},
        {"env", "-u", "ONCEWARD_STORE", "-u", "DATABASE_URL", ONCEWARD_BINARY, "store", "migrate", "--config", file}}) {
    const Ran ran = fixtures::run(how);
    EXPECT_EQ(ran.exit_code, 2) << ran.output;
    EXPECT_TRUE(has(ran, "takes a path, not an authority")) << ran.output;
  }
  EXPECT_FALSE(std::filesystem::exists(folder.path() + "/shop.db"));
}

void migrates(const std::string& url) {
  const Ran before = onceward({"store", "status", "--store", url, "-o", "json"});
  EXPECT_EQ(before.exit_code, 6) << before.output;
  EXPECT_TRUE(has(before, "not migrated") || has(before, "there is no database")) << before.output;

  const Ran dry = onceward({"store", "migrate", "--store", url, "--dry-run"});
  EXPECT_EQ(dry.exit_code, 0) << dry.output;
  EXPECT_TRUE(has(dry, "would apply 001 ground") || has(dry, "apply every step")) << dry.output;
  EXPECT_EQ(onceward({"store", "status", "--store", url}).exit_code, 6) << "a dry run applies nothing";

  EXPECT_EQ(onceward({"store", "migrate", "--store", url}).exit_code, 0);
  const Ran again = onceward({"store", "migrate", "--store", url});
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_TRUE(has(again, "nothing to do")) << again.output;

  const Ran after = onceward({"store", "status", "--store", url, "-o", "json"});
  EXPECT_EQ(after.exit_code, 0) << after.output;
  EXPECT_EQ(nlohmann::json::parse(after.output).at(0).at("state"), "ready");
}

TEST(CommandLine, MigratesSqlite) {
  const TemporaryDirectory folder;
  migrates("sqlite:" + folder.path() + "/app.db");
}

TEST(CommandLine, MigratesPostgres) {
  const fixtures::PostgresDatabase database;
  migrates(database.url());
}

TEST(CommandLine, TheFileNamesTheStore) {
  const TemporaryDirectory folder;
  const std::string path = write(folder, "[store]\nurl = \"sqlite:" + folder.path() + "/app.db\"\n");
  const Ran ran = onceward({"store", "migrate", "--config", path});
  EXPECT_EQ(ran.exit_code, 0) << ran.output;
  EXPECT_TRUE(std::filesystem::exists(folder.path() + "/app.db"));
}

TEST(CommandLine, UnreachableStoreIsExitCode5AndKeepsThePassword) {
  const std::string url = "postgres://app:s3cret@127.0.0.1:" + std::to_string(fixtures::free_port()) + "/shop";
  const Ran ran = onceward({"store", "status", "--store", url});
  EXPECT_EQ(ran.exit_code, 5) << ran.output;
  EXPECT_TRUE(has(ran, "store_unavailable")) << ran.output;
  EXPECT_FALSE(has(ran, "s3cret")) << ran.output;
}

// What the reference shows to everybody who begins.
TEST(CommandLine, ConfigCheckAcceptsTheExampleOfTheReferenceAndNothingThatRunRefuses) {
  std::ifstream reference(ONCEWARD_SOURCE_DIRECTORY "/docs/reference/declaration.md");
  std::string text, line;
  while (std::getline(reference, line) && line != "```toml") {
  }
  while (std::getline(reference, line) && line != "```") text += line + "\n";
  const TemporaryDirectory folder;
  const std::string path = write(folder, text);
  const std::vector<std::string> check{"env",
                                       "BROKER_PASSWORD=x",
                                       "GATEWAY_TOKEN=x",
                                       "MAIL_PASSWORD=x",
                                       "INGRESS_TOKEN=x",
                                       ONCEWARD_BINARY,
                                       "config",
                                       "check",
                                       path};
  EXPECT_EQ(fixtures::run(check).exit_code, 0) << fixtures::run(check).output;
  for (const char* const more : {"order = \"key\"\n", "gap = \"wait\"\n"}) {
    write(folder, "[[consumer]]\nname = \"payments\"\nowner = \"me\"\n" + std::string(more));
    const Ran ran = fixtures::run(check);
    EXPECT_EQ(ran.exit_code, 1) << ran.output;
    EXPECT_TRUE(has(ran, "not there yet")) << ran.output;
  }
}

TEST(CommandLine, ConfigCheckNamesSecretsThatTheEnvironmentLacks) {
  const TemporaryDirectory folder;
  const std::string path = write(folder,
                                 "[[endpoint]]\nname = \"pay\"\nurl = \"http://pay\"\n"
                                 "headers = { Authorization = \"Bearer ${ONCEWARD_T_NOWHERE}\" }\n");
  const Ran ran = onceward({"config", "check", path});
  EXPECT_EQ(ran.exit_code, 1) << ran.output;
  EXPECT_TRUE(has(ran, path + ":2:8: endpoint: the environment variable ONCEWARD_T_NOWHERE is not set")) << ran.output;
}

TEST(CommandLine, ConfigCheckShowsEveryMistakeWithItsPlace) {
  const TemporaryDirectory folder;
  const std::string path = write(folder, "[[consumer]]\nname = \"payments\"\nownr = \"me\"\nsource = \"amqp://x\"\n");
  const Ran ran = onceward({"config", "check", path});
  EXPECT_EQ(ran.exit_code, 1) << ran.output;
  EXPECT_TRUE(has(ran, path + ":3:1:")) << ran.output;
  EXPECT_TRUE(has(ran, "rabbitmq://")) << ran.output;
}

}  // namespace
}  // namespace onceward
