// Processes that are killed, or stopped past their lease, in the middle of a request.
#include <signal.h>

#include <fstream>

#include "tests/fixtures/process.h"
#include "tests/ingress/suite.h"

namespace onceward {
namespace {

using fixtures::Process;

bool is_stopped(pid_t pid) {
  std::string line;
  std::getline(std::ifstream("/proc/" + std::to_string(pid) + "/stat"), line);
  return line.find(") T ") != line.npos;
}

class CrashAtTheFrontDoor : public FrontDoor {
 protected:
  // On return it has stopped itself there.
  std::unique_ptr<Process> stopped_at(const std::string& place) {
    auto process = std::make_unique<Process>(std::vector<std::string>{
        ONCEWARD_TEST_PROGRAMS "/asking", under_->address(), "k1", place, std::to_string(options_.lease.count())});
    fixtures::await("it is at " + place, [&] {
      if (!process->running()) throw std::runtime_error("it has ended: " + process->output());
      return process->output().find("at " + place + "\n") != std::string::npos && is_stopped(process->pid());
    });
    return process;
  }
  void kill_at(const std::string& place) {
    const auto process = stopped_at(place);
    process->signal(SIGKILL);
    EXPECT_EQ(process->wait(), 128 + SIGKILL);
    under_->await_rest();
  }
  static std::string wake(Process& process) {
    process.signal(SIGCONT);
    EXPECT_EQ(process.wait(), 0) << process.output();
    const std::string output = process.output();
    const std::size_t at = output.find("answered ");
    return at == std::string::npos ? output : output.substr(at);
  }
};
ONCEWARD_ON_EVERY_STORE(CrashAtTheFrontDoor);

TEST_P(CrashAtTheFrontDoor, BeforeTheCommitIsMendedByTheNextTryOnceTheLeaseIsOver) {
  for (const char* place : {"reserved", "handling", "completed"}) {
    reader().run("DELETE FROM effect");
    reader().run("DELETE FROM " + under_->table("ingress"));
    kill_at(place);
    EXPECT_EQ(effects(), 0) << place;
    EXPECT_EQ(ask().status, 409u) << place;
    let_pass("lease_until");
    const IngressAnswer answer = ask();
    EXPECT_EQ(answer.status, 201u) << place;
    EXPECT_FALSE(answer.repeated) << place;
    EXPECT_EQ(effects(), 1) << place;
  }
}

// No time is set: the lease of one second ends by itself.
TEST_P(CrashAtTheFrontDoor, FreesTheKeyByTheStoresClock) {
  options_.lease = std::chrono::seconds(1);
  kill_at("reserved");
  unsigned status = 0;
  fixtures::await("the lease is over", [&] { return (status = ask().status) != 409; });
  EXPECT_EQ(status, 201u);
  EXPECT_EQ(effects(), 1);
}

TEST_P(CrashAtTheFrontDoor, AfterTheCommitLeavesTheAnswerToTheNextTry) {
  kill_at("committed");
  const IngressAnswer answer = ask();
  EXPECT_EQ(answer.status, 201u);
  EXPECT_TRUE(answer.repeated);
  EXPECT_EQ(answer.body, "by the process");
  EXPECT_EQ(effects(), 1);
}

TEST_P(CrashAtTheFrontDoor, APauseBeforeTheEffectPastTheLeaseIsFenced) {
  const auto process = stopped_at("reserved");
  EXPECT_EQ(ask().status, 409u);
  let_pass("lease_until");
  EXPECT_EQ(ask().status, 201u);
  EXPECT_EQ(wake(*process), "answered 409\n");
  EXPECT_EQ(effects(), 1);
  EXPECT_NE(ask().body, "by the process");
}

TEST_P(CrashAtTheFrontDoor, APauseIsFencedAlsoWhileTheOtherStillWorks) {
  const auto process = stopped_at("reserved");
  reader().run("UPDATE " + under_->table("ingress") + " SET owner = 'another'");
  EXPECT_EQ(wake(*process), "answered 409\n");
  EXPECT_EQ(effects(), 0);
  EXPECT_EQ(ask().status, 409u);
}

TEST_P(CrashAtTheFrontDoor, APauseThatNobodyUsedDoesNoHarm) {
  const auto process = stopped_at("reserved");
  let_pass("lease_until");
  EXPECT_EQ(wake(*process), "answered 201\n");
  EXPECT_TRUE(ask().repeated);
  EXPECT_EQ(effects(), 1);
}

// Where others can go on while its transaction is open.
class PauseAtTheFrontDoor : public CrashAtTheFrontDoor {};
INSTANTIATE_TEST_SUITE_P(Store, PauseAtTheFrontDoor,
                         testing::ValuesIn(fixtures::backends_that(&fixtures::Capabilities::concurrent_units)),
                         backend_name);

TEST_P(PauseAtTheFrontDoor, InsideTheHandlerPastTheLeaseIsFenced) {
  const auto process = stopped_at("handling");
  EXPECT_EQ(ask().status, 409u);
  let_pass("lease_until");
  EXPECT_EQ(ask().status, 201u);
  EXPECT_EQ(wake(*process), "answered 409\n");
  EXPECT_EQ(effects(), 1);
}

// Its row is held: whoever comes then is told by its lease, and finds the answer when it goes on.
TEST_P(PauseAtTheFrontDoor, BeforeTheCommitKeepsTheKey) {
  const auto process = stopped_at("completed");
  EXPECT_EQ(ask().status, 409u);
  EXPECT_EQ(wake(*process), "answered 201\n");
  EXPECT_TRUE(ask().repeated);
  EXPECT_EQ(effects(), 1);
}

}  // namespace
}  // namespace onceward
