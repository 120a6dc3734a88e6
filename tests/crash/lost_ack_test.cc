// A broker that goes away between the commit and the acknowledgement: what was not confirmed is counted, comes back, and is
// a duplicate then.
#include "tests/crash/forwarding_source.h"
#include "tests/crash/scene.h"
#include "tests/crash/worked.h"

namespace onceward::crash {
namespace {

class SourceThatLosesAnAck final : public ForwardingSource {
 public:
  using ForwardingSource::ForwardingSource;

  void settle(std::span<const Settlement> settlements) override {
    if (lost_ == 0) {
      lost_ = settlements.size();
      throw Fault(FaultCode::source_unavailable, Poisons::connection, "the broker is gone");
    }
    ForwardingSource::settle(settlements);
  }
  SourceCounters counters() const override {
    SourceCounters counters = ForwardingSource::counters();
    counters.settle_failed += lost_;
    return counters;
  }

 private:
  std::uint64_t lost_ = 0;  // of the source's thread
};

class LostAck : public Scene {};
ONCEWARD_ON_BOTH_STORES(LostAck);

TEST_P(LostAck, AfterTheCommitIsCountedAndHarmless) {
  send({"good", "good", "good"});
  const auto store = under_->open();
  const auto queue = open_embedded({.path = queue_path_});
  SourceThatLosesAnAck source(*queue);
  const Worked worker(apply_whole, *store, source);
  fixtures::await("the ack is lost", [&] { return worker.tally().settle_failed == 3; });
  EXPECT_EQ(under_->effects(), 3);
  EXPECT_EQ(sender_.depth().in_flight, 3u);
  give_back_deliveries();
  fixtures::await("everything is settled", [&] { return worker.tally().settled == 3; });
  EXPECT_EQ(worker.tally().duplicate, 3u);
  EXPECT_EQ(worker.trouble(), "");
  EXPECT_EQ(under_->rows_in("attempt"), 0);
  expect_each_once();
}

}  // namespace
}  // namespace onceward::crash
