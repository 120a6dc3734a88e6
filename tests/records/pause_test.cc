#include "src/records/pause.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "tests/records/doubtful_store.h"
#include "tests/records/suite.h"

namespace onceward::records {
namespace {

class Pauses : public OnEveryStore {
 protected:
  std::int64_t audited(const std::string& action) {
    return reader().number(fmt::format("SELECT count(*) FROM {} WHERE action = '{}'", table("audit"), action));
  }
};

TEST_P(Pauses, SayWhoAndWhyUntilTheTargetIsResumed) {
  EXPECT_TRUE(pause_target(*store_, "orders", "anna", "the broker is moved"));
  EXPECT_TRUE(pause_target(*store_, "mails", "ben", "too many"));
  const auto pauses = list_pauses(*store_);
  ASSERT_EQ(pauses.size(), 2u);
  EXPECT_EQ(pauses[0].target, "mails");
  EXPECT_EQ(pauses[1].target, "orders");
  EXPECT_EQ(pauses[1].who, "anna");
  EXPECT_EQ(pauses[1].why, "the broker is moved");
  EXPECT_LT(std::chrono::abs(std::chrono::system_clock::now() - pauses[1].at), std::chrono::minutes(1));
  EXPECT_TRUE(resume_target(*store_, "orders", "carl", "it was moved"));
  ASSERT_EQ(list_pauses(*store_).size(), 1u);
  EXPECT_EQ(list_pauses(*store_)[0].target, "mails");
}

TEST_P(Pauses, AreAuditedInTheSameTransaction) {
  pause_target(*store_, "orders", "anna", "the broker is moved");
  resume_target(*store_, "orders", "carl", "it was moved");
  const TextRows audit =
      reader().read("SELECT who, action, reason, object, detail FROM " + table("audit") + " ORDER BY number");
  ASSERT_EQ(audit.size(), 2u);
  EXPECT_EQ(audit[0][0], "anna");
  EXPECT_EQ(audit[0][1], "outbox.pause");
  EXPECT_EQ(audit[0][2], "the broker is moved");
  EXPECT_EQ(audit[0][3], "target/orders");
  EXPECT_EQ(nlohmann::json::parse(*audit[0][4]).at("target"), "orders");
  EXPECT_EQ(audit[1][0], "carl");
  EXPECT_EQ(audit[1][1], "outbox.resume");
  without_audit([&] {
    EXPECT_EQ(fault_of([&] { pause_target(*store_, "orders", "anna", "again"); }), FaultCode::statement_failed);
  });
  EXPECT_EQ(list_pauses(*store_).size(), 0u);
}

TEST_P(Pauses, WhatIsSoAlreadyIsNotChangedNorAudited) {
  EXPECT_FALSE(resume_target(*store_, "orders", "anna", "why"));
  EXPECT_TRUE(pause_target(*store_, "orders", "anna", "first"));
  EXPECT_FALSE(pause_target(*store_, "orders", "ben", "second"));
  EXPECT_EQ(list_pauses(*store_).at(0).who, "anna");
  EXPECT_EQ(under_->rows_in("audit"), 1);
}

TEST_P(Pauses, ACommitInDoubtIsOneChangeWhetherItLandedOrNot) {
  for (const bool lands : {true, false}) {
    const std::string target = lands ? "landed" : "lost";
    DoubtfulStore pausing(*store_, lands), resuming(*store_, lands);
    EXPECT_TRUE(pause_target(pausing, target, "anna", "why"));
    EXPECT_EQ(list_pauses(*store_).size(), 1u);
    EXPECT_TRUE(resume_target(resuming, target, "anna", "why"));
    EXPECT_EQ(list_pauses(*store_).size(), 0u);
  }
  EXPECT_EQ(audited("outbox.pause"), 2);
  EXPECT_EQ(audited("outbox.resume"), 2);
}

TEST_P(Pauses, NeedATargetAndWhoAndWhy) {
  EXPECT_THROW(pause_target(*store_, "", "anna", "why"), std::invalid_argument);
  EXPECT_THROW(pause_target(*store_, std::string(256, 'a'), "anna", "why"), std::invalid_argument);
  EXPECT_THROW(pause_target(*store_, "orders", "", "why"), std::invalid_argument);
  EXPECT_THROW(resume_target(*store_, "orders", "anna", " "), std::invalid_argument);
  EXPECT_EQ(list_pauses(*store_).size(), 0u);
}

ONCEWARD_ON_EVERY_STORE(Pauses);

}  // namespace
}  // namespace onceward::records
