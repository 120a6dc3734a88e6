#include "adapters/http/classify.h"

#include <gtest/gtest.h>

namespace onceward::http {
namespace {

using Kind = EndpointAnswer::Kind;
using namespace std::chrono_literals;
using curl::Ending;

const Statuses& call_statuses() {
  static const EndpointDeclaration defaults;
  static const Statuses statuses({{"succeeded", defaults.succeeded, Kind::succeeded},
                                  {"failed", defaults.failed, Kind::failed},
                                  {"later", defaults.later, Kind::later}},
                                 Kind::unknown);
  return statuses;
}

Kind of(const Ending& ending) { return classify_call(ending, call_statuses()); }

TEST(HttpClassification, WhatWasNeverHandedToAConnectionWasNotSent) {
  for (const CURLcode code : {CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_CONNECT, CURLE_PEER_FAILED_VERIFICATION,
                              CURLE_SSL_CONNECT_ERROR, CURLE_OPERATION_TIMEDOUT, CURLE_RECV_ERROR, CURLE_SEND_ERROR}) {
    EXPECT_EQ(of({.code = code}), Kind::not_sent) << code;
  }
}

TEST(HttpClassification, WhatCouldNotWriteItsFirstByteWasNotSent) {
  EXPECT_EQ(of({.code = CURLE_SEND_ERROR, .requests = 1}), Kind::not_sent);
  EXPECT_EQ(of({.code = CURLE_SEND_ERROR, .requests = 1, .request_bytes = 1}), Kind::unknown);
  EXPECT_EQ(of({.code = CURLE_SEND_ERROR, .requests = 2}), Kind::unknown) << "the first may have been seen";
}

TEST(HttpClassification, EveryErrorAfterTheRequestMayHaveBeenSeenIsUnknown) {
  for (int code = CURLE_OK + 1; code < CURL_LAST; ++code) {
    for (const int status : {0, 200, 404, 503}) {
      const Ending ending{.code = static_cast<CURLcode>(code), .status = status, .requests = 1, .request_bytes = 100};
      EXPECT_EQ(of(ending), Kind::unknown) << code << " after HTTP " << status;
    }
  }
}

TEST(HttpClassification, CompleteAnswerIsWhatItsStatusSays) {
  const auto answered = [](int status) { return of({.status = status, .requests = 1, .request_bytes = 100}); };
  EXPECT_EQ(answered(200), Kind::succeeded);
  EXPECT_EQ(answered(201), Kind::succeeded);
  EXPECT_EQ(answered(400), Kind::failed);
  EXPECT_EQ(answered(429), Kind::later);
  EXPECT_EQ(answered(503), Kind::unknown) << "it does not say when";
  EXPECT_EQ(of({.status = 503, .requests = 1, .request_bytes = 100, .retry_after = 1s}), Kind::later);
  EXPECT_EQ(answered(500), Kind::unknown);
  EXPECT_EQ(answered(302), Kind::unknown);
  EXPECT_EQ(answered(0), Kind::unknown);
}

// The other side may work on the first while it refuses the second.
TEST(HttpClassification, OfARequestThatLibcurlMadeAgainOnlyAYesIsDefinite) {
  const auto answered = [](int status) {
    return of({.status = status, .requests = 2, .request_bytes = 200, .retry_after = 1s});
  };
  EXPECT_EQ(answered(200), Kind::succeeded);
  for (const int status : {400, 409, 429, 503, 500}) EXPECT_EQ(answered(status), Kind::unknown) << status;
}

TEST(HttpClassification, LookUpThatWasNotAnsweredSaysNothing) {
  const LookUpDeclaration defaults;
  const Statuses statuses({{"done", defaults.done, Kind::done}, {"not_done", defaults.not_done, Kind::not_done}},
                          Kind::still_unknown);
  const auto look_up = [&](const Ending& ending) { return classify_look_up(ending, statuses); };
  EXPECT_EQ(look_up({.status = 200, .requests = 1}), Kind::done);
  EXPECT_EQ(look_up({.status = 404, .requests = 1}), Kind::not_done);
  EXPECT_EQ(look_up({.status = 500, .requests = 1}), Kind::still_unknown);
  EXPECT_EQ(look_up({.status = 403, .requests = 1}), Kind::still_unknown);
  EXPECT_EQ(look_up({.code = CURLE_PARTIAL_FILE, .status = 404, .requests = 1}), Kind::still_unknown);
  EXPECT_EQ(look_up({.code = CURLE_COULDNT_CONNECT}), Kind::not_sent);
  EXPECT_EQ(look_up({.status = 429, .requests = 1}), Kind::later);
  EXPECT_EQ(look_up({.status = 503, .requests = 1}), Kind::later);
}

TEST(HttpClassification, RetryAfterIsBounded) {
  EXPECT_EQ(retry_after({.retry_after = 0s}), std::nullopt);
  EXPECT_EQ(retry_after({.retry_after = -5s}), std::nullopt);
  EXPECT_EQ(retry_after({.retry_after = 30s}), 30'000ms);
  EXPECT_EQ(retry_after({.retry_after = 1'000h}), 24h);
}

}  // namespace
}  // namespace onceward::http
