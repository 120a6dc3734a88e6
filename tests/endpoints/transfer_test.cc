// libcurl, held to what the adapters rely on.
#include <gtest/gtest.h>

#include "adapters/curl/transfers.h"
#include "tests/fixtures/http_server.h"

namespace onceward {
namespace {

using namespace fixtures;

// Asks with one connection for all, as no adapter would for a call, and says how it ended.
curl::Ending ask_on(curl::Transfers& transfers, const HttpServer& server, const std::string& key, bool may_repeat) {
  auto transfer = std::make_unique<curl::Transfer>(
      http_declaration(server, "/"), curl::Transfer::Limits{.response_bytes = 1000, .may_repeat = may_repeat});
  curl::Lines headers;
  headers.add("Idempotency-Key: " + key);
  curl::set(transfer->easy(), CURLOPT_URL, server.url("/reset-reused").c_str());
  curl::set(transfer->easy(), CURLOPT_HTTPHEADER, headers.get());
  curl::set(transfer->easy(), CURLOPT_COPYPOSTFIELDS, "{}");
  transfers.start(std::move(transfer));
  while (true) {
    if (const auto ended = transfers.collect(generous, false); !ended.empty()) return ended[0]->ending();
  }
}

TEST(Transfers, LibcurlRepeatsARequestOnALostConnectionAndEachIsCounted) {
  HttpServer server;
  curl::Transfers transfers(4);
  EXPECT_EQ(ask_on(transfers, server, "a", true).requests, 1);
  const curl::Ending repeated = ask_on(transfers, server, "b", true);
  EXPECT_EQ(repeated.code, CURLE_OK);
  EXPECT_EQ(repeated.requests, 2);
  EXPECT_EQ(server.seen("b"), 2u);
}

TEST(Transfers, RepeatThatIsNotAllowedIsHeldBackAndTheFirstMayHaveBeenSeen) {
  HttpServer server;
  curl::Transfers transfers(4);
  ask_on(transfers, server, "a", false);
  const curl::Ending held_back = ask_on(transfers, server, "b", false);
  EXPECT_NE(held_back.code, CURLE_OK);
  EXPECT_TRUE(held_back.may_have_been_seen());
  EXPECT_EQ(server.seen("b"), 1u);
}

}  // namespace
}  // namespace onceward
