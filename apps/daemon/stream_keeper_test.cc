// `onceward run` on Kafka with offsets = "store", looked at from outside: by the topic and by the database.
#include <gmock/gmock.h>
#include <signal.h>

#include "apps/daemon/suite.h"
#include "onceward/adapter/postgres.h"
#include "tests/fixtures/kafka.h"
#include "tests/fixtures/postgres_database.h"

namespace onceward::daemon {
namespace {

using fixtures::KafkaRecord;
using fixtures::Process;
using testing::HasSubstr;

class RunningByPosition : public Running {
 protected:
  RunningByPosition() {
    open_postgres({.url = database_.url()})->migrate();
    reader_->run("CREATE TABLE effect (message text NOT NULL)");
  }

  void write_consumer(const std::string& more = {}) {
    std::ofstream(file_) << "[store]\nurl = \"" << database_.url() << "\"\n[admin]\nlisten = \"127.0.0.1:0\"\n"
                         << "[[consumer]]\nname = \"captures\"\nowner = \"payments\"\nworkers = 2\nbatch = 50\n"
                         << "time_bound = \"5s\"\n"
                         << "source = \"" << topic_.url() << "\"\norder = \"partition\"\n"
                         << "identity.producer = \"shop\"\n"
                         << more << "sql = [\"" << insert << "\"]\n";
  }
  static constexpr const char* by_position = "offsets = \"store\"\ntrust_producer = true\n";

  // Whose ids are numbers.
  void send_records(int from, int to) {
    std::vector<KafkaRecord> records = fixtures::numbered_records(from, to, partitions);
    for (KafkaRecord& record : records) record.headers = {{"id", *record.value}};
    topic_.send(records);
  }
  std::int64_t effects() { return reader_->number("SELECT count(*) FROM effect"); }
  void expect_each_once(int count) {
    EXPECT_EQ(effects(), count);
    EXPECT_EQ(reader_->number("SELECT count(DISTINCT message) FROM effect"), count);
    EXPECT_EQ(reader_->number("SELECT sum(next) FROM onceward.position"), count);
    EXPECT_EQ(topic_.read().size(), static_cast<std::size_t>(count));
    EXPECT_EQ(reader_->number("SELECT count(*) FROM onceward.inbox"), 0);
  }

  static constexpr int partitions = 3;
  fixtures::KafkaTopic topic_{partitions};
  fixtures::PostgresDatabase database_;
  std::unique_ptr<fixtures::Reader> reader_ = fixtures::read_postgres(database_.url());
};

TEST_F(RunningByPosition, EveryPositionIsAppliedOnceOverKills) {
  write_consumer(by_position);
  constexpr int rounds = 2, each = 600;
  for (int round = 0; round < rounds; ++round) {
    const auto process = start();
    send_records(round * each, (round + 1) * each);
    fixtures::await("it is in the middle of it", [&] { return effects() > round * each + 50; });
    process->signal(SIGKILL);
    process->wait();
  }
  const auto process = start();
  fixtures::await("all are applied", [&] { return effects() >= rounds * each; });
  process->signal(SIGTERM);
  EXPECT_EQ(process->wait(), 0) << process->output();
  expect_each_once(rounds * each);
}

// It wakes up as a stranger, with messages in hand that its successor has applied. It may be stopped inside a transaction: its
// successor waits for the server to end that session, after two time bounds.
TEST_F(RunningByPosition, StoppedProcessThatWakesUpAppliesNothingTwice) {
  write_consumer(by_position);
  const auto late = start_and_await_work();
  send_records(0, 3000);
  fixtures::await("it is in the middle of it", [&] { return effects() > 0; });
  late->signal(SIGSTOP);
  const auto successor = start();
  fixtures::await("the successor has applied the rest", [&] { return effects() >= 3000; });
  late->signal(SIGCONT);
  send_records(3000, 3300);
  fixtures::await("they work together", [&] { return effects() >= 3300; });
  for (Process* const process : {late.get(), successor.get()}) {
    process->signal(SIGTERM);
    EXPECT_EQ(process->wait(), 0) << process->output();
  }
  EXPECT_THAT(late->output(), HasSubstr("somebody else has taken over"));
  expect_each_once(3300);
}

// As when its database has failed over: the positions, and the effects with them, are those of a while ago.
TEST_F(RunningByPosition, WhatTheDatabaseHasLostIsAppliedAgain) {
  write_consumer(by_position);
  send_records(0, 300);
  const auto process = start();
  fixtures::await("all are applied", [&] { return effects() == 300; });
  reader_->run("UPDATE onceward.position SET next = 90");
  reader_->run("DELETE FROM effect WHERE message::int >= 270");
  send_records(300, 330);
  fixtures::await("what was lost is there again", [&] { return effects() >= 330; });
  process->signal(SIGTERM);
  EXPECT_EQ(process->wait(), 0) << process->output();
  EXPECT_THAT(process->output(), HasSubstr("the store has lost what came before them"));
  expect_each_once(330);
}

// As documented: the producer is trusted.
TEST_F(RunningByPosition, WhatIsPublishedTwiceIsAppliedTwice) {
  write_consumer(by_position);
  const KafkaRecord record{.key = "k", .value = "{}", .headers = {{"id", "1"}}, .partition = 0};
  topic_.send({record, record});
  const auto process = start();
  fixtures::await("both are applied", [&] { return effects() == 2; });
}

TEST_F(RunningByPosition, MessagesWithoutAnIdAreKnownByTheirPlace) {
  write_consumer(by_position);
  topic_.send({{.key = "k", .value = "{}", .partition = 1}});
  const auto process = start();
  fixtures::await("it is applied", [&] { return effects() == 1; });
  EXPECT_EQ(reader_->read("SELECT message FROM effect")[0][0], topic_.name() + "/1@0");
}

TEST_F(RunningByPosition, ConsumerThatWasDeclaredOtherwiseIsRefused) {
  write_consumer();
  {
    const auto process = start_and_await_work();
    process->signal(SIGTERM);
    EXPECT_EQ(process->wait(), 0) << process->output();
  }
  write_consumer(by_position);
  const fixtures::Ran ran = run_to_the_end(file_);
  EXPECT_NE(ran.exit_code, 0);
  EXPECT_THAT(ran.output, HasSubstr("another identity policy (offsets differ)"));
}

}  // namespace
}  // namespace onceward::daemon
