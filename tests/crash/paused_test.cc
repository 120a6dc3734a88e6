// A worker that is stopped for longer than the queue waits for it, and then goes on as if nothing had been: somebody else
// has its messages by then, and each still has its effect once. No clock decides: the queue is told that its time has passed.
#include "tests/crash/scene.h"

namespace onceward::crash {
namespace {

class PausedWorker : public Scene {
 protected:
  // On return the queue has given up on it.
  std::unique_ptr<fixtures::Process> start_and_stop_at(Point point) {
    auto worker = start({{"point", number_of(point)}});
    await_at(*worker, point);
    give_back_deliveries();
    return worker;
  }
  // It works: what is sent now is done, whoever does it, after all that it held.
  void expect_goes_on(fixtures::Process& first) {
    send({"good", "good"});
    await_rest(first);
    expect_each_once();
  }
};
ONCEWARD_ON_BOTH_STORES(PausedWorker);

TEST_P(PausedWorker, BeforeItBeganFindsDuplicates) {
  send({"good", "later", "good", "never"});
  const auto first = start_and_stop_at(Point::received);
  const auto second = start();
  await_rest(*second);  // it has taken over
  kill(*second);
  first->signal(SIGCONT);
  expect_goes_on(*first);
}

TEST_P(PausedWorker, BeforeItsAckFindsThatSomebodyElseHasAcknowledged) {
  send({"good", "later", "good", "never"});
  const auto first = start_and_stop_at(Point::committed);
  const auto second = start();
  await_rest(*second);
  kill(*second);
  first->signal(SIGCONT);
  expect_goes_on(*first);
}

// It holds its claims: whoever takes over waits for them, or is told that they are held.
TEST_P(PausedWorker, InsideItsTransactionCommitsWhenItGoesOnAndTheOtherFindsDuplicates) {
  send({"good", "good", "good"});
  const auto first = start_and_stop_at(Point::before_commit);
  const auto second = start();
  fixtures::await("the other has them", [&] { return sender_.depth().ready == 0; });
  under_->await_waiter();
  EXPECT_EQ(under_->effects(), 0);
  first->signal(SIGCONT);
  await_rest(*second);
  kill(*second);
  expect_goes_on(*first);
}

}  // namespace
}  // namespace onceward::crash
