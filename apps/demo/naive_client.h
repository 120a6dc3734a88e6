// How many a service calls its payment provider: the client of libcurl's own examples, a new request with a new key for each try,
// and another try when it does not like the answer. What --naive calls with; nothing of Onceward's is in it.
#pragma once

#include <memory>
#include <random>
#include <string>

#include "onceward/dispatcher.h"

namespace onceward::demo {

class NaiveClient {
 public:
  // The tally must outlive it: calls that were started are counted there.
  NaiveClient(std::string url, DispatchTally& tally);
  // Throws std::runtime_error when it has tried often enough.
  void charge(const std::string& body);

 private:
  bool try_once(const std::string& body);

  const std::string url_;
  DispatchTally& tally_;
  const std::unique_ptr<void, void (*)(void*)> easy_;
  std::random_device chance_;
};

}  // namespace onceward::demo
