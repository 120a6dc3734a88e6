// Commits that were asked for and not answered, where nothing is claimed that would answer for them.
#include <atomic>

#include "tests/crash/forwarding_source.h"
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
  // The same of several; they are handed out together again, in their order.
  void push_suspects(const std::vector<std::string>& ids) {
    std::vector<fixtures::Message> messages;
    for (const std::string& id : ids) messages.push_back({.id = id});
    push(messages);
    std::vector<Delivery> received;
    queue_.open()->receive(received, ids.size(), 1s);
    ASSERT_EQ(received.size(), ids.size());
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
    unit->park(envelope, "missing_id", "");
    ASSERT_EQ(unit->commit(), Commit::committed);
    under_->reader().run("UPDATE " + under_->table("quarantine") + " SET state = 'retrying', retry_at = " +
                         (GetParam().capabilities.typed_columns ? "now()" : "1") + " WHERE state = 'parked'");
  }
  // A source that does not count deliveries.
  class Forgetful final : public crash::ForwardingSource {
   public:
    using ForwardingSource::ForwardingSource;
    void receive(std::vector<Delivery>& into, std::size_t most, std::chrono::milliseconds wait) override {
      ForwardingSource::receive(into, most, wait);
      for (Delivery& delivery : into) {
        delivery.redelivered = true;
        delivery.deliveries = 0;
      }
    }
  };
  void work_off_forgetfully(DoubtingStore::Decide decide) {
    std::jthread worker([&](std::stop_token stop) {
      const auto store = under_->open(waits_);
      DoubtingStore doubting(*store, decide);
      const auto real = queue_.open();
      Forgetful source(*real);
      Worker(declaration_, MessageHandler(insert_effect), doubting, source, tally_).run(stop, 20s);
    });
    fixtures::await("the queue is empty", [&] { return idle(); });
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

TEST_P(Doubts, AboutTheStartsOfThoseOfUnknownHistoryCountThemOnce) {
  for (const Fate fate : {Fate::lands_unanswered, Fate::is_lost}) {
    under_->reader().run("DELETE FROM " + under_->table("attempt"));
    const std::string name = fate == Fate::is_lost ? "lost" : "landed";
    push({{.id = name + "1"}, {.id = name + "2"}, {.id = name + "3"}});
    int doubts = 0;
    work_off_forgetfully([&](bool of_starts) { return of_starts && doubts++ == 0 ? fate : Fate::answered; });
    EXPECT_EQ(starts(), 3) << name;
  }
  EXPECT_EQ(under_->effects(), 6);
}

// Copies of one message are one attempt at it.
TEST_P(Doubts, CopiesThatComeTogetherAreStartedOnce) {
  push_suspects({"a", "a", "a", "a", "b"});
  work_off(MessageHandler(insert_effect));
  EXPECT_EQ(starts(), 2);
  push({{.id = "c"}, {.id = "c"}, {.id = "d"}, {.id = "c"}});
  work_off_forgetfully([](bool) { return Fate::answered; });
  EXPECT_EQ(starts(), 4);
  EXPECT_EQ(under_->effects(), 4);
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

// There is always another one that is due, and the one that has to run alone has its turn nevertheless.
TEST_P(Doubts, OfAKeptMessageDoNotWaitForTheEndOfAllRetries) {
  declaration_.retry = {.attempts = 100, .first_delay = 1ms, .longest_delay = 1ms};
  declaration_.time_bound = 1s;
  keep_under_way("k");
  const std::jthread pushing([&](std::stop_token stop) {
    for (int id = 0; !stop.stop_requested(); ++id) {
      push_numbered(1, id);
      std::this_thread::sleep_for(2ms);
    }
  });
  std::jthread worker([&](std::stop_token stop) {
    const auto store = under_->open(waits_);
    const auto source = queue_.open();
    Worker(declaration_, MessageHandler([](const Envelope& message, Transaction& transaction) -> Outcome {
             if (message.message_id().text() == "k") return insert_effect(message, transaction);
             std::this_thread::sleep_for(2ms);  // by then the next one is due
             return Retry{"not_yet"};
           }),
           *store, *source, tally_)
        .run(std::move(stop), 20s);
  });
  fixtures::await("it has had its turn", [&] { return under_->effects() == 1; });
}

// As a message does that fails anew in each round: nothing is waited for, and every try is followed by another.
TEST_P(Doubts, ThatHaveNoEndEndWithTheTimeToDrain) {
  for (const bool suspect : {false, true}) {
    suspect ? push_suspect("b") : push({{.id = "a"}});
    std::atomic<int> lost = 0;
    std::atomic<bool> mended = false;
    std::jthread worker([&](std::stop_token stop) {
      work(stop, [&](bool) { return ++lost, mended ? Fate::answered : Fate::is_lost; }, 100ms);
    });
    fixtures::await("it tries again and again", [&] { return lost > 5; });
    std::atomic<bool> ended = false;
    std::jthread stopping([&] {
      worker.request_stop();
      worker.join();
      ended = true;
    });
    for (const auto end = std::chrono::steady_clock::now() + 20s; !ended && std::chrono::steady_clock::now() < end;) {
      std::this_thread::sleep_for(2ms);
    }
    EXPECT_TRUE(ended) << "it goes on as if nobody had asked it to stop";
    mended = true;
    stopping.join();
    EXPECT_EQ(under_->effects(), 0);
    EXPECT_EQ(queue_.depth().in_flight, 0u);
    work_off(MessageHandler(insert_effect));
    under_->reader().run("DELETE FROM effect");
  }
}

// Asked for again ever more slowly, and said so: a store that never answers is no reason to burn a processor.
TEST_P(Doubts, ThatHaveNoEndAreToldAndTriedEverMoreSlowly) {
  for (const bool of_the_batch : {true, false}) {  // or of looking for what is due
    const std::uint64_t outages = tally_.outages, received = tally_.received;
    const std::int64_t effects = under_->effects();
    std::atomic<int> lost = 0;
    std::atomic<bool> mended = false;
    std::jthread worker([&](std::stop_token stop) {
      work(stop, [&](bool) {
        if (mended || (of_the_batch && tally_.received == received)) return Fate::answered;
        return ++lost, Fate::is_lost;
      });
    });
    if (of_the_batch) push({{.id = "a"}});
    fixtures::await("it is told", [&] { return tally_.outages > outages; });
    const int told = lost;
    EXPECT_LT(told, 10);
    std::this_thread::sleep_for(500ms);
    EXPECT_LT(lost - told, 10);
    mended = true;
    if (!of_the_batch) push({{.id = "b"}});
    fixtures::await("it goes on", [&] { return under_->effects() == effects + 1; });
  }
}

}  // namespace
}  // namespace onceward
