#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "tests/fixtures/process.h"
#include "tests/fixtures/spoken.h"

namespace onceward::cli {
namespace {

using fixtures::Spoken;

class ConfigShow : public testing::Test {
 protected:
  std::string write(std::string_view text) const {
    std::ofstream(folder_.path() + "/app.toml") << text;
    return folder_.path() + "/app.toml";
  }
  static Spoken show(std::vector<std::string> arguments, const std::vector<std::string>& environment = {}) {
    std::vector<std::string> command{"/usr/bin/env", "-u", "ONCEWARD_STORE", "-u", "DATABASE_URL"};
    command.insert(command.end(), environment.begin(), environment.end());
    command.insert(command.end(), {ONCEWARD_BINARY, "config", "show"});
    command.insert(command.end(), arguments.begin(), arguments.end());
    return fixtures::speak(command);
  }
  struct Shown {
    nlohmann::json value;
    std::string origin;
  };
  static std::map<std::string, Shown> settings(const std::string& path, std::vector<std::string> more = {},
                                               const std::vector<std::string>& environment = {}) {
    more.insert(more.begin(), {path, "--origin", "-o", "json"});
    const Spoken spoken = show(more, environment);
    EXPECT_EQ(spoken.exit_code, 0) << spoken.err;
    std::map<std::string, Shown> all;
    for (const auto& row : nlohmann::json::parse(spoken.out)) {
      all[row.at("key")] = {row.at("value"), row.at("origin")};
    }
    return all;
  }

  const fixtures::TemporaryDirectory folder_;
};

TEST_F(ConfigShow, EachSettingSaysWhereItComesFrom) {
  const std::string path = write(
      "[store]\nurl = \"sqlite:app.db\"\n[[consumer]]\nname = \"payments\"\nowner = \"me\"\n"
      "retry = { attempts = 7 }\n");
  const auto all = settings(path);
  EXPECT_EQ(all.at("store.url").value, "sqlite:app.db");
  EXPECT_EQ(all.at("store.url").origin, path + ":2");
  EXPECT_EQ(all.at("consumer.payments.retry.attempts").value, 7);
  EXPECT_EQ(all.at("consumer.payments.retry.attempts").origin, path + ":6");
  EXPECT_EQ(all.at("consumer.payments.retry.first_delay").value, "1s");
  EXPECT_EQ(all.at("consumer.payments.retry.first_delay").origin, "default");
  EXPECT_EQ(all.at("consumer.payments.identity.scheme").value, "hash");
  EXPECT_EQ(all.at("consumer.payments.limits.message_bytes").value, 16 << 20);
  EXPECT_EQ(all.at("log.level").value, "info");
  EXPECT_EQ(all.at("shutdown.drain").value, "30s");
}

TEST_F(ConfigShow, AFlagGoesBeforeTheEnvironmentBeforeTheFile) {
  const std::string path = write("[store]\nurl = \"sqlite:file.db\"\n");
  EXPECT_EQ(settings(path, {}, {"DATABASE_URL=sqlite:url.db"}).at("store.url").origin, "DATABASE_URL");
  const auto both = settings(path, {}, {"DATABASE_URL=sqlite:url.db", "ONCEWARD_STORE=sqlite:ours.db"});
  EXPECT_EQ(both.at("store.url").origin, "ONCEWARD_STORE");
  EXPECT_EQ(both.at("store.url").value, "sqlite:ours.db");
  const auto flag = settings(path, {"--store", "sqlite:flag.db"}, {"ONCEWARD_STORE=sqlite:ours.db"});
  EXPECT_EQ(flag.at("store.url").origin, "--store");
  EXPECT_EQ(flag.at("store.url").value, "sqlite:flag.db");
}

TEST_F(ConfigShow, SecretsOfUrlsAreNotShown) {
  const std::string path = write(
      "[store]\nurl = \"postgres://app:s3cret@db/shop\"\n[[consumer]]\nname = \"payments\"\n"
      "owner = \"me\"\nsource = \"rabbitmq://app:s3cret@broker/q?password=s3cret\"\n");
  for (const char* output : {"table", "json", "ndjson"}) {
    const Spoken spoken = show({path, "--origin", "-o", output}, {"DATABASE_URL=postgres://u:s3cret@db/x"});
    EXPECT_EQ(spoken.exit_code, 0) << spoken.err;
    EXPECT_EQ((spoken.out + spoken.err).find("s3cret"), std::string::npos) << spoken.out;
    EXPECT_NE(spoken.out.find("***"), std::string::npos) << spoken.out;
  }
  const Spoken flag = show({path, "--store", "postgres://u:s3cret@db/x"});
  EXPECT_EQ(flag.out.find("s3cret"), std::string::npos) << flag.out;
}

TEST_F(ConfigShow, SecretsOfEndpointsAndOfTheFrontDoorAreNotShown) {
  const std::string path = write(
      "[[endpoint]]\nname = \"pay\"\nurl = \"https://a:s3cret@pay/x\"\n"
      "headers = { Authorization = \"Bearer s3cret\", X-Shop = \"${SHOP}\", Accept = \"text/plain\" }\n"
      "look_up.url = \"https://a:s3cret@pay/{key}?token=s3cret\"\n"
      "[[consumer]]\nname = \"a\"\nowner = \"b\"\nsource = \"embedded:q\"\n"
      "[ingress]\nconsumers = [\"a\"]\ntoken = \"s3cret\"\n");
  const auto all = settings(path);
  EXPECT_EQ(all.at("endpoint.pay.headers.Authorization").value, "***");
  EXPECT_EQ(all.at("endpoint.pay.headers.X-Shop").value, "***");
  EXPECT_EQ(all.at("endpoint.pay.headers.Accept").value, "text/plain");
  EXPECT_EQ(all.at("endpoint.pay.url").origin, path + ":3");
  EXPECT_EQ(all.at("endpoint.pay.timeout").origin, "default");
  EXPECT_EQ(all.at("ingress.token").value, "***");
  const Spoken spoken = show({path, "--origin"});
  EXPECT_EQ(spoken.out.find("s3cret"), std::string::npos) << spoken.out;
}

// The reference shows a file with every key there is: none may be missing here.
TEST_F(ConfigShow, EveryKeyOfTheReferenceIsShown) {
  std::ifstream reference(ONCEWARD_SOURCE_DIRECTORY "/docs/reference/declaration.md");
  std::string text, line;
  bool inside = false;
  std::set<int> lines_with_keys;
  for (int number = 0; std::getline(reference, line);) {
    if (line == "```toml") {
      inside = true;
    } else if (line == "```" && inside) {
      break;
    } else if (inside) {
      ++number;
      text += line + "\n";
      if (line.find(" = ") != std::string::npos && line[0] != ' ') lines_with_keys.insert(number);
    }
  }
  ASSERT_GT(lines_with_keys.size(), 40u);
  const std::string path = write(text);
  for (const auto& [key, shown] : settings(path)) {
    const std::size_t colon = shown.origin.rfind(':');
    if (colon != std::string::npos) lines_with_keys.erase(std::stoi(shown.origin.substr(colon + 1)));
  }
  EXPECT_EQ(lines_with_keys, std::set<int>()) << "lines of the example whose keys are not shown:\n" << text;
}

TEST_F(ConfigShow, AFileWithMistakesIsExitCode2) {
  EXPECT_EQ(show({write("[stroe]\n")}).exit_code, 2);
  EXPECT_EQ(show({folder_.path() + "/nowhere.toml"}).exit_code, 2);
}

}  // namespace
}  // namespace onceward::cli
