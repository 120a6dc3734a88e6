// RabbitMQ and Kafka in a build without them, which needs neither library: whoever names one is told so.
#include "onceward/adapter/kafka.h"
#include "onceward/adapter/rabbitmq.h"

namespace onceward {
namespace {

[[noreturn]] void refuse(FaultCode fault, const char* broker) {
  throw Fault(fault, Poisons::connection,
              std::string(broker) + ": this build was made without brokers; build it with -DONCEWARD_BROKERS=ON");
}
[[noreturn]] void no_source(const char* broker) { refuse(FaultCode::source_refused, broker); }
[[noreturn]] void no_publisher(const char* broker) { refuse(FaultCode::publisher_refused, broker); }

constexpr const char* rabbitmq = "rabbitmq";
constexpr const char* kafka = "kafka";

}  // namespace

RabbitmqSourceOptions read_rabbitmq_source_url(std::string_view) { no_source(rabbitmq); }
RabbitmqPublisherOptions read_rabbitmq_publisher_url(std::string_view) { no_publisher(rabbitmq); }
RabbitmqTarget read_rabbitmq_target_url(std::string_view) { no_publisher(rabbitmq); }
std::unique_ptr<Source> open_rabbitmq(const RabbitmqSourceOptions&, Log&) { no_source(rabbitmq); }
RabbitmqFacts examine_rabbitmq(const RabbitmqSourceOptions&) { no_source(rabbitmq); }
std::unique_ptr<Publisher> open_rabbitmq_publisher(const RabbitmqPublisherOptions&, Log&) { no_publisher(rabbitmq); }
std::unique_ptr<Publisher> open_rabbitmq_target(const RabbitmqTarget&, Log&) { no_publisher(rabbitmq); }

KafkaSourceOptions read_kafka_source_url(std::string_view) { no_source(kafka); }
KafkaSourceOptions read_kafka_reader_url(std::string_view) { no_source(kafka); }
KafkaPublisherOptions read_kafka_publisher_url(std::string_view) { no_publisher(kafka); }
KafkaTarget read_kafka_target_url(std::string_view) { no_publisher(kafka); }
std::unique_ptr<Source> open_kafka(const KafkaSourceOptions&, Log&, std::unique_ptr<StreamKeeper>) { no_source(kafka); }
std::unique_ptr<Source> open_kafka_reader(const KafkaSourceOptions&, Log&) { no_source(kafka); }
KafkaFacts examine_kafka(const KafkaSourceOptions&) { no_source(kafka); }
std::unique_ptr<Publisher> open_kafka_publisher(const KafkaPublisherOptions&, Log&) { no_publisher(kafka); }
std::unique_ptr<Publisher> open_kafka_target(const KafkaTarget&, Log&) { no_publisher(kafka); }

}  // namespace onceward
