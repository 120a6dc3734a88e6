#include "adapters/embedded/queue_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/fixtures/process.h"
#include "tests/fixtures/reader.h"

namespace onceward::embedded {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

class QueueFiles : public testing::Test {
 protected:
  // What opening says: "code: text", or "opened".
  static std::string opening(const EmbeddedOptions& options) {
    try {
      open_embedded(options);
      return "opened";
    } catch (const Fault& fault) {
      EXPECT_EQ(fault.poisons(), Poisons::connection);
      return std::string(code(fault.fault())) + ": " + fault.what();
    }
  }
  std::string opening() { return opening({.path = path_, .busy_deadline = std::chrono::milliseconds(200)}); }

  fixtures::TemporaryDirectory directory_;
  std::string path_ = directory_.path() + "/test.queue";
};

TEST_F(QueueFiles, NewFileSaysWhatItIs) {
  EXPECT_EQ(opening(), "opened");
  auto reader = fixtures::read_sqlite(path_);
  EXPECT_EQ(reader->number("PRAGMA application_id"), file_application);
  EXPECT_EQ(reader->number("PRAGMA user_version"), file_version);
  EXPECT_EQ(reader->value("PRAGMA journal_mode"), "wal");
}

TEST_F(QueueFiles, EmptyFileIsNew) {
  fixtures::run_well({"touch", path_});
  EXPECT_EQ(opening(), "opened");
}

TEST_F(QueueFiles, MissingDirectoryIsRefused) {
  path_ = directory_.path() + "/nowhere/test.queue";
  EXPECT_THAT(opening(), AllOf(StartsWith("source_refused: "), HasSubstr("nowhere does not exist; create it")));
}

TEST_F(QueueFiles, DirectoryIsRefused) {
  path_ = directory_.path();
  EXPECT_THAT(opening(), AllOf(StartsWith("source_refused: "), HasSubstr("name a file inside it")));
}

TEST_F(QueueFiles, FileThatIsNoDatabaseIsRefused) {
  fixtures::run_well({"sh", "-c", "yes 'Dear Sir or Madam' | head -c 8192 > " + path_});
  EXPECT_THAT(opening(), AllOf(StartsWith("source_refused: "), HasSubstr("is not a SQLite database"),
                               HasSubstr("name another file")));
}

TEST_F(QueueFiles, DatabaseOfSomebodyElseIsRefusedAndLeftAsItIs) {
  fixtures::read_sqlite(path_)->run("CREATE TABLE invoice (id)");
  EXPECT_THAT(opening(),
              AllOf(StartsWith("source_refused: "), HasSubstr("not a queue"), HasSubstr("name another file")));
  auto reader = fixtures::read_sqlite(path_);
  EXPECT_EQ(reader->value("PRAGMA journal_mode"), "delete");
  EXPECT_EQ(reader->number("SELECT count(*) FROM sqlite_schema"), 1);
}

TEST_F(QueueFiles, DatabaseWithTheMarkOfSomebodyElseIsRefused) {
  fixtures::read_sqlite(path_)->run("PRAGMA application_id=1");
  fixtures::read_sqlite(path_)->run("PRAGMA user_version=1");
  EXPECT_THAT(opening(), AllOf(StartsWith("source_refused: "), HasSubstr("not a queue")));
}

TEST_F(QueueFiles, FileOfAnotherVersionIsRefused) {
  EXPECT_EQ(opening(), "opened");
  for (const int version : {0, 2}) {
    fixtures::read_sqlite(path_)->run("PRAGMA user_version=" + std::to_string(version));
    EXPECT_THAT(opening(), AllOf(StartsWith("source_refused: "), HasSubstr("of version " + std::to_string(version)),
                                 HasSubstr("knows version 1"), HasSubstr("use the program that made it")));
  }
}

// Root may write everything: there a child gives its rights away.
TEST_F(QueueFiles, ReadOnlyFileIsRefused) {
  EXPECT_EQ(opening(), "opened");
  chmod(path_.c_str(), 0444);
  chmod(directory_.path().c_str(), 0555);
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    const bool plain = geteuid() != 0 || (setgid(65534) == 0 && setuid(65534) == 0);
    const std::string said = plain ? opening() : "cannot give root away";
    [[maybe_unused]] const auto written = write(pipe_ends[1], said.data(), said.size());
    _exit(0);
  }
  close(pipe_ends[1]);
  std::string said(4096, '\0');
  said.resize(static_cast<std::size_t>(std::max<ssize_t>(0, read(pipe_ends[0], said.data(), said.size()))));
  close(pipe_ends[0]);
  waitpid(child, nullptr, 0);
  chmod(directory_.path().c_str(), 0755);
  EXPECT_THAT(said, AllOf(StartsWith("source_refused: "), HasSubstr("permissions")));
}

TEST_F(QueueFiles, LockHeldBySomebodyElseIsUnavailable) {
  EXPECT_EQ(opening(), "opened");
  auto holder = fixtures::read_sqlite(path_);
  holder->run("BEGIN IMMEDIATE");
  EXPECT_THAT(opening({.path = path_, .queue = "new", .busy_deadline = std::chrono::milliseconds(50)}),
              AllOf(StartsWith("source_unavailable: "), HasSubstr("write lock")));
  holder->run("ROLLBACK");
  EXPECT_EQ(opening({.path = path_, .queue = "new"}), "opened");
}

TEST_F(QueueFiles, NumberOfQueuesIsLimited) {
  EXPECT_EQ(opening(), "opened");
  fixtures::read_sqlite(path_)->run(
      "WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) "
      "INSERT INTO queue SELECT i, 'q' || i, i << 42, i << 42 FROM n");
  EXPECT_EQ(opening({.path = path_, .queue = "q1000"}), "opened");
  EXPECT_THAT(opening({.path = path_, .queue = "one-more"}),
              AllOf(StartsWith("source_refused: "), HasSubstr("1000 queues"), HasSubstr("use another file")));
}

TEST(SourceFaults, WhatPassesIsUnavailableAndTheRestIsRefused) {
  for (const FaultCode code :
       {FaultCode::busy, FaultCode::lost_race, FaultCode::store_full, FaultCode::store_unavailable}) {
    EXPECT_EQ(as_source_fault({code, Poisons::transaction, "why"}, "a").fault(), FaultCode::source_unavailable);
  }
  for (const FaultCode code : {FaultCode::store_refused, FaultCode::store_read_only, FaultCode::store_corrupt,
                               FaultCode::version_affected, FaultCode::statement_failed}) {
    EXPECT_EQ(as_source_fault({code, Poisons::transaction, "why"}, "a").fault(), FaultCode::source_refused);
  }
  EXPECT_STREQ(as_source_fault({FaultCode::busy, Poisons::transaction, "why", "5"}, "a").what(), "embedded:a: why");
  EXPECT_EQ(as_source_fault({FaultCode::busy, Poisons::transaction, "why", "5"}, "a").store_code(), "5");
}

}  // namespace
}  // namespace onceward::embedded
