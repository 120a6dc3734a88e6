// Kafka by way of librdkafka. docs/reference/sources.md describes the URL and its options.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "onceward/log.h"
#include "onceward/port/publisher.h"
#include "onceward/port/source.h"
#include "onceward/wire_format.h"

namespace onceward {

struct KafkaConnection {
  std::string brokers;  // host:port,host:port
  // librdkafka's own properties, passed through (security.protocol, sasl.*, ssl.*, and the like). Those that would break
  // the promise are refused: auto commit, auto offset store, acks, idempotence.
  std::map<std::string, std::string> properties{};
};

struct KafkaSourceOptions {
  enum class Start : std::uint8_t { earliest, latest };                      // where nothing was committed yet
  enum class OutOfRange : std::uint8_t { refuse, earliest, latest };         // where what comes next is no longer there
  static constexpr std::chrono::milliseconds most_revoke_deadline{240'000};  // below librdkafka's max.poll.interval.ms
  static constexpr std::size_t least_queued_bytes = 64u << 10;
  static constexpr std::size_t most_queued_bytes = 1u << 30;

  KafkaConnection connection{};
  std::string topic{};
  std::string group{};
  Start start = Start::earliest;
  OutOfRange out_of_range = OutOfRange::refuse;
  // Else partitions are taken away all at once. Librdkafka before 2.3 ends the process when such a member ends before it was
  // assigned anything.
  bool cooperative = false;
  // How long a partition that is taken away waits for what was received of it to be settled. What is not is abandoned: it
  // comes again, to whoever has the partition then.
  std::chrono::milliseconds revoke_deadline{10'000};
  std::string id_header = "id";  // of messages that are native
  // Fetched ahead, and about as much in one call of receive(). As much as a consumer takes in a second, or more: librdkafka
  // that has so much fetches nothing for a second, and whoever is done before waits.
  std::size_t queued_bytes = 64u << 20;
  WireFormat format = WireFormat::automatic;
  EnvelopeLimits limits{};
};

// What the brokers tell of a topic to somebody who only looks.
struct KafkaFacts {
  std::size_t partitions = 0;
  // How long records are kept: retention.ms; nothing where that is for good (no limit, or compaction alone). They are deleted a
  // segment at a time, by the youngest in it, which may be younger than the oldest by segment.ms.
  std::optional<std::chrono::milliseconds> retention{};
  std::chrono::milliseconds segment{};
  std::string retention_unknown{};  // why, where the brokers did not tell
  std::string group_trouble{};      // why its offsets could not be read; empty if they could
  bool group_refused = false;       // where somebody has to help
};

struct KafkaPublisherOptions {
  static constexpr std::size_t most_window = 1'000'000;
  static constexpr std::chrono::milliseconds least_confirm_deadline{1'000};
  static constexpr std::chrono::milliseconds most_confirm_deadline{600'000};

  KafkaConnection connection{};
  std::size_t window = 10'000;  // messages without an answer
  std::chrono::milliseconds confirm_deadline{30'000};
  WireFormat format = WireFormat::automatic;
};

// A publisher with the one topic it publishes to.
struct KafkaTarget {
  KafkaPublisherOptions options{};
  std::string topic{};  // the destination of a Publication
};

// kafka://[user[:password]@]host[:port][,host[:port]...]/topic?group=name[&option...]; an option with a dot in its name is
// librdkafka's. Throws Fault(source_refused).
KafkaSourceOptions read_kafka_source_url(std::string_view url);
// The same, where the group may be missing. Throws Fault(source_refused).
KafkaSourceOptions read_kafka_reader_url(std::string_view url);
// The same without what is a source's own. Throws Fault(publisher_refused).
KafkaPublisherOptions read_kafka_publisher_url(std::string_view url);
// That of a publisher with /topic. Throws Fault(publisher_refused).
KafkaTarget read_kafka_target_url(std::string_view url);

// A tombstone is an envelope without payload that has this header; sent with it, an envelope becomes a tombstone.
inline constexpr std::string_view kafka_tombstone_header = "onceward-tombstone";

// Joins the group, and waits a little for its first answer. Throws as Source::receive().
// With a keeper, each partition is a stream "topic/number": taken over when it is assigned, begun where the keeper says, and
// where that knows nothing, at the group's offset or as `start` says. The group is still told what was settled. Deliveries
// have positions, and a native one without an id has "topic/number@offset" for one. Throws the keeper's faults too.
std::unique_ptr<Source> open_kafka(const KafkaSourceOptions& options, Log& log = silent_log(),
                                   std::unique_ptr<StreamKeeper> keeper = nullptr);
// Reads all partitions without a group, from the beginning or the end as `start` says: nothing is committed, no consumer is
// disturbed, and settling means nothing. Throws as Source::receive().
std::unique_ptr<Source> open_kafka_reader(const KafkaSourceOptions& options, Log& log = silent_log());
// Connects, looks and leaves, without joining the group. Throws as open_kafka().
KafkaFacts examine_kafka(const KafkaSourceOptions& options);
// A destination is a topic; the key, the record's. Idempotent, acks=all.
std::unique_ptr<Publisher> open_kafka_publisher(const KafkaPublisherOptions& options, Log& log = silent_log());
// The same, once the topic is found to be there; else Fault(publisher_refused).
std::unique_ptr<Publisher> open_kafka_target(const KafkaTarget& target, Log& log = silent_log());

}  // namespace onceward
