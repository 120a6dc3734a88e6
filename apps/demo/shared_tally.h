// What the workers and dispatchers of a run counted, in a file that all its processes have in their memory: a worker that is killed takes
// nothing of it along. For progress and for the report; the proof does not look at it.
#pragma once

#include <string>

#include "onceward/dispatcher.h"
#include "onceward/worker.h"

namespace onceward::demo {

class SharedTally {
 public:
  // Makes the file if it is not there. Throws std::system_error.
  explicit SharedTally(const std::string& path);
  ~SharedTally();
  SharedTally(const SharedTally&) = delete;
  SharedTally& operator=(const SharedTally&) = delete;

  ConsumerTally& operator*() { return tallies_->worker; }
  ConsumerTally* operator->() { return &tallies_->worker; }
  DispatchTally& calls() { return tallies_->calls; }

 private:
  struct Tallies {
    ConsumerTally worker;
    DispatchTally calls;
  };
  Tallies* tallies_ = nullptr;
};

}  // namespace onceward::demo
