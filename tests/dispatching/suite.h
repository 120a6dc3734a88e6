// Dispatchers on every store, with an external system that does as it is told.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "onceward/dispatcher.h"
#include "tests/dispatching/provider.h"
#include "tests/fixtures/store_under_test.h"
#include "tests/fixtures/waiting.h"

namespace onceward::dispatch {

using namespace fixtures;  // NOLINT: the fixtures are the suite's vocabulary
using namespace std::chrono_literals;
using Kind = EndpointAnswer::Kind;

// A dispatcher with a store and an endpoint of its own, that runs until it is destroyed.
class Running {
 public:
  using Wrap = std::function<std::unique_ptr<Store>(Store&)>;
  Running(std::unique_ptr<Store> store, const Wrap& wrap, const EndpointDeclaration& declaration, Provider& provider,
          const ProviderOptions& options)
      : real_(std::move(store)),
        wrapped_(wrap ? wrap(*real_) : nullptr),
        endpoint_(provider, options),
        dispatcher_(declaration, "test", wrapped_ ? *wrapped_ : *real_, endpoint_, tally),
        thread_([this](std::stop_token stop) { dispatcher_.run(stop, 5s); }) {}
  Dispatcher& operator*() { return dispatcher_; }
  void stop() {
    thread_.request_stop();
    thread_.join();
  }

  DispatchTally tally;

 private:
  std::unique_ptr<Store> real_, wrapped_;
  ProviderEndpoint endpoint_;
  Dispatcher dispatcher_;
  std::jthread thread_;
};

class OnEveryStore : public testing::TestWithParam<Backend> {
 protected:
  OnEveryStore() {
    declaration_.name = "gateway";
    declaration_.lease = 2s;
    declaration_.poll = 20ms;
    declaration_.retry = {.attempts = 3, .first_delay = 10ms, .longest_delay = 20ms};
    LookUpDeclaration& look_up = declaration_.look_up.emplace();
    look_up.settle = 200ms;
    look_up.every = 20ms;
    look_up.attempts = 3;
    declaration_.circuit_failures = 1'000;
  }

  std::unique_ptr<Running> start(const Running::Wrap& wrap = {}) {
    return std::make_unique<Running>(under_->open(), wrap, declaration_, provider_, options_);
  }
  void stage(const Call& call) {
    const auto unit = store_->begin({});
    unit->whole().stage(call);
    ASSERT_EQ(unit->commit(), Commit::committed);
  }
  void stage(const std::string& key) { stage(Call{.endpoint = "gateway", .key = key, .body = key + " body"}); }
  void stage_many(int count) {
    const auto unit = store_->begin({});
    for (int i = 0; i < count; ++i) {
      const std::string key = fmt::format("k{}", i);
      unit->whole().stage(Call{.endpoint = "gateway", .key = key, .body = "{}"});
    }
    ASSERT_EQ(unit->commit(), Commit::committed);
  }

  std::string of(const std::string& key, const std::string& column) {
    return under_->reader().value(
        fmt::format("SELECT coalesce(CAST({} AS text), 'none') FROM {} WHERE idempotency_key = '{}'", column,
                    under_->table("ledger"), key));
  }
  std::string state(const std::string& key) { return of(key, "state"); }
  std::int64_t in_state(const std::string& state) {
    return under_->reader().number(
        fmt::format("SELECT count(*) FROM {} WHERE state = '{}'", under_->table("ledger"), state));
  }
  void await_state(const std::string& key, const std::string& state) {
    std::string seen;
    try {
      await(key + " is " + state, [&] { return (seen = this->state(key)) == state; }, 20s);
    } catch (const std::exception& thrown) {
      FAIL() << thrown.what() << ", it is " << seen;
    }
  }
  // "call succeeded, look_up done": every attempt at it.
  std::string attempts(const std::string& key) {
    std::string all;
    for (const auto& row : under_->reader().read(
             fmt::format("SELECT t.kind, t.outcome FROM {} t JOIN {} l ON l.key = t.key WHERE l.idempotency_key = '{}' "
                         "ORDER BY t.number",
                         under_->table("ledger_attempt"), under_->table("ledger"), key))) {
      all += (all.empty() ? "" : ", ") + row.at(0).value_or("") + " " + row.at(1).value_or("");
    }
    return all;
  }
  bool postgres() const { return !GetParam().name.starts_with("sqlite"); }
  std::string from_now(std::chrono::milliseconds span) const {
    return postgres() ? fmt::format("now() + {} * interval '1 millisecond'", span.count())
                      : fmt::format("CAST(unixepoch('subsec') * 1000000 AS INTEGER) + {}", span.count() * 1000);
  }
  void put(const std::string& key, const std::string& assignments) {
    under_->reader().run(
        fmt::format("UPDATE {} SET {} WHERE idempotency_key = '{}'", under_->table("ledger"), assignments, key));
  }
  // As if a dispatcher had marked it and died.
  void abandon(const std::string& key, std::chrono::milliseconds lease = -1s) {
    put(key, fmt::format("state = 'attempting', owner = 'dead', attempts = 1, last_attempt = 1, lease_until = {0}, "
                         "due_at = {0}, first_attempt_at = {1}",
                         from_now(lease), from_now(0ms)));
    under_->reader().run(
        fmt::format("INSERT INTO {} (key, number, kind, who, began_at) SELECT key, 1, 'call', 'dead', {} "
                    "FROM {} WHERE idempotency_key = '{}'",
                    under_->table("ledger_attempt"), from_now(0ms), under_->table("ledger"), key));
  }
  // Everything that was there before has been looked at.
  void let_another_pass() {
    const std::string key = fmt::format("passer {}", passers_++);
    stage(key);
    await("another has been called", [&] { return provider_.calls_of(key) > 0; });
  }

  std::unique_ptr<StoreUnderTest> under_ = GetParam().make();
  std::unique_ptr<Store> store_ = under_->open();
  Provider provider_;
  EndpointDeclaration declaration_;
  ProviderOptions options_;
  int passers_ = 0;
};

inline std::string backend_name(const testing::TestParamInfo<Backend>& info) { return info.param.name; }

}  // namespace onceward::dispatch

#define ONCEWARD_ON_EVERY_STORE(suite) \
  INSTANTIATE_TEST_SUITE_P(Store, suite, testing::ValuesIn(fixtures::backends()), backend_name)
