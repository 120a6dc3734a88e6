// One instance of librdkafka's, with what it says about itself. Belongs to one thread: its errors and its log are asked for
// by serve() and come to nobody on a thread of the library's.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "adapters/kafka/bell.h"
#include "adapters/kafka/handle.h"
#include "adapters/kafka/trouble.h"
#include "onceward/adapter/kafka.h"

namespace onceward::kafka {

inline constexpr std::chrono::milliseconds reach_deadline{10'000};  // at the beginning
inline constexpr std::chrono::milliseconds again_deadline{1'000};   // later, once a call

using Properties = std::vector<std::pair<std::string, std::string>>;

// Tells news from what is heard again and again. What was not heard for a minute is news again.
class Repetition {
 public:
  bool is_news(Trouble::Kind kind, std::chrono::steady_clock::time_point now);

 private:
  std::map<Trouble::Kind, std::chrono::steady_clock::time_point> heard_;
};

struct ClientCallbacks {
  std::function<void(rd_kafka_resp_err_t, const rd_kafka_topic_partition_list_t*)> rebalance{};
  std::function<void(const rd_kafka_message_t&)> report{};
};

class Client {
 public:
  // `ours` is set after the user's properties, and wins. Throws Fault(refused).
  Client(rd_kafka_type_t type, const KafkaConnection& connection, const Properties& ours, PortFaults faults,
         ClientCallbacks callbacks, const Bell& bell, Log& log);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  rd_kafka_t* get() const { return instance_; }

  // Calls what was called back, errors and log lines; never waits.
  void serve();

  // Asks the brokers for a topic, or with an empty name only whether they are there. Throws while they are not, and
  // Fault(refused) where somebody has to help; the topic is missing: `missing`.
  void reach(const std::string& topic, std::chrono::milliseconds deadline, FaultCode missing);

  // Of a topic that was reached. Throws while the brokers do not answer.
  std::vector<std::int32_t> partitions(const std::string& topic, std::chrono::milliseconds deadline);

  // All brokers were lost since reach() has last returned.
  bool down() const { return down_; }
  // A topic that was there is not, by what librdkafka has said since reach() has last returned.
  bool misses_topic() const { return misses_topic_; }
  // The instance is of no use any more, and why.
  const std::optional<std::string>& fatal() const { return fatal_; }
  // Somebody was told so: a member of a group hears it by a message, all others by serve().
  void hear_fatal();

  // Whether a trouble is more than an outage. Whom we have reached speaks our language.
  bool needs_somebody(const Trouble& trouble) const {
    return trouble.needs_somebody() && !(trouble.guessed && reached_);
  }

  // "kafka host:9092: " and what is wrong.
  Fault unavailable(std::string_view what) const;
  Fault refused(std::string_view what) const;
  Fault fault(const Trouble& trouble) const;
  // What librdkafka says, without our secrets.
  Trouble trouble(rd_kafka_resp_err_t error, const char* text) const;
  void say(LogLevel level, std::string_view what) const;

 private:
  // What librdkafka knows us by. Outlives us where the instance does.
  struct Ear {
    std::atomic<Client*> client;
  };
  static Client& heard_by(void* opaque) { return *static_cast<Ear*>(opaque)->client.load(); }
  static void on_error(rd_kafka_t* instance, int error, const char* reason, void* opaque);
  static void on_log(const rd_kafka_t* instance, int level, const char* facility, const char* text);
  void hear(rd_kafka_resp_err_t error, std::string_view reason);
  rd_kafka_resp_err_t look_for(const std::string& topic, std::chrono::milliseconds wait);

  // Constant after construction.
  const std::string brokers_;
  const PortFaults faults_;
  const ClientCallbacks callbacks_;
  Log& log_;
  std::vector<std::string> secrets_;
  std::unique_ptr<Ear> ear_;
  rd_kafka_t* instance_ = nullptr;

  // Of the one thread.
  bool reached_ = false;
  bool down_ = false;
  bool misses_topic_ = false;
  std::optional<Trouble> trouble_;  // the last one that says why a connection fails
  Repetition repetition_;
  std::optional<std::string> fatal_;
  Queue main_;
};

}  // namespace onceward::kafka
