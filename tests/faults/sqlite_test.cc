// SQLite under errors of its file, a full disk and a second process.
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "onceward/adapter/sqlite.h"
#include "tests/faults/faulty_vfs.h"
#include "tests/faults/world.h"
#include "tests/fixtures/process.h"
#include "tests/fixtures/waiting.h"

namespace onceward::faults {
namespace {

using enum Verdict;
using namespace std::chrono_literals;

class TroubledFile : public testing::Test {
 protected:
  void SetUp() override {
    auto store = open();
    store->migrate();
    enrolled_ = store->enroll(declaration_);
    read_sqlite(path_)->run("CREATE TABLE effect (message text NOT NULL, note text)");
  }
  std::unique_ptr<Store> open(std::chrono::milliseconds patience = 30s) {
    return open_sqlite({.path = path_, .busy_deadline = patience});
  }
  std::int64_t effects() { return read_sqlite(path_)->number("SELECT count(*) FROM effect"); }
  void expect_whole() {
    auto reader = read_sqlite(path_);
    EXPECT_EQ(reader->value("PRAGMA integrity_check"), "ok");
    expect_all_or_nothing(*reader, "onceward_");
  }

  // What `act` says, or the Fault that it throws. Root may write everything: there a child gives its rights away.
  template <class Act>
  static std::string said_without_rights(Act act) {
    int pipe_ends[2];
    if (pipe(pipe_ends) != 0) return "no pipe";
    const pid_t child = fork();
    if (child == 0) {
      std::string said = "cannot give root away";
      try {
        if (geteuid() != 0 || (setgid(65534) == 0 && setuid(65534) == 0)) said = act();
      } catch (const Fault& fault) {
        said = std::string(code(fault.fault())) + ": " + fault.what();
      }
      [[maybe_unused]] const auto written = write(pipe_ends[1], said.data(), said.size());
      _exit(0);
    }
    close(pipe_ends[1]);
    std::string said(4096, '\0');
    said.resize(static_cast<std::size_t>(std::max<ssize_t>(0, read(pipe_ends[0], said.data(), said.size()))));
    close(pipe_ends[0]);
    waitpid(child, nullptr, 0);
    return said;
  }

  TemporaryDirectory directory_;
  std::string path_ = directory_.path() + "/store.db";
  Declaration declaration_ = consumer();
  Enrolled enrolled_;
};

TEST_F(TroubledFile, WriteLockHeldByAnotherProcessIsBusyAndThenFree) {
  const Inbound inbound(declaration_, {Message{}});
  Process holder({ONCEWARD_TEST_PROGRAMS "/holder", path_});
  await("the other process holds the lock", [&] { return holder.output().find("holding") != std::string::npos; });
  auto store = open(100ms);
  try {
    apply(*store, enrolled_, inbound, insert_effect, {.attempts = 1});
    FAIL() << "two writers at once";
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.fault(), FaultCode::busy) << fault.what();
    EXPECT_TRUE(fault.transient());
  }
  holder.signal(SIGKILL);
  holder.wait();
  EXPECT_EQ(verdicts(apply(*store, enrolled_, inbound)), Verdicts{first});
  EXPECT_EQ(effects(), 1) << "what the holder had written is gone with it";
}

TEST_F(TroubledFile, ReadOnlyFileIsRefused) {
  read_sqlite(path_)->run("PRAGMA journal_mode = DELETE");
  chmod(path_.c_str(), 0444);
  chmod(directory_.path().c_str(), 0555);
  const std::string said = said_without_rights([&] {
    auto store = open(100ms);
    apply(*store, store->enroll(declaration_), Inbound(declaration_, {Message{}}));
    return "opened, enrolled and begun";
  });
  chmod(directory_.path().c_str(), 0755);
  EXPECT_TRUE(said.starts_with("store_read_only: ")) << said;
}

TEST_F(TroubledFile, ReadOnlyFileInAReadOnlyPlaceCanBeLookedAt) {
  chmod(path_.c_str(), 0444);
  chmod(directory_.path().c_str(), 0555);
  const std::string said = said_without_rights([&] {
    auto store = open_sqlite({.path = path_, .open = SqliteOptions::Open::to_read});
    const auto rows = store->look()->query("SELECT count(*) FROM onceward_consumer");
    return rows.size() == 1 && store->schema().pending.empty() ? "read" : "not read";
  });
  chmod(directory_.path().c_str(), 0755);
  EXPECT_EQ(said, "read");
}

TEST_F(TroubledFile, WalThatCannotBeReadIsSaid) {
  {
    auto store = open();
    apply(*store, enrolled_, Inbound(declaration_, {Message{}}));
    std::filesystem::copy_file(path_, path_ + ".copy");
    std::filesystem::copy_file(path_ + "-wal", path_ + ".copy-wal");
  }
  chmod((path_ + ".copy").c_str(), 0444);
  chmod(directory_.path().c_str(), 0555);
  const std::string said = said_without_rights([&] {
    open_sqlite({.path = path_ + ".copy", .open = SqliteOptions::Open::to_read})->schema();
    return "read";
  });
  chmod(directory_.path().c_str(), 0755);
  EXPECT_NE(said.find("was not closed"), std::string::npos) << said;
}

TEST_F(TroubledFile, ThatIsOnlyReadKeepsItsSettingsAndIsNotWritten) {
  const std::string other = directory_.path() + "/other.db";
  read_sqlite(path_)->run("VACUUM INTO '" + other + "'");
  auto store = open_sqlite({.path = other, .open = SqliteOptions::Open::to_read});
  EXPECT_EQ(fault_of([&] { store->enroll(consumer("another")); }), FaultCode::store_read_only);
  store.reset();
  EXPECT_EQ(read_sqlite(other)->value("PRAGMA journal_mode"), "delete");
  EXPECT_EQ(fault_of([&] { open_sqlite({.path = other + "x", .open = SqliteOptions::Open::existing}); }),
            FaultCode::schema_missing);
}

TEST_F(TroubledFile, MissingDirectoryIsRefused) {
  const FaultCode fault = fault_of([&] { open_sqlite({.path = directory_.path() + "/nowhere/store.db"}); });
  EXPECT_EQ(fault, FaultCode::store_refused);
}

TEST_F(TroubledFile, FileThatIsNoDatabaseIsCorrupt) {
  const std::string path = directory_.path() + "/letter.db";
  run_well({"sh", "-c", "yes 'Dear Sir or Madam' | head -c 8192 > " + path});
  EXPECT_EQ(fault_of([&] { open_sqlite({.path = path})->migrate(); }), FaultCode::store_corrupt);
}

TEST_F(TroubledFile, ErrorOfTheLogAtCommitIsNeverTakenForSuccess) {
  FaultyVfs vfs;
  int number = 0;
  for (const auto& [call, result] :
       {std::pair{FaultyVfs::Call::sync, SQLITE_IOERR_FSYNC}, std::pair{FaultyVfs::Call::write, SQLITE_IOERR_WRITE}}) {
    for (int nth = 0; nth < 4; ++nth) {
      const Inbound inbound(declaration_, {{.id = std::to_string(number++)}});
      auto store = open();
      auto unit = store->begin(enrolled_);
      run_handlers(*unit, inbound, leave_one_of_each);
      unit->flush();
      const int before = vfs.failed();
      vfs.fail(call, result, nth);
      Commit ending = Commit::in_doubt;
      try {
        ending = unit->commit();
      } catch (const Fault& fault) {
        EXPECT_TRUE(fault.fault() == FaultCode::store_unavailable) << fault.what();
      }
      vfs.heal();
      unit.reset();
      if (vfs.failed() == before) {
        EXPECT_EQ(ending, Commit::committed);
      } else {
        EXPECT_EQ(ending, Commit::in_doubt) << "the log may hold it or not: claiming again knows";
      }
      // On the same store, as transact() does.
      const Verdicts again = verdicts(apply(*store, enrolled_, inbound, leave_one_of_each));
      EXPECT_TRUE(again == Verdicts{first} || again == Verdicts{duplicate});
      store.reset();
      EXPECT_EQ(effects(), number);
      expect_whole();
    }
  }
  EXPECT_GE(vfs.failed(), 2);
}

TEST_F(TroubledFile, TransactAppliesOnceAcrossErrorsOfTheLog) {
  FaultyVfs vfs;
  auto store = open();
  for (int round = 0; round < 10; ++round) {
    const Inbound inbound(declaration_, {{.id = std::to_string(round)}});
    vfs.fail(round % 2 == 0 ? FaultyVfs::Call::sync : FaultyVfs::Call::write,
             round % 2 == 0 ? SQLITE_IOERR_FSYNC : SQLITE_IOERR_WRITE, round % 3);
    apply(*store, enrolled_, inbound, leave_one_of_each);
    EXPECT_EQ(effects(), round + 1);
  }
  vfs.heal();
  EXPECT_GE(vfs.failed(), 5);
  store.reset();
  expect_whole();
}

TEST_F(TroubledFile, FullDiskIsStoreFullAndNothingRemains) {
  FaultyVfs vfs;
  const Inbound inbound(declaration_, {Message{}});
  auto store = open();
  vfs.fail(FaultyVfs::Call::write, SQLITE_FULL, 0, 1'000'000);
  try {
    apply(*store, enrolled_, inbound, leave_one_of_each);
    FAIL() << "wrote to a full disk";
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.fault(), FaultCode::store_full) << fault.what();
    EXPECT_NE(std::string_view(fault.what()).find("free"), std::string_view::npos) << fault.what();
  }
  vfs.heal();
  EXPECT_EQ(effects(), 0);
  EXPECT_EQ(verdicts(apply(*store, enrolled_, inbound, leave_one_of_each)), Verdicts{first});
  expect_whole();
}

// The kernel itself refuses to let the file grow.
TEST_F(TroubledFile, FileThatMayNotGrowLosesNothing) {
  const Inbound inbound(declaration_, {Message{}});
  auto store = open();
  struct rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto ignored = signal(SIGXFSZ, SIG_IGN);
  const rlimit tight{256 * 1024, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &tight);
  FaultCode fault{};
  try {
    apply(*store, enrolled_, inbound,
          [](const Envelope& envelope, Transaction& transaction) -> Outcome {
            leave_one_of_each(envelope, transaction);
            transaction.execute("INSERT INTO effect VALUES ('big', $1)", std::string(1024 * 1024, 'x'));
            return Done{};
          },
          {.attempts = 2});
  } catch (const Fault& thrown) {
    fault = thrown.fault();
  }
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, ignored);
  EXPECT_TRUE(fault == FaultCode::store_full || fault == FaultCode::store_unavailable) << code(fault);
  EXPECT_EQ(effects(), 0);
  EXPECT_EQ(verdicts(apply(*store, enrolled_, inbound, leave_one_of_each)), Verdicts{first});
  store.reset();
  expect_whole();
}

}  // namespace
}  // namespace onceward::faults
