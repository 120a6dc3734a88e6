#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "onceward/adapter/embedded.h"
#include "tests/fixtures/process.h"
#include "tests/fixtures/spoken.h"

namespace onceward::cli {
namespace {

using fixtures::Spoken;

class Send : public testing::Test {
 protected:
  static std::string message(int number) {
    return nlohmann::json{
               {"messageId", "m" + std::to_string(number)}, {"producer", "shop"}, {"payload", {{"n", number}}}}
               .dump() +
           "\n";
  }
  std::string file(const std::string& text) const {
    std::ofstream(folder_.path() + "/messages.ndjson", std::ios::binary) << text;
    return folder_.path() + "/messages.ndjson";
  }
  Spoken send(std::vector<std::string> arguments, const std::string& input = {}) const {
    std::vector<std::string> command{ONCEWARD_BINARY, "send", url_};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return fixtures::speak(command, input);
  }
  std::int64_t queued() const {
    return static_cast<std::int64_t>(EmbeddedSender(read_embedded_url(url_)).depth().ready);
  }

  const fixtures::TemporaryDirectory folder_;
  const std::string url_ = "embedded:" + folder_.path() + "/queue.db";
};

TEST_F(Send, EachLineIsOneMessage) {
  std::string lines;
  for (int i = 0; i < 2500; ++i) lines += message(i);
  const Spoken spoken = send({file(lines + "\n  \n"), "-o", "json"});
  EXPECT_EQ(spoken.exit_code, 0) << spoken.err;
  EXPECT_EQ(nlohmann::json::parse(spoken.out).at(0).at("sent"), 2500);
  EXPECT_EQ(spoken.err, "");
  EXPECT_EQ(queued(), 2500);
}

TEST_F(Send, ReadsStandardInputAndALastLineWithoutAnEnd) {
  const std::string last = message(2);
  const Spoken spoken = send({}, message(1) + last.substr(0, last.size() - 1));
  EXPECT_EQ(spoken.exit_code, 0) << spoken.err;
  EXPECT_EQ(queued(), 2);
}

TEST_F(Send, ABatchWithMistakesIsNotSentAndEachIsShownWithItsLine) {
  const Spoken spoken = send({"-"}, message(1) + "{\"card\":\"s3cret\"\n" + message(2) + "[]\n");
  EXPECT_EQ(spoken.exit_code, 1);
  EXPECT_NE(spoken.err.find("line 2: malformed_json"), std::string::npos) << spoken.err;
  EXPECT_NE(spoken.err.find("line 4: "), std::string::npos) << spoken.err;
  EXPECT_EQ(spoken.err.find("s3cret"), std::string::npos) << spoken.err;
  EXPECT_EQ(queued(), 0);
}

TEST_F(Send, NothingBehindABatchWithMistakesIsSent) {
  std::string lines;
  for (int i = 0; i < 1000; ++i) lines += message(i);
  lines += "nonsense\n";
  for (int i = 1000; i < 3500; ++i) lines += message(i);
  const Spoken spoken = send({"-", "-o", "ndjson"}, lines);
  EXPECT_EQ(spoken.exit_code, 1);
  EXPECT_EQ(nlohmann::json::parse(spoken.out).at("sent"), 1000);
  EXPECT_EQ(queued(), 1000);
}

TEST_F(Send, SkipBadSendsTheRest) {
  const Spoken spoken = send({"-", "--skip-bad", "-o", "ndjson"}, message(1) + "nonsense\n" + message(2));
  EXPECT_EQ(spoken.exit_code, 0) << spoken.err;
  EXPECT_EQ(nlohmann::json::parse(spoken.out).at("sent"), 2);
  EXPECT_EQ(nlohmann::json::parse(spoken.out).at("refused"), 1);
  EXPECT_NE(spoken.err.find("line 2:"), std::string::npos) << spoken.err;
  EXPECT_EQ(queued(), 2);
}

TEST_F(Send, OfManyMistakesTheFirstTwentyAreShown) {
  std::string lines;
  for (int i = 0; i < 30; ++i) lines += "nonsense\n";
  const Spoken spoken = send({}, lines);
  EXPECT_NE(spoken.err.find("line 20:"), std::string::npos) << spoken.err;
  EXPECT_EQ(spoken.err.find("line 21:"), std::string::npos) << spoken.err;
  EXPECT_NE(spoken.err.find("and 10 more"), std::string::npos) << spoken.err;
}

TEST_F(Send, ALineThatIsTooLongIsRefusedAndTheNextOneIsRead) {
  const Spoken spoken =
      send({"-", "--skip-bad", "-o", "ndjson"}, std::string((16u << 20) + 1, 'x') + "\n" + message(2));
  EXPECT_EQ(spoken.exit_code, 0) << spoken.err;
  EXPECT_NE(spoken.err.find("line 1: is longer than 16 MiB"), std::string::npos) << spoken.err;
  EXPECT_EQ(queued(), 1);
}

TEST_F(Send, MistakesHaveTheirOwnExitCodes) {
  EXPECT_EQ(send({folder_.path() + "/nothing"}).exit_code, 2);
  EXPECT_EQ(fixtures::speak({ONCEWARD_BINARY, "send"}).exit_code, 2);
  EXPECT_EQ(fixtures::speak({ONCEWARD_BINARY, "send", "kafka://broker/topic"}).exit_code, 2);
  EXPECT_EQ(fixtures::speak({ONCEWARD_BINARY, "send", "embedded:" + folder_.path() + "/no/such/queue.db"}).exit_code,
            5);
}

}  // namespace
}  // namespace onceward::cli
