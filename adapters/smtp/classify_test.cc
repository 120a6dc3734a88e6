#include "adapters/smtp/classify.h"

#include <gtest/gtest.h>

namespace onceward::smtp {
namespace {

using Kind = EndpointAnswer::Kind;
using curl::Ending;

TEST(SmtpClassification, MailThatTheServerTookHasSucceeded) {
  EXPECT_EQ(classify({.code = CURLE_OK, .status = 250, .requests = 1, .uploaded_bytes = 9}), Kind::succeeded);
  EXPECT_EQ(classify({.code = CURLE_OK, .status = 0, .requests = 1, .uploaded_bytes = 9}), Kind::unknown);
}

TEST(SmtpClassification, BeforeTheServerWantsTheMessageNothingWasSent) {
  EXPECT_EQ(classify({.code = CURLE_COULDNT_CONNECT}), Kind::not_sent);
  EXPECT_EQ(classify({.code = CURLE_LOGIN_DENIED, .status = 535}), Kind::not_sent);
  EXPECT_EQ(classify({.code = CURLE_USE_SSL_FAILED, .status = 454}), Kind::not_sent);
  EXPECT_EQ(classify({.code = CURLE_RECV_ERROR, .status = 250, .requests = 1}), Kind::not_sent);
  EXPECT_EQ(classify({.code = CURLE_OPERATION_TIMEDOUT, .status = 250, .requests = 1}), Kind::not_sent);
}

TEST(SmtpClassification, WhatTheServerRefusesItDoesNotKeep) {
  EXPECT_EQ(classify({.code = CURLE_SEND_ERROR, .status = 550, .requests = 1}), Kind::failed);
  EXPECT_EQ(classify({.code = CURLE_SEND_ERROR, .status = 451, .requests = 1}), Kind::later);
  EXPECT_EQ(classify({.code = CURLE_WEIRD_SERVER_REPLY, .status = 554, .requests = 1, .uploaded_bytes = 9}),
            Kind::failed);
  EXPECT_EQ(classify({.code = CURLE_WEIRD_SERVER_REPLY, .status = 421, .requests = 1, .uploaded_bytes = 9}),
            Kind::later);
}

TEST(SmtpClassification, EveryErrorAfterTheMessageWasBegunIsUnknown) {
  for (int code = CURLE_OK + 1; code < CURL_LAST; ++code) {
    EXPECT_EQ(classify({.code = static_cast<CURLcode>(code), .status = 354, .requests = 1}), Kind::unknown) << code;
    EXPECT_EQ(classify({.code = static_cast<CURLcode>(code), .status = 250, .requests = 1, .uploaded_bytes = 1}),
              Kind::unknown)
        << code;
  }
}

}  // namespace
}  // namespace onceward::smtp
