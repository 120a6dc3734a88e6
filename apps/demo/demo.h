// `onceward demo`: payments are captured while messages come twice, out of order and broken, and workers are killed; then
// an independent checker compares what was sent with what is there.
#pragma once

#include <cstdint>
#include <string>

namespace onceward::demo {

struct Choice {
  std::uint64_t seed = 7;
  std::int64_t messages = 20'000;
  int workers = 4;
  std::string store;   // a URL; empty: a SQLite file of its own
  std::string broker;  // rabbitmq or kafka; empty: an embedded queue
  bool naive = false;
  bool keep = false;
  bool json = false;
};

// Returns the exit code. Throws Fault, std::runtime_error.
int run(const Choice& choice);

}  // namespace onceward::demo
