// Real `onceward run` processes between a real broker and PostgreSQL, both broken on purpose, and the independent checker's word
// at the end: every message that the generator's own log says was sent has had its effect once, and the broker, asked by its
// own tool, holds nothing more.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "tests/fixtures/kafka.h"
#include "tests/fixtures/postgres_database.h"
#include "tests/fixtures/process.h"
#include "tests/fixtures/rabbitmq.h"

namespace onceward::outages {

using namespace std::chrono_literals;

// Where messages go. Returns when the broker has confirmed them; a broken connection is for the caller to repeat.
class Place {
 public:
  virtual ~Place() = default;
  virtual void send(const std::vector<std::string>& envelopes) = 0;
};

class Scene : public testing::Test {
 protected:
  using Daemon = std::unique_ptr<fixtures::Process>;

  Scene();

  // Of one queue or group at the broker in `directory`.
  void at_rabbitmq(const std::string& queue, const std::string& directory);
  void at_kafka(const std::string& group, const std::string& directory);

  // An application that captures payments from `source`; `sql` is put before the statements of its effects, `lines` before the
  // consumer's own.
  void write(const std::string& source, const std::string& sql = {}, const std::string& lines = {});
  Daemon start() const;
  // Returns when its workers work.
  Daemon start_and_await_work() const;

  // Logs, sends and logs the confirm. One in ten is sent twice. Sends again, as an outbox would, until it is confirmed.
  void send(Place& place, int count);
  // A few, unless a thousand wait for their effects: load without an end.
  void send_some(Place& place);
  // The same messages as lines, for those who send them by other means; confirmed() logs that they did.
  std::string log_lines(int count);
  void confirmed();

  // From now on whoever applies a message waits inside its transaction, with it in hand, until somebody lets them go.
  void hold_effects();
  // So many of them wait.
  void await_held(int workers);
  void release_effects();

  int sent() const { return next_; }  // different ones
  std::int64_t effects();
  void await_effects(std::chrono::seconds deadline = 120s);
  // Asks the checker until nothing is left at the broker, which hears of acknowledgements late; the rest must hold at once.
  void expect_each_once();

  fixtures::PostgresDatabase& database_ = fixtures::shared_database();
  fixtures::TemporaryDirectory folder_;
  std::unique_ptr<fixtures::Reader> reader_;

 private:
  struct Message {
    std::string envelope, log;
  };
  Message make(int number, bool again);
  void write_run() const;

  std::string broker_, script_, broker_directory_, queue_;
  std::unique_ptr<fixtures::Reader> holder_;
  std::ofstream log_{folder_.path() + "/published.ndjson"};
  int next_ = 0, lines_ = 0;
};

std::string services_directory(const std::string& broker);

class ToRabbitmq final : public Place {
 public:
  ToRabbitmq(std::vector<RabbitmqConnection> servers, std::string queue);
  void send(const std::vector<std::string>& envelopes) override;

 private:
  const std::vector<RabbitmqConnection> servers_;
  const std::string queue_;
  std::unique_ptr<fixtures::RabbitmqClient> client_;
  std::size_t next_ = 0;
};

class ToKafka final : public Place {
 public:
  explicit ToKafka(const fixtures::KafkaTopic& topic) : topic_(topic) {}
  void send(const std::vector<std::string>& envelopes) override;

 private:
  const fixtures::KafkaTopic& topic_;
};

}  // namespace onceward::outages
