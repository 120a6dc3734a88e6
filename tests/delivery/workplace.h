// A worker with all around it: a store of the test's own, a queue in memory, and the worker's thread.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <thread>
#include <vector>

#include "onceward/adapter/memory.h"
#include "onceward/worker.h"
#include "tests/fixtures/store_under_test.h"
#include "tests/fixtures/waiting.h"

namespace onceward {

class Workplace : public testing::TestWithParam<fixtures::Backend> {
 protected:
  Workplace() {
    declaration_.retry = {
        .attempts = 3, .first_delay = std::chrono::milliseconds(1), .longest_delay = std::chrono::milliseconds(4)};
    declaration_.time_bound = std::chrono::seconds(10);
  }

  void push(const std::vector<fixtures::Message>& messages) {
    std::vector<Envelope> envelopes;
    for (const fixtures::Message& message : messages) envelopes.push_back(fixtures::envelope_of(message));
    queue_.push(envelopes);
  }
  // 0, 1, 2... of them.
  void push_numbered(int count, int from = 0) {
    std::vector<fixtures::Message> messages;
    for (int id = from; id < from + count; ++id) messages.push_back({.id = std::to_string(id)});
    push(messages);
  }

  // Works with `workers` of them until the queue is empty and `done` holds; then they are stopped and have drained.
  template <class Done>
  void work_until(const std::string& what, Done&& done, const Handler& handler, int workers = 1) {
    std::vector<std::jthread> threads;
    for (int i = 0; i < workers; ++i) {
      threads.emplace_back([&](std::stop_token stop) {
        const auto store = under_->open(waits_);
        const auto source = queue_.open();
        Worker worker(declaration_, handler, *store, *source, tally_);
        worker.run(stop, std::chrono::seconds(20));
      });
    }
    fixtures::await(what, [&] { return idle() && done(); });
  }
  void work_off(const Handler& handler, int workers = 1) {
    work_until("the queue is empty", [&] { return waiting() == 0; }, handler, workers);
  }

  bool idle() const {
    const QueueDepth depth = queue_.depth();
    return depth.ready == 0 && depth.in_flight == 0;
  }
  // Messages that wait in our store for their next attempt.
  std::int64_t waiting() {
    return under_->reader().number("SELECT count(*) FROM " + under_->table("inbox_outcome") + " WHERE state IN (2, 5)");
  }
  std::int64_t parked(const std::string& reason) {
    return under_->reader().number("SELECT count(*) FROM " + under_->table("quarantine") + " WHERE reason = '" +
                                   reason + "' AND state = 'parked'");
  }

  std::uint64_t batches() const {
    std::uint64_t all = 0;
    for (const auto& count : tally_.batch.counts) all += count;
    return all;
  }
  std::uint64_t failures() const {
    return tally_.returned + tally_.thrown + tally_.statement + tally_.field + tally_.deadly;
  }

  MemoryQueue queue_;
  ConsumerTally tally_;
  std::unique_ptr<fixtures::StoreUnderTest> under_ = GetParam().make();
  Declaration declaration_ = fixtures::consumer();
  fixtures::Waits waits_;
};

}  // namespace onceward

#define ONCEWARD_AT_EVERY_STORE(suite)                                            \
  INSTANTIATE_TEST_SUITE_P(Store, suite, testing::ValuesIn(fixtures::backends()), \
                           [](const auto& of) { return of.param.name; })
