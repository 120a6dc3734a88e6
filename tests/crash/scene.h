// A database, an embedded queue and worker processes that are killed, and what an outsider finds afterwards: everything is
// read with plain libpq and sqlite3 calls, nothing is asked of a worker.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "onceward/adapter/embedded.h"
#include "tests/crash/point.h"
#include "tests/fixtures/process.h"
#include "tests/fixtures/store_under_test.h"

namespace onceward::crash {

inline constexpr int killed = 128 + SIGKILL;

class Scene : public testing::TestWithParam<fixtures::Backend> {
 protected:
  // Sends in one transaction, one message for each word: what its handler is to do, or "unreadable", which is no message.
  // Ids are their numbers, counted over all that are sent.
  void send(const std::vector<std::string>& words);
  // Sends the message with this number once more.
  void send_again(int number);

  using Options = std::map<std::string, std::string>;
  std::unique_ptr<fixtures::Process> start(Options options = {}) const { return start_on(under_->address(), options); }
  std::unique_ptr<fixtures::Process> start_on(const std::string& address, Options options = {}) const;
  // Returns when it has stopped itself at the point.
  static void await_at(fixtures::Process& worker, Point point);
  static void kill(fixtures::Process& worker);

  // Visibility timeouts and leases have passed: what the dead held is due.
  void let_time_pass();
  void give_back_deliveries();
  // Whether all that was sent has been settled, and nothing waits in the store.
  bool at_rest();
  void await_rest(fixtures::Process& worker);

  // All that was sent has left what it must, once, and nothing else is there. `attempts_of` words that use up a budget.
  void expect_each_once();

  fixtures::Reader& reader() { return under_->reader(); }
  // The ids that a query gives, and how often.
  std::map<std::string, int> count(const std::string& query);
  std::string ours(const std::string& table) const { return under_->table(table); }

  std::unique_ptr<fixtures::StoreUnderTest> under_ = GetParam().make();
  fixtures::TemporaryDirectory folder_;
  std::string queue_path_ = folder_.path() + "/messages.queue";
  std::string queue_settings_ = "visibility=60s";
  EmbeddedSender sender_{EmbeddedOptions{.path = queue_path_}};
  std::unique_ptr<fixtures::Reader> queue_ = fixtures::read_sqlite(queue_path_);
  std::vector<std::string> sent_;  // words, by number
};

// SQLite and PostgreSQL. A pooler in between changes nothing for a client that dies; tests/faults has it.
std::vector<fixtures::Backend> stores();

}  // namespace onceward::crash

#define ONCEWARD_ON_BOTH_STORES(suite) \
  INSTANTIATE_TEST_SUITE_P(Store, suite, testing::ValuesIn(stores()), [](const auto& of) { return of.param.name; })
