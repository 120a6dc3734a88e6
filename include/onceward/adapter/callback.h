// An endpoint that is a function of the team's own: for systems that have a client library of their own, and for tests.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "onceward/port/endpoint.h"

namespace onceward {

// Functions are called by threads of the endpoint's own, several at a time. The request is borrowed until the function
// returns; the answer's tag is ignored. A function that throws, or answers what is no answer to its question, has said
// "unknown". The token is stopped when the endpoint is destroyed, which waits for the functions that still run.
using CallbackFunction = std::function<EndpointAnswer(const EndpointRequest&, std::stop_token)>;

struct CallbackOptions {
  std::string name{"callback"};  // for people
  CallbackFunction call;
  CallbackFunction look_up{};  // none: it cannot be asked
  std::function<std::vector<EndpointRecord>(Timestamp since)>
      list{};                       // none: it has no list; throws Fault as Endpoint::list()
  std::size_t threads = 4;          // 1 to 256
  std::size_t most_under_way = 16;  // those that wait for a thread included; no fewer than threads, no more than 10 000
  // From the start of a request. Past it a call is unknown, and what the function answers later is not heard; one that no thread
  // has begun by then was not sent.
  std::chrono::milliseconds deadline{15'000};
};

// Throws std::invalid_argument for options past their limits.
std::unique_ptr<Endpoint> open_callback(CallbackOptions options);

}  // namespace onceward
