// A look at a topic, by a client that joins no group.
#include <librdkafka/rdkafka.h>

#include "adapters/kafka/client.h"
#include "adapters/kafka/options.h"
#include "adapters/kafka/retention.h"

namespace onceward {
namespace kafka {
namespace {

using std::chrono::milliseconds;
using namespace std::chrono_literals;

constexpr milliseconds answer_deadline = 10s;

using ConfigResource = Handle<rd_kafka_ConfigResource_t, rd_kafka_ConfigResource_destroy>;
using AdminOptions = Handle<rd_kafka_AdminOptions_t, rd_kafka_AdminOptions_destroy>;

struct TopicConfig {
  TopicSettings values;
  std::string trouble;
};

TopicConfig read_config(rd_kafka_event_t* event) {
  if (event == nullptr) return {{}, "no answer came in time"};
  if (rd_kafka_event_error(event) != RD_KAFKA_RESP_ERR_NO_ERROR) return {{}, rd_kafka_event_error_string(event)};
  std::size_t count = 0;
  const auto* const result = rd_kafka_event_DescribeConfigs_result(event);
  const auto** const resources = rd_kafka_DescribeConfigs_result_resources(result, &count);
  if (count != 1) return {{}, "the answer is about something else"};
  if (rd_kafka_ConfigResource_error(resources[0]) != RD_KAFKA_RESP_ERR_NO_ERROR) {
    const char* const text = rd_kafka_ConfigResource_error_string(resources[0]);
    return {{}, text ? text : rd_kafka_err2str(rd_kafka_ConfigResource_error(resources[0]))};
  }
  TopicConfig config;
  const auto** const entries = rd_kafka_ConfigResource_configs(resources[0], &count);
  for (std::size_t at = 0; at < count; ++at) {
    const char* const value = rd_kafka_ConfigEntry_value(entries[at]);
    if (value != nullptr) config.values[rd_kafka_ConfigEntry_name(entries[at])] = value;
  }
  return config;
}

TopicConfig describe(const Client& client, const std::string& topic) {
  const Queue queue(rd_kafka_queue_new(client.get()));
  const ConfigResource resource(rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, topic.c_str()));
  const AdminOptions options(rd_kafka_AdminOptions_new(client.get(), RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS));
  rd_kafka_ConfigResource_t* asked[] = {resource.get()};
  rd_kafka_DescribeConfigs(client.get(), asked, 1, options.get(), queue.get());
  const Event event(rd_kafka_queue_poll(queue.get(), static_cast<int>(answer_deadline.count())));
  return read_config(event.get());
}

// Whoever may not read the offsets of a group cannot join it either.
void look_at_group(Client& client, const std::string& topic, KafkaFacts& facts) {
  const Partitions all(rd_kafka_topic_partition_list_new(1));
  rd_kafka_topic_partition_list_add(all.get(), topic.c_str(), 0);
  auto error = rd_kafka_committed(client.get(), all.get(), static_cast<int>(answer_deadline.count()));
  if (error == RD_KAFKA_RESP_ERR_NO_ERROR) error = all->elems[0].err;
  if (error == RD_KAFKA_RESP_ERR_NO_ERROR) return;
  const Trouble trouble = client.trouble(error, nullptr);
  facts.group_trouble = trouble.text;
  facts.group_refused = trouble.needs_somebody();
}

}  // namespace
}  // namespace kafka

KafkaFacts examine_kafka(const KafkaSourceOptions& options) {
  using namespace kafka;
  check(options);
  const Bell bell;
  Client client(RD_KAFKA_CONSUMER, options.connection, {{"group.id", options.group}}, source_faults, {}, bell,
                silent_log());
  KafkaFacts facts;
  client.reach(options.topic, answer_deadline, FaultCode::source_refused);
  facts.partitions = client.partitions(options.topic, answer_deadline).size();
  const TopicConfig config = describe(client, options.topic);
  facts.retention_unknown = config.trouble;
  if (config.trouble.empty()) take_retention(config.values, facts);
  look_at_group(client, options.topic, facts);
  return facts;
}

}  // namespace onceward
