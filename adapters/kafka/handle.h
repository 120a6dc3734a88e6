// librdkafka's objects with their owners.
#pragma once

#include <librdkafka/rdkafka.h>

#include <memory>
#include <string>

namespace onceward::kafka {

template <auto destroy>
struct Destroy {
  template <class Object>
  void operator()(Object* object) const {
    destroy(object);
  }
};
template <class Object, auto destroy>
using Handle = std::unique_ptr<Object, Destroy<destroy>>;

using Configuration = Handle<rd_kafka_conf_t, rd_kafka_conf_destroy>;
using Queue = Handle<rd_kafka_queue_t, rd_kafka_queue_destroy>;
using Message = Handle<rd_kafka_message_t, rd_kafka_message_destroy>;
using Partitions = Handle<rd_kafka_topic_partition_list_t, rd_kafka_topic_partition_list_destroy>;
using Topic = Handle<rd_kafka_topic_t, rd_kafka_topic_destroy>;
using Event = Handle<rd_kafka_event_t, rd_kafka_event_destroy>;
using Error = Handle<rd_kafka_error_t, rd_kafka_error_destroy>;
using Headers = Handle<rd_kafka_headers_t, rd_kafka_headers_destroy>;
using Metadata = Handle<const struct rd_kafka_metadata, rd_kafka_metadata_destroy>;

}  // namespace onceward::kafka
