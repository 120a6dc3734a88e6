// What a delivery report of librdkafka's means to whoever published.
#pragma once

#include <librdkafka/rdkafka.h>

#include "onceward/port/publisher.h"

namespace onceward::kafka {

// Whether the error is one that a broker gives for a whole batch, though it may be due to one record, or to no record but
// to their sum.
bool is_of_the_batch(rd_kafka_resp_err_t error);

// `alone`: there was no other message in its batch. Else a refusal of the batch only puts it off.
Receipt::Kind kind_of(rd_kafka_resp_err_t error, rd_kafka_msg_status_t status, bool alone);

}  // namespace onceward::kafka
