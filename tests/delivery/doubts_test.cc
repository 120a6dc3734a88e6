// Commits that were asked for and not answered, where nothing is claimed that would answer for them.
#include <atomic>

#include "tests/delivery/doubting_store.h"
#include "tests/delivery/workplace.h"

namespace onceward {
namespace {

using fixtures::insert_effect;
using namespace std::chrono_literals;

class Doubts : public Workplace {
 protected:
  // Works until one more message has had its effect; the first commit of a start comes to `fate`.
  void work_with_the_first_start(Fate fate) {
    const std::int64_t effects = under_->effects();
    int doubts = 0;
    {
      std::jthread worker([&](std::stop_token stop) {
        work(stop, [&](bool starts) { return starts && doubts++ == 0 ? fate : Fate::answered; });
      });
      fixtures::await("it has had its effect", [&] { return idle() && under_->effects() > effects && waiting() == 0; });
    }
    EXPECT_EQ(under_->effects(), effects + 1);
    EXPECT_GE(doubts, 1);
  }
  void work(std::stop_token stop, DoubtingStore::Decide decide, std::chrono::milliseconds drain = 20s) {
    const auto store = under_->open(waits_);
    DoubtingStore doubting(*store, std::move(decide));
    const auto source = queue_.open();
    Worker(declaration_, MessageHandler(insert_effect), doubting, *source, tally_).run(std::move(stop), drain);
  }

  // Delivered, and given back by a worker that has ended.
  void push_suspect(const std::string& id) {
    push({{.id = id}});
    std::vector<Delivery> received;
    queue_.open()->receive(received, 1, 1s);
    ASSERT_EQ(received.size(), 1u);
  }
  // Taken for its next attempt by a worker that has ended.
  void keep_under_way(const std::string& id) {
    const auto store = under_->open();
    const Enrolled enrolled = store->enroll(declaration_);
    const fixtures::Inbound inbound(declaration_, {{.id = id}});
    fixtures::apply(*store, enrolled, inbound,
                    [](const Envelope&, Transaction&) -> Outcome { return Retry{"not_yet", 0ms}; });
    const auto unit = store->begin(enrolled);
    ASSERT_EQ(unit->take_due(1, 0ms).size(), 1u);
    ASSERT_EQ(unit->commit(), Commit::committed);
  }
  // Refused before it had an identity, and sent again by a person.
  void send_again(const std::string& id) {
    const auto store = under_->open();
    const Enrolled enrolled = store->enroll(declaration_);
    const auto unit = store->begin(enrolled);
    const Envelope envelope = fixtures::envelope_of({.id = id});
    unit->park(envelope, enrolled, "missing_id", "");
    ASSERT_EQ(unit->commit(), Commit::committed);
    under_->reader().run("UPDATE " + under_->table("quarantine") + " SET state = 'retrying', retry_at = " +
                         (GetParam().capabilities.typed_columns ? "now()" : "1") + " WHERE state = 'parked'");
  }
  std::int64_t starts() {
    return under_->reader().number("SELECT count(*) FROM " + under_->table("attempt") + " WHERE kind = 'start'");
  }
};
ONCEWARD_AT_EVERY_STORE(Doubts);

TEST_P(Doubts, AboutTheStartOfASuspectCountItOnce) {
  push_suspect("a");
  work_with_the_first_start(Fate::lands_unanswered);
  EXPECT_EQ(starts(), 1);
  push_suspect("b");
  work_with_the_first_start(Fate::is_lost);
  EXPECT_EQ(starts(), 2);
}

TEST_P(Doubts, AboutTheStartOfAKeptMessageCountItOnce) {
  declaration_.time_bound = 1s;  // and a third of the lease for which the message would wait
  keep_under_way("a");
  work_with_the_first_start(Fate::lands_unanswered);
  EXPECT_EQ(starts(), 1);
  keep_under_way("b");
  work_with_the_first_start(Fate::is_lost);
  EXPECT_EQ(starts(), 2);
}

TEST_P(Doubts, AboutTheStartOfAMessageThatWasSentAgainCountItOnce) {
  declaration_.time_bound = 1s;
  send_again("a");
  work_with_the_first_start(Fate::lands_unanswered);
  send_again("b");
  work_with_the_first_start(Fate::is_lost);
  EXPECT_EQ(under_->reader().number("SELECT count(*) FROM " + under_->table("quarantine") +
                                    " WHERE state = 'resolved' AND attempts = 1"),
            2);
}

}  // namespace
}  // namespace onceward
