#include "adapters/kafka/reports.h"

#include <gtest/gtest.h>

namespace onceward::kafka {
namespace {

constexpr auto sure = RD_KAFKA_MSG_STATUS_NOT_PERSISTED;
constexpr auto unsure = RD_KAFKA_MSG_STATUS_POSSIBLY_PERSISTED;

TEST(Report, WithoutAnErrorIsConfirmed) {
  EXPECT_EQ(kind_of(RD_KAFKA_RESP_ERR_NO_ERROR, RD_KAFKA_MSG_STATUS_PERSISTED, false), Receipt::Kind::confirmed);
}

TEST(Report, WhatWouldBeRefusedAgainIsRefused) {
  for (const auto error : {RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC, RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART,
                           RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED}) {
    EXPECT_EQ(kind_of(error, sure, false), Receipt::Kind::refused) << rd_kafka_err2name(error);
  }
}

TEST(Report, RefusalOfABatchIsBelievedOnlyOfWhatWasAloneInIt) {
  for (const auto error : {RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, RD_KAFKA_RESP_ERR_INVALID_RECORD}) {
    EXPECT_EQ(kind_of(error, sure, true), Receipt::Kind::refused) << rd_kafka_err2name(error);
    EXPECT_EQ(kind_of(error, sure, false), Receipt::Kind::put_off) << rd_kafka_err2name(error);
  }
}

TEST(Report, WhatMayBeThereIsInDoubtAndWhatIsSurelyNotIsPutOff) {
  for (const auto error : {RD_KAFKA_RESP_ERR__MSG_TIMED_OUT, RD_KAFKA_RESP_ERR__TIMED_OUT, RD_KAFKA_RESP_ERR__TRANSPORT,
                           RD_KAFKA_RESP_ERR__FATAL, RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS_AFTER_APPEND}) {
    EXPECT_EQ(kind_of(error, unsure, false), Receipt::Kind::in_doubt) << rd_kafka_err2name(error);
    EXPECT_EQ(kind_of(error, sure, false), Receipt::Kind::put_off) << rd_kafka_err2name(error);
  }
  EXPECT_EQ(kind_of(RD_KAFKA_RESP_ERR__QUEUE_FULL, sure, true), Receipt::Kind::put_off);
}

}  // namespace
}  // namespace onceward::kafka
