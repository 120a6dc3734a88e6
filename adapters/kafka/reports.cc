#include "adapters/kafka/reports.h"

namespace onceward::kafka {
namespace {

// Of its destination: the same message would be refused again.
bool is_final(rd_kafka_resp_err_t error) {
  switch (error) {
    case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
    case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
    case RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION:  // an invalid name
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_UNSUPPORTED_FOR_MESSAGE_FORMAT:
    case RD_KAFKA_RESP_ERR__INVALID_ARG:
      return true;
    default:
      return false;
  }
}

}  // namespace

bool is_of_the_batch(rd_kafka_resp_err_t error) {
  switch (error) {
    case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
    case RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE:
    case RD_KAFKA_RESP_ERR_INVALID_MSG:
    case RD_KAFKA_RESP_ERR_INVALID_RECORD:
    case RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP:
    case RD_KAFKA_RESP_ERR_POLICY_VIOLATION:
      return true;
    default:
      return false;
  }
}

Receipt::Kind kind_of(rd_kafka_resp_err_t error, rd_kafka_msg_status_t status, bool alone) {
  if (error == RD_KAFKA_RESP_ERR_NO_ERROR) return Receipt::Kind::confirmed;
  if (is_of_the_batch(error)) return alone ? Receipt::Kind::refused : Receipt::Kind::put_off;
  if (is_final(error)) return Receipt::Kind::refused;
  return status == RD_KAFKA_MSG_STATUS_NOT_PERSISTED ? Receipt::Kind::put_off : Receipt::Kind::in_doubt;
}

}  // namespace onceward::kafka
