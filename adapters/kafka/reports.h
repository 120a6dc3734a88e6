// What a delivery report of librdkafka's means to whoever published.
#pragma once

#include <librdkafka/rdkafka.h>

#include "onceward/port/publisher.h"

namespace onceward::kafka {

Receipt::Kind kind_of(rd_kafka_resp_err_t error, rd_kafka_msg_status_t status);

}  // namespace onceward::kafka
