// Messages that could not be read, and are sent again from the quarantine when the file was mended: on each store, from
// each kind of source.
#include <gmock/gmock.h>

#include "apps/daemon/suite.h"
#include "onceward/adapter/postgres.h"
#include "onceward/adapter/sqlite.h"
#include "tests/fixtures/kafka.h"
#include "tests/fixtures/postgres_database.h"
#include "tests/fixtures/rabbitmq.h"

namespace onceward::daemon {
namespace {

class RetryOfRefused : public Running, public testing::WithParamInterface<bool> {
 protected:
  RetryOfRefused() {
    if (on_postgres()) {
      fixtures::shared_database().empty();
      open_postgres({.url = store_})->migrate();
      reader_ = fixtures::read_postgres(store_);
    } else {
      const std::string path = sqlite_.substr(7);
      open_sqlite({.path = path})->migrate();
      reader_ = fixtures::read_sqlite(path);
    }
    reader_->run("CREATE TABLE effect (message text NOT NULL, body text)");
  }
  static bool on_postgres() { return GetParam(); }
  std::string quarantine() const { return on_postgres() ? "onceward.quarantine" : "onceward_quarantine"; }

  void declare(const std::string& source, int id_bytes) {
    std::ofstream(file_) << "[store]\nurl = \"" << store_ << "\"\n[admin]\nlisten = \"127.0.0.1:0\"\n"
                         << "[[consumer]]\nname = \"captures\"\nowner = \"me\"\n"
                         << "source = \"" << source << "\"\nsql = [\"" << insert << "\"]\n"
                         << "identity = { producer = \"shop\" }\nlimits = { id_bytes = " << id_bytes << " }\n";
  }
  std::int64_t parked(const std::string& reason) {
    return reader_->number("SELECT count(*) FROM " + quarantine() + " WHERE state = 'parked' AND reason = '" + reason +
                           "'");
  }
  void retry_all() const {
    fixtures::run_well({ONCEWARD_BINARY, "quarantine", "retry", "--all", "--who", "me", "--why", "mended", "--yes",
                        "--store", store_});
  }
  std::int64_t effects() { return reader_->number("SELECT count(DISTINCT message) FROM effect"); }

  // `send` sends three messages with the same payload and ids of 20 bytes.
  template <class Send>
  void refused_then_applied(const std::string& source, Send send) {
    declare(source, 16);
    send();
    {
      const auto process = start();
      fixtures::await("all are refused", [&] { return parked("id_too_long") == 3; });
      retry_all();
      fixtures::await("they are refused again", [&] { return parked("id_too_long") == 3; });
    }
    declare(source, 64);
    const auto process = start();
    retry_all();
    fixtures::await("all are applied", [&] { return effects() == 3; });
    send();
    fixtures::await("what comes again is known", [&] {
      return get(port_of(*process), "/metrics").body.find(R"({consumer="captures",verdict="duplicate"} 3)") !=
             std::string::npos;
    });
    process->signal(SIGTERM);
    EXPECT_EQ(process->wait(), 0) << process->output();
    EXPECT_EQ(reader_->number("SELECT count(*) FROM effect"), 3);
  }
  static std::string id(int number) { return "message-number-0000" + std::to_string(number); }

  const std::string store_ = GetParam() ? fixtures::shared_database().url() : sqlite_;
  std::unique_ptr<fixtures::Reader> reader_;
};
INSTANTIATE_TEST_SUITE_P(Stores, RetryOfRefused, testing::Bool(),
                         [](const auto& info) { return info.param ? "postgres" : "sqlite"; });

TEST_P(RetryOfRefused, EmbeddedQueueAppliesEachOnceWhenItsLimitWasRaised) {
  refused_then_applied("embedded:" + queue_path_, [&] {
    std::vector<std::string> lines;
    for (int i = 0; i < 3; ++i) lines.push_back(R"({"messageId":")" + id(i) + R"(","payload":{}})");
    const std::vector<std::string_view> views(lines.begin(), lines.end());
    EmbeddedSender({.path = queue_path_}).send(views);
  });
}

TEST_P(RetryOfRefused, RabbitmqAppliesEachOnceWhenItsLimitWasRaised) {
  fixtures::RabbitmqQueue queue;
  const int port = fixtures::rabbitmq_server().hosts.front().port;
  refused_then_applied("rabbitmq://guest:guest@127.0.0.1:" + std::to_string(port) + "/%2F?queue=" + queue.name(), [&] {
    for (int i = 0; i < 3; ++i) queue.send({{.body = "{}", .message_id = id(i)}});
  });
}

TEST_P(RetryOfRefused, KafkaAppliesEachOnceWhenItsLimitWasRaised) {
  fixtures::KafkaTopic topic;
  refused_then_applied(topic.url(), [&] {
    for (int i = 0; i < 3; ++i) topic.send({{.value = "{}", .headers = {{"id", id(i)}}}});
  });
}

// What a CloudEvent lacks may be nothing that this consumer needs.
TEST_P(RetryOfRefused, KafkaKeepsTheIdentityOfEventsThatLackAType) {
  fixtures::KafkaTopic topic;
  declare(topic.url(), 64);
  for (int i = 0; i < 7; ++i) {
    topic.send(
        {{.key = "k", .value = "{}", .headers = {{"ce_specversion", "1.0"}, {"ce_source", "s"}, {"ce_id", id(i)}}}});
  }
  const auto process = start();
  fixtures::await("each has its row", [&] { return parked("missing_field") == 7; });
  EXPECT_EQ(reader_->number("SELECT count(DISTINCT id) FROM " + quarantine()), 7);
  retry_all();
  fixtures::await("each is applied", [&] { return effects() == 7; });
}

}  // namespace
}  // namespace onceward::daemon
