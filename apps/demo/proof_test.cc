// The checker must see what is wrong: each test spoils what a run has left behind, and names the lines that say so.
#include "apps/demo/proof.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <sstream>
#include <utility>

#include "tests/fixtures/process.h"
#include "tests/fixtures/reader.h"

namespace onceward {
namespace {

using fixtures::Ran;
using fixtures::TemporaryDirectory;
using nlohmann::json;

constexpr const char* checker = ONCEWARD_BINARY "-checker";

// One kept run for all; each test spoils a copy of it.
class Checker : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    kept_ = std::make_unique<TemporaryDirectory>();
    ran_ = fixtures::run(
        {"/usr/bin/env", "TMPDIR=" + kept_->path(), ONCEWARD_BINARY, "demo", "--messages", "500", "--keep"});
  }
  static void TearDownTestSuite() { kept_.reset(); }

  void SetUp() override {
    ASSERT_EQ(ran_.exit_code, 0) << ran_.output;
    const auto directory = std::filesystem::directory_iterator(kept_->path())->path();
    copy_ = folder_.path() + "/run";
    std::filesystem::copy(directory, copy_);
    std::ifstream file(copy_ + "/run.json");
    json run = json::parse(file);
    run["store"] = "sqlite:" + copy_ + "/store.db";
    std::ofstream(copy_ + "/run.json") << run.dump();
  }

  void spoil(const std::string& sql) const { fixtures::read_sqlite(copy_ + "/store.db")->run(sql); }
  void spoil_queue(const std::string& sql) const { fixtures::read_sqlite(copy_ + "/queue.db")->run(sql); }
  // Each line of the gateway's log is written as `spoiled` makes it of what it was.
  void spoil_gateway(const std::function<std::vector<json>(const json&)>& spoiled) const {
    std::ostringstream text;
    std::ifstream file(copy_ + "/gateway.ndjson");
    for (std::string line; std::getline(file, line);) {
      for (const json& one : spoiled(json::parse(line))) text << one.dump() << "\n";
    }
    std::ofstream(copy_ + "/gateway.ndjson") << text.str();
  }
  // As before, of one capture only.
  void spoil_capture(const std::function<std::vector<json>(json)>& spoiled) const {
    const std::string key = fixtures::read_sqlite(copy_ + "/store.db")
                                ->value("SELECT max(idempotency_key) FROM onceward_ledger WHERE state = 'succeeded'");
    spoil_gateway(
        [&](const json& line) { return line.value("captured", "") == key ? spoiled(line) : std::vector<json>{line}; });
  }
  // The names of the lines that are wrong.
  std::vector<std::string> wrong() const {
    const Ran ran = fixtures::run({checker, copy_, "-o", "json"});
    const json proof = json::parse(ran.output);
    std::vector<std::string> names;
    for (const json& line : proof.at("lines")) {
      if (!line.at("ok")) names.push_back(line.at("name"));
    }
    EXPECT_EQ(ran.exit_code, names.empty() ? 0 : 1);
    EXPECT_EQ(proof.at("ok"), names.empty());
    return names;
  }

  static inline std::unique_ptr<TemporaryDirectory> kept_;
  static inline Ran ran_;
  const TemporaryDirectory folder_;
  std::string copy_;
};

using Names = std::vector<std::string>;

TEST_F(Checker, HoldsWhenNothingWasSpoiled) { EXPECT_EQ(wrong(), Names{}); }

TEST_F(Checker, SeesALostEffect) {
  spoil("DELETE FROM demo_capture WHERE message_id = (SELECT max(message_id) FROM demo_capture)");
  EXPECT_EQ(wrong(), (Names{"distinct messages", "effects", "lost", "balance, by the sum of captures",
                            "outbox rows: one for each effect", "ledger intents: one for each effect"}));
}

TEST_F(Checker, SeesADoubleEffect) {
  spoil("INSERT INTO demo_capture SELECT * FROM demo_capture LIMIT 1");
  EXPECT_EQ(wrong(), (Names{"effects", "double", "balance, by the sum of captures"}));
}

TEST_F(Checker, SeesAnotherAmount) {
  spoil("UPDATE demo_capture SET amount = amount + 1 WHERE message_id = (SELECT max(message_id) FROM demo_capture)");
  EXPECT_EQ(wrong(), (Names{"wrong content", "balance, by the sum of captures", "outbox rows: one for each effect",
                            "ledger intents: one for each effect"}));
}

TEST_F(Checker, SeesAWrongBalance) {
  spoil("UPDATE demo_balance SET amount = amount - 1");
  EXPECT_EQ(wrong(), (Names{"balance, by what was published", "balance, by the sum of captures"}));
}

TEST_F(Checker, SeesAMissingOutboxRow) {
  spoil("DELETE FROM onceward_outbox WHERE position = (SELECT min(position) FROM onceward_outbox)");
  EXPECT_EQ(wrong(), Names{"outbox rows: one for each effect"});
}

TEST_F(Checker, SeesAMissingIntent) {
  spoil("DELETE FROM onceward_ledger WHERE key = (SELECT min(key) FROM onceward_ledger)");
  EXPECT_EQ(wrong(), (Names{"ledger intents: one for each effect", "captures at the gateway: one for each intent",
                            "charged at the gateway", "requests without an attempt in the ledger"}));
}

TEST_F(Checker, SeesADoubleCapture) {
  spoil_capture([](const json& line) { return std::vector<json>{line, line}; });
  EXPECT_EQ(wrong(),
            (Names{"captures at the gateway: one for each intent", "captured twice", "charged at the gateway"}));
}

TEST_F(Checker, SeesADoubleCaptureUnderAnotherKey) {
  spoil_capture([](json line) {
    std::vector<json> both{line};
    line["captured"] = "a key of nobody's";
    both.push_back(line);
    return both;
  });
  EXPECT_EQ(wrong(),
            (Names{"captures at the gateway: one for each intent", "captured twice", "charged at the gateway"}));
}

TEST_F(Checker, SeesALostCapture) {
  spoil_capture([](const json&) { return std::vector<json>{}; });
  EXPECT_EQ(wrong(), (Names{"captures at the gateway: one for each intent", "charged at the gateway", "captures lost",
                            "outcomes that the gateway contradicts"}));
}

TEST_F(Checker, SeesACaptureOfAnotherAmount) {
  spoil_capture([](json line) {
    line["amount"] = line.at("amount").get<int>() + 1;
    return std::vector<json>{line};
  });
  EXPECT_EQ(wrong(), (Names{"captures at the gateway: one for each intent", "charged at the gateway"}));
}

TEST_F(Checker, SeesAnotherReference) {
  spoil(
      "UPDATE onceward_ledger SET external_ref = 'ch-0' WHERE number = (SELECT min(number) FROM onceward_ledger WHERE "
      "state = 'succeeded')");
  EXPECT_EQ(wrong(), Names{"outcomes that the gateway contradicts"});
}

TEST_F(Checker, SeesARequestThatWasNotWrittenDownBefore) {
  bool once = false;
  spoil_gateway([&](const json& line) {
    if (!line.contains("seen") || std::exchange(once, true)) return std::vector<json>{line};
    return std::vector<json>(10, line);
  });
  EXPECT_EQ(wrong(), Names{"requests without an attempt in the ledger"});
}

TEST_F(Checker, SeesACallThatWasSentAgainWhileItWasUnknown) {
  spoil(
      "INSERT INTO onceward_ledger_attempt (key, number, kind, who, began_at) SELECT a.key, 90, 'call', 'somebody', 0 FROM "
      "onceward_ledger_attempt a JOIN onceward_ledger l ON l.key = a.key WHERE a.outcome = 'unknown' AND NOT EXISTS (SELECT "
      "1 FROM onceward_ledger_attempt n WHERE n.key = a.key AND n.outcome = 'not_done') LIMIT 1");
  EXPECT_EQ(wrong(), Names{"sent again while it was unknown"});
}

TEST_F(Checker, SeesAnUnknownOutcomeThatNobodyLooksAtAndNobodyWasToldOf) {
  spoil(
      "UPDATE onceward_ledger SET state = 'unknown', code = '' WHERE number = (SELECT min(number) FROM onceward_ledger "
      "WHERE state = 'succeeded')");
  EXPECT_EQ(wrong(), Names{"unknown outcomes: resolved, or a person's with a reason"});
}

TEST_F(Checker, SeesACallThatIsUnfinished) {
  spoil(
      "UPDATE onceward_ledger SET state = 'planned', due_at = 0 WHERE number = (SELECT min(number) FROM onceward_ledger "
      "WHERE state = 'succeeded')");
  const Names names = wrong();
  EXPECT_NE(std::ranges::find(names, "calls unfinished"), names.end());
}

TEST_F(Checker, SeesAMissingInboxRow) {
  spoil("DELETE FROM onceward_inbox WHERE key = (SELECT min(key) FROM onceward_inbox)");
  EXPECT_EQ(wrong(), Names{"inbox rows: effects and known outcomes"});
}

TEST_F(Checker, SeesAMissingConflict) {
  spoil(
      "DELETE FROM onceward_quarantine WHERE number = (SELECT min(number) FROM onceward_quarantine WHERE reason = 'conflict')");
  EXPECT_EQ(wrong(), Names{"conflicts parked"});
}

TEST_F(Checker, SeesAConflictThatWasApplied) {
  spoil(
      "INSERT INTO demo_capture SELECT id, json_extract(payload, '$.captureRequestId'), json_extract(payload, '$.invoice'), "
      "json_extract(payload, '$.amount'), 'EUR' FROM onceward_quarantine WHERE reason = 'conflict' LIMIT 1");
  const Names names = wrong();
  EXPECT_NE(std::ranges::find(names, "conflicts applied"), names.end());
  EXPECT_NE(std::ranges::find(names, "double"), names.end());
}

TEST_F(Checker, SeesMissingPoisonOfEachKind) {
  for (const char* reason :
       {"malformed_json", "missing_message_id", "unsupported_schema_version", "missing_correlation_id",
        "missing_capture_request_id", "unclassified", "constraint_violated", "attempts_exhausted"}) {
    spoil(std::string("DELETE FROM onceward_quarantine WHERE reason = '") + reason + "'");
    const Names names = wrong();
    EXPECT_TRUE(std::ranges::any_of(names, [&](const std::string& name) {
      return name.starts_with("parked: ") && name.ends_with(std::string("(") + reason + ")");
    })) << reason;
    EXPECT_NE(std::ranges::find(names, "lost"), names.end()) << reason;
  }
}

TEST_F(Checker, SeesAMissingRejection) {
  spoil("DELETE FROM onceward_inbox_outcome WHERE code = 'amount_not_positive'");
  EXPECT_EQ(wrong(), (Names{"distinct messages", "lost", "recorded: amount not positive (amount_not_positive)"}));
}

TEST_F(Checker, SeesAnInnocentThatWasParked) {
  spoil(
      "UPDATE onceward_quarantine SET id = (SELECT min(message_id) FROM demo_capture) WHERE reason = 'attempts_exhausted'");
  const Names names = wrong();
  EXPECT_NE(std::ranges::find(names, "parked without a cause"), names.end());
}

TEST_F(Checker, SeesANeighbourOfTheKillerThatWasParked) {
  spoil(
      "UPDATE onceward_quarantine SET id = (SELECT message_id FROM demo_capture WHERE message_id < (SELECT id FROM "
      "onceward_quarantine WHERE reason = 'attempts_exhausted') ORDER BY message_id DESC LIMIT 1) "
      "WHERE reason = 'attempts_exhausted'");
  const Names names = wrong();
  EXPECT_NE(std::ranges::find(names, "innocent neighbours of the killer"), names.end());
}

TEST_F(Checker, SeesWhatIsUnfinished) {
  spoil("UPDATE onceward_inbox_outcome SET state = 5 WHERE code = 'missing_correlation_id'");
  EXPECT_EQ(wrong(), Names{"unfinished"});
}

TEST_F(Checker, SeesWhatIsLeftInTheQueue) {
  spoil_queue("INSERT INTO message (position, body) VALUES (1, x'7b7d')");
  EXPECT_EQ(wrong(), Names{"left in the queue"});
}

TEST_F(Checker, SeesThatNobodyWasKilled) {
  std::filesystem::resize_file(copy_ + "/crashes.ndjson", 0);
  EXPECT_EQ(wrong(), (Names{"workers killed with SIGKILL", "workers ended by a message", "gateway killed with SIGKILL",
                            "dispatchers killed with SIGKILL"}));
}

TEST_F(Checker, SeesAWorkerThatFailed) {
  std::ofstream(copy_ + "/crashes.ndjson", std::ios::app) << R"({"worker":0,"pid":1,"signal":11,"exitCode":0})" << "\n";
  EXPECT_EQ(wrong(), Names{"processes ended by themselves"});
}

TEST_F(Checker, SeesADispatcherThatFailed) {
  std::ofstream(copy_ + "/crashes.ndjson", std::ios::app)
      << R"({"dispatcher":0,"pid":1,"signal":6,"exitCode":0})" << "\n";
  EXPECT_EQ(wrong(), Names{"processes ended by themselves"});
}

TEST_F(Checker, RefusesADirectoryOfNoRun) {
  const Ran ran = fixtures::run({checker, folder_.path()});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_NE(ran.output.find("holds no run.json"), std::string::npos) << ran.output;
  EXPECT_EQ(fixtures::run({checker}).exit_code, 2);
}

}  // namespace
}  // namespace onceward
