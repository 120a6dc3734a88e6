// An external system that does as it is told, and remembers what it was asked: the world behind all endpoints of a test.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "onceward/port/endpoint.h"

namespace onceward::dispatch {

class Provider {
 public:
  using Kind = EndpointAnswer::Kind;
  using Clock = std::chrono::steady_clock;
  struct Request {
    std::string key, body, external_ref;
    bool look_up = false;
    Clock::time_point at;
  };
  // `times` that the key has been asked for in this way, this time included.
  using Answer = std::function<EndpointAnswer(const Request&, int times)>;

  void answer_with(Answer answer) {
    const std::lock_guard lock(mutex_);
    answer_ = std::move(answer);
  }
  void answer_with(Kind kind) {
    answer_with([kind](const Request&, int) { return told(kind); });
  }
  // While it holds, requests are taken and not answered.
  void hold(bool held) {
    const std::lock_guard lock(mutex_);
    held_ = held;
    changed_.notify_all();
  }
  static EndpointAnswer told(Kind kind) {
    const bool definite = kind == Kind::succeeded || kind == Kind::failed;
    return {.kind = kind,
            .status = definite ? (kind == Kind::succeeded ? 201 : 402) : 0,
            .external_ref = kind == Kind::succeeded || kind == Kind::done ? "ref-1" : "",
            .response = definite ? "{}" : "",
            .why = kind == Kind::succeeded ? "" : "as told"};
  }

  std::vector<Request> all(bool look_ups = false) const {
    const std::lock_guard lock(mutex_);
    std::vector<Request> some;
    std::ranges::copy_if(requests_, std::back_inserter(some), [&](const auto& one) { return one.look_up == look_ups; });
    return some;
  }
  // These are polled: they keep nobody from calling for longer than it takes to count.
  std::size_t calls() const {
    const std::lock_guard lock(mutex_);
    return requests_.size() - look_ups_;
  }
  std::size_t look_ups() const {
    const std::lock_guard lock(mutex_);
    return look_ups_;
  }
  std::size_t calls_of(const std::string& key) const {
    const std::lock_guard lock(mutex_);
    const auto found = times_.find({key, false});
    return found == times_.end() ? 0 : static_cast<std::size_t>(found->second);
  }
  std::size_t most_under_way() const {
    const std::lock_guard lock(mutex_);
    return most_under_way_;
  }

 private:
  friend class ProviderEndpoint;
  EndpointAnswer take(const EndpointRequest& request) {
    Request taken{std::string(request.key), std::string(request.body), std::string(request.external_ref),
                  request.kind == EndpointRequest::Kind::look_up, Clock::now()};
    requests_.push_back(taken);
    if (taken.look_up) ++look_ups_;
    const int times = ++times_[{taken.key, taken.look_up}];
    EndpointAnswer answer = answer_ ? answer_(taken, times) : told(taken.look_up ? Kind::done : Kind::succeeded);
    answer.tag = request.tag;
    return answer;
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Answer answer_;
  bool held_ = false;
  std::vector<Request> requests_;
  std::map<std::pair<std::string, bool>, int> times_;  // by key, look-ups apart
  std::size_t look_ups_ = 0;
  std::size_t under_way_ = 0, most_under_way_ = 0;
};

struct ProviderOptions {
  bool looks_up = false;
  std::chrono::milliseconds longest{500};
  bool in_order = false;  // answers come in the order of the requests
};

class ProviderEndpoint final : public Endpoint {
 public:
  ProviderEndpoint(Provider& provider, const ProviderOptions& options) : provider_(provider), options_(options) {}

  std::size_t room() const override { return 64 - under_way(); }
  std::size_t under_way() const override { return answers_.size(); }
  void start(std::span<const EndpointRequest> requests) override {
    const std::lock_guard lock(provider_.mutex_);
    for (const EndpointRequest& request : requests) answers_.push_back(provider_.take(request));
    provider_.under_way_ += requests.size();
    provider_.most_under_way_ = std::max(provider_.most_under_way_, provider_.under_way_);
  }
  // Half of them, the last ones first unless told otherwise: answers come late and in any order.
  void collect(std::vector<EndpointAnswer>& into, std::chrono::milliseconds wait) override {
    std::unique_lock lock(provider_.mutex_);
    const auto any = [&] { return woken_ || (!provider_.held_ && !answers_.empty()); };
    provider_.changed_.wait_for(lock, wait, any);
    woken_ = false;
    if (provider_.held_) return;
    for (std::size_t left = (answers_.size() + 1) / 2; left > 0; --left) {
      into.push_back(std::move(options_.in_order ? answers_.front() : answers_.back()));
      options_.in_order ? answers_.pop_front() : answers_.pop_back();
      --provider_.under_way_;
    }
  }
  void wake() noexcept override {
    const std::lock_guard lock(provider_.mutex_);
    woken_ = true;
    provider_.changed_.notify_all();
  }
  std::chrono::milliseconds longest() const override { return options_.longest; }
  bool looks_up() const override { return options_.looks_up; }
  std::string describe() const override { return "provider"; }

 private:
  Provider& provider_;
  const ProviderOptions options_;
  std::deque<EndpointAnswer> answers_;
  bool woken_ = false;
};

}  // namespace onceward::dispatch
