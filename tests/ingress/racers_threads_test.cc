// Many who ask the same at once: one effect, and all are given its answer in the end.
#include <atomic>
#include <barrier>
#include <set>
#include <thread>

#include "tests/fixtures/waiting.h"
#include "tests/ingress/suite.h"

namespace onceward {
namespace {

constexpr int racers = 20;

class RacersAtTheFrontDoor : public FrontDoor {};
ONCEWARD_ON_EVERY_STORE(RacersAtTheFrontDoor);

TEST_P(RacersAtTheFrontDoor, HaveOneEffectAndOneAnswer) {
  std::barrier start(racers);
  std::atomic<int> firsts = 0, repeats = 0, unexpected = 0;
  const auto race = [&](int round) {
    const auto store = under_->open();
    const Asked asked{.key = "round " + std::to_string(round)};
    start.arrive_and_wait();
    for (;;) {
      const IngressAnswer answer = ask_at(*store, asked);
      if (answer.status == 409) {
        std::this_thread::yield();
        continue;
      }
      if (answer.status != 201 || answer.body != R"({"done":")" + asked.key + "\"}") ++unexpected;
      ++(answer.repeated ? repeats : firsts);
      return;
    }
  };
  for (int round = 1; round <= 3; ++round) {
    {
      std::vector<std::jthread> threads;
      for (int i = 0; i < racers; ++i) threads.emplace_back(race, round);
    }
    EXPECT_EQ(effects(), round);
    EXPECT_EQ(firsts, round);
    EXPECT_EQ(repeats, round * (racers - 1));
    EXPECT_EQ(unexpected, 0);
  }
}

// Two requests race for one key: whichever is first has its effect, the other is told that the key is used.
TEST_P(RacersAtTheFrontDoor, WithDifferentRequestsHaveOneEffect) {
  std::barrier start(racers);
  std::atomic<int> done = 0, refused = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < racers; ++i) {
      threads.emplace_back([&, i] {
        const auto store = under_->open();
        start.arrive_and_wait();
        const IngressAnswer answer = ask_at(*store, {.body = std::to_string(i)});
        ++(answer.status == 201 ? done : refused);
        if (answer.status != 201) EXPECT_EQ(answer.status, 422u);
      });
    }
  }
  EXPECT_EQ(effects(), 1);
  EXPECT_EQ(done, 1);
  EXPECT_EQ(refused, racers - 1);
}

}  // namespace
}  // namespace onceward
