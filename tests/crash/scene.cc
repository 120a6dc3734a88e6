#include "tests/crash/scene.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "tests/fixtures/message.h"

namespace onceward::crash {
namespace {

using fixtures::Process;

std::string bytes_of(int number, const std::string& word) {
  const std::string id = std::to_string(number);
  if (word == "unreadable") return "no message, number " + id;
  return write_json_envelope(fixtures::envelope_of({.id = id, .payload = "\"" + word + "\""}));
}

// All its threads, of which one has said that it stops them.
bool is_stopped(pid_t pid) {
  for (const auto& thread : std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task")) {
    std::string line;
    std::getline(std::ifstream(thread.path() / "stat"), line);
    if (line.find(") T ") == line.npos) return false;
  }
  return true;
}

bool ends_in_quarantine(const std::string& word) { return word != "good" && word != "later" && word != "unreadable"; }

}  // namespace

std::vector<fixtures::Backend> stores() {
  std::vector<fixtures::Backend> some;
  std::ranges::copy_if(fixtures::backends(), std::back_inserter(some),
                       [](const fixtures::Backend& backend) { return backend.name != "pgbouncer"; });
  return some;
}

void Scene::send(const std::vector<std::string>& words) {
  std::vector<std::string> messages;
  for (const std::string& word : words) {
    messages.push_back(bytes_of(static_cast<int>(sent_.size()), word));
    sent_.push_back(word);
  }
  const std::vector<std::string_view> views(messages.begin(), messages.end());
  sender_.send(views);
}

void Scene::send_again(int number) {
  const std::string message = bytes_of(number, sent_.at(static_cast<std::size_t>(number)));
  const std::string_view view = message;
  sender_.send({&view, 1});
}

std::unique_ptr<Process> Scene::start_on(const std::string& address, Options options) const {
  options.try_emplace("folder", folder_.path());
  std::vector<std::string> command{ONCEWARD_TEST_PROGRAMS "/crashing_worker", address,
                                   "embedded:" + queue_path_ + "?" + queue_settings_};
  for (const auto& [name, value] : options) {
    command.push_back(name);
    command.back() += "=" + value;
  }
  return std::make_unique<Process>(command);
}

void Scene::await_at(Process& worker, Point point) {
  const std::string text = announcement(point);
  fixtures::await("a worker is " + text, [&] {
    if (!worker.running()) throw std::runtime_error("the worker has ended: " + worker.output());
    return worker.output().find(text) != std::string::npos && is_stopped(worker.pid());
  });
}

void Scene::kill(Process& worker) {
  worker.signal(SIGKILL);
  EXPECT_EQ(worker.wait(), killed) << worker.output();
}

void Scene::give_back_deliveries() { queue_->run("UPDATE delivery SET due_at = 0"); }

void Scene::let_time_pass() {
  give_back_deliveries();
  const std::string past = GetParam().name == "sqlite" ? "1" : "now() - interval '1 s'";
  reader().run("UPDATE " + ours("inbox_outcome") + " SET next_attempt_at = " + past +
               " WHERE next_attempt_at IS NOT NULL");
}

bool Scene::at_rest() {
  const QueueDepth depth = sender_.depth();
  return depth.ready == 0 && depth.in_flight == 0 &&
         reader().number("SELECT count(*) FROM " + ours("inbox_outcome") + " WHERE state IN (2, 5)") == 0;
}

void Scene::await_rest(Process& worker) {
  fixtures::await("everything is done", [&] {
    if (!worker.running()) throw std::runtime_error("the worker has ended: " + worker.output());
    return at_rest();
  });
}

std::map<std::string, int> Scene::count(const std::string& query) {
  std::map<std::string, int> counts;
  for (const auto& row : reader().read(query)) ++counts[row.at(0).value_or("NULL")];
  return counts;
}

void Scene::expect_each_once() {
  std::map<std::string, int> applied, twice, failed, seen;
  int unreadable = 0;
  for (std::size_t number = 0; number < sent_.size(); ++number) {
    const std::string id = std::to_string(number);
    if (sent_[number] == "unreadable") {
      ++unreadable;
    } else if (ends_in_quarantine(sent_[number])) {
      failed[id] = seen[id] = 1;
    } else {
      applied[id] = seen[id] = 1;
      twice[id] = 2;
    }
  }
  EXPECT_EQ(count("SELECT message FROM effect"), applied) << "effects";
  EXPECT_EQ(count("SELECT message FROM effect WHERE note = 'whole'"), applied) << "whole effects";
  EXPECT_EQ(count("SELECT id FROM " + ours("inbox")), seen) << "inbox";
  EXPECT_EQ(count("SELECT causation_id FROM " + ours("outbox")), twice) << "outbox";
  EXPECT_EQ(count("SELECT idempotency_key FROM " + ours("ledger")), applied) << "ledger";
  const std::string parked = " FROM " + ours("quarantine") + " WHERE state = 'parked' AND reason ";
  EXPECT_EQ(count("SELECT id" + parked + "<> 'malformed_json'"), failed) << "quarantine";
  EXPECT_EQ(reader().number("SELECT count(*)" + parked + "= 'malformed_json'"), unreadable) << "quarantine";
  EXPECT_EQ(reader().number("SELECT count(*) FROM " + ours("quarantine")),
            static_cast<int>(failed.size()) + unreadable);
  EXPECT_TRUE(at_rest());
}

}  // namespace onceward::crash
