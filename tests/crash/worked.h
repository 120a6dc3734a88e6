// A worker on a thread of the test, for what has to be asked of it.
#pragma once

#include <thread>

#include "onceward/worker.h"
#include "tests/crash/effect.h"
#include "tests/fixtures/message.h"

namespace onceward::crash {

inline Declaration hurried_consumer() {
  Declaration declaration = fixtures::consumer();
  declaration.time_bound = std::chrono::seconds(10);
  declaration.batch = 20;
  declaration.retry = {
      .attempts = 3, .first_delay = std::chrono::milliseconds(1), .longest_delay = std::chrono::milliseconds(4)};
  return declaration;
}

// A worker on a thread of its own, until it goes.
class Worked {
 public:
  Worked(const MessageHandler& handler, Store& store, Source& source)
      : worker_(hurried_consumer(), handler, store, source, tally_),
        thread_([this](const std::stop_token& stop) { worker_.run(stop, std::chrono::seconds(20)); }) {}

  std::string trouble() const { return worker_.trouble(); }
  const ConsumerTally& tally() const { return tally_; }

 private:
  ConsumerTally tally_;
  Worker worker_;
  std::jthread thread_;
};

inline Outcome apply_whole(const Envelope& message, Transaction& transaction) {
  return apply_effect(message, transaction, [](Point) {});
}

}  // namespace onceward::crash
