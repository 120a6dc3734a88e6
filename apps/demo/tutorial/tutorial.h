// Consumers as the client libraries' own tutorials and examples write them: acknowledge by hand, after the work, and end when
// the broker does. What --naive receives with; nothing of Onceward's adapters is in them.
#pragma once

#include <memory>

#include "onceward/adapter/kafka.h"
#include "onceward/adapter/rabbitmq.h"
#include "onceward/port/source.h"

namespace onceward::demo {

// librabbitmq: basic.qos, basic.consume, basic.ack for each message. Throws Fault(source_unavailable), as do its calls.
std::unique_ptr<Source> open_tutorial(const RabbitmqSourceOptions& options);
// librdkafka: rd_kafka_consumer_poll, rd_kafka_commit. A message that is given back comes again when its partition moves.
std::unique_ptr<Source> open_tutorial(const KafkaSourceOptions& options);

}  // namespace onceward::demo
