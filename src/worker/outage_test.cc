#include "src/worker/outage.h"

#include <gtest/gtest.h>

#include <vector>

namespace onceward {
namespace {

using namespace std::chrono_literals;

class Lines final : public Log {
 public:
  bool wants(LogLevel) const noexcept override { return true; }
  void write(LogLevel, std::string_view message, std::span<const LogField> fields) noexcept override {
    all.emplace_back(message);
    for (const LogField& field : fields) {
      if (field.name == "fault") faults.emplace_back(std::get<std::string_view>(field.value));
    }
  }

  std::vector<std::string> all, faults;
};

class Outages : public testing::Test {
 protected:
  // Until it is told.
  void last(FaultCode code) {
    while (outage_.trouble().empty()) outage_.wait(Fault(code, Poisons::transaction, "why it is so"));
  }

  Handover handover_{10};
  ConsumerTally tally_;
  Lines lines_;
  Outage outage_{handover_, tally_, lines_, "captures"};
};

TEST_F(Outages, AreToldAsWhatTheyAre) {
  const std::pair<FaultCode, std::string> told[] = {
      {FaultCode::busy, "somebody else holds a lock in the store; holding"},
      {FaultCode::lost_race, "every try loses a race in the store; holding"},
      {FaultCode::store_full, "the store is full; holding"},
      {FaultCode::statement_failed, "the store refuses what is ours; holding"},
      {FaultCode::store_unavailable, "the store is away; holding"}};
  for (const auto& [fault, message] : told) {
    last(fault);
    EXPECT_EQ(lines_.all, std::vector{message});
    EXPECT_EQ(lines_.faults, std::vector{std::string(code(fault))});
    EXPECT_EQ(outage_.trouble(), "why it is so");
    EXPECT_EQ(handover_.wait_for_room(0ms).room, 0u) << "nothing more is received";
    outage_.over();
    EXPECT_EQ(lines_.all.back(), "the store works again");
    EXPECT_EQ(handover_.wait_for_room(0ms).room, 10u);
    EXPECT_EQ(outage_.trouble(), "");
    lines_ = {};
  }
  EXPECT_EQ(tally_.outages, std::size(told));
}

TEST_F(Outages, ThatPassSoonAreNotTold) {
  EXPECT_TRUE(outage_.wait(Fault(FaultCode::busy, Poisons::transaction, "a short lock")));
  outage_.over();
  EXPECT_TRUE(lines_.all.empty());
  EXPECT_EQ(tally_.outages, 0u);
}

}  // namespace
}  // namespace onceward
