// What the gateway says of itself, in its own log: one line of JSON for each request that it has seen, each capture that it has made,
// and each request under a key that it had served before.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace checker {

struct GatewayCapture {
  std::string key, capture, reference;
  std::int64_t amount = 0;
};

struct Gateway {
  std::vector<GatewayCapture> captures;
  std::map<std::string, std::int64_t> seen;  // requests by their key
};

// Throws std::runtime_error where the log cannot be read.
Gateway read_gateway(const std::string& path);

}  // namespace checker
