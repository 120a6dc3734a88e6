#include "src/declaration/address.h"

#include <gtest/gtest.h>

namespace onceward::declaration {
namespace {

std::string written(std::string_view text) {
  const auto address = read_address(text);
  return address ? address->host + " " + std::to_string(address->port) : "none";
}

TEST(Address, IsAHostAndAPort) {
  EXPECT_EQ(written("127.0.0.1:9464"), "127.0.0.1 9464");
  EXPECT_EQ(written("[::1]:0"), "::1 0");
  EXPECT_EQ(written("localhost:65535"), "localhost 65535");
  for (const char* text :
       {"", ":", "127.0.0.1", ":9464", "localhost:", "localhost:65536", "localhost:-1", "localhost:1x", "::1:9464",
        "[::1]", "[::1]9464", "[]:1", "a b:1", "user@localhost:1", "http://localhost:1"})
    EXPECT_EQ(written(text), "none") << text;
}

TEST(Address, OnLoopbackIsOnlyWhatSaysSoItself) {
  for (const char* host : {"127.0.0.1", "127.255.0.9", "::1", "localhost"}) EXPECT_TRUE(is_loopback(host)) << host;
  for (const char* host :
       {"", "0.0.0.0", "::", "10.0.0.1", "128.0.0.1", "127.0.0.1.example.com", "127.evil.com", "127.1", "127.0.0.256",
        "127.0.0.", "127.0.0.0001", "localhost.example.com", "LOCALHOST", "::ffff:127.0.0.1"})
    EXPECT_FALSE(is_loopback(host)) << host;
}

}  // namespace
}  // namespace onceward::declaration
