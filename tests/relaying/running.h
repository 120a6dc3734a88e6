// Relays that run, on every store, with a post that does as it is told.
#pragma once

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "onceward/relay.h"
#include "tests/fixtures/waiting.h"
#include "tests/relaying/post.h"
#include "tests/relaying/suite.h"

namespace onceward::relay {

using namespace std::chrono_literals;  // NOLINT: as the fixtures

inline std::vector<std::string> payloads(const std::vector<Posted>& posted, const std::string& key = {}) {
  std::vector<std::string> all;
  for (const Posted& one : posted) {
    if (key.empty() || one.key == key) all.push_back(one.payload);
  }
  return all;
}

// Without repeats, which are no disorder.
inline std::vector<std::string> first_payloads(const std::vector<Posted>& posted, const std::string& key = {}) {
  std::vector<std::string> once;
  for (const std::string& payload : payloads(posted, key)) {
    if (std::ranges::find(once, payload) == once.end()) once.push_back(payload);
  }
  return once;
}

class RelaysThatRun : public OnEveryStore {
 protected:
  // A relay with a store of its own, that runs until it is destroyed.
  class Running {
   public:
    Running(std::unique_ptr<Store> store, RelayOptions options, RelayTally& tally)
        : store_(std::move(store)),
          relay_(std::move(options), *store_, tally),
          thread_([this](std::stop_token stop) { relay_.run(stop, 5s); }) {}
    Relay& operator*() { return relay_; }

   private:
    std::unique_ptr<Store> store_;
    Relay relay_;
    std::jthread thread_;
  };

  RelayOptions options(bool ordered = false) {
    RelayOptions options;
    options.name = "relay";
    options.producer = "shop";
    options.targets = {{"post", [this] { return std::make_unique<PostPublisher>(post_); }}};
    options.routes = {{.types = {"paid"}, .target = 0, .destination = "payments", .ordered = ordered}};
    options.retry = {.attempts = 3, .first_delay = 20ms, .longest_delay = 40ms};
    options.page = 10;
    options.lease = 2s;
    options.poll = 20ms;
    return options;
  }
  // One that soon takes a broker that does not answer for away.
  static RelayOptions impatient(RelayOptions options) {
    options.patience = 200ms;
    return options;
  }
  // With another broker, for messages of type "shipped".
  RelayOptions with_other(RelayOptions options) {
    const bool ordered = options.routes[0].ordered;
    options.targets.push_back({"other", [this] { return std::make_unique<PostPublisher>(other_); }});
    options.routes.push_back({.types = {"shipped"}, .target = 1, .destination = "shipments", .ordered = ordered});
    return options;
  }
  std::unique_ptr<Running> start(RelayOptions options) {
    return std::make_unique<Running>(under_->open(), std::move(options), tally_);
  }
  void send_one(const std::string& key, const std::string& payload, std::optional<std::int64_t> version = {}) {
    send({{.key = key, .version = version, .payload = payload}});
  }
  void ship(const std::string& key, const std::string& payload) {
    const auto unit = store_->begin({});
    unit->whole().stage(Outgoing{.type = "shipped", .key = key, .payload = payload});
    ASSERT_EQ(unit->commit(), Commit::committed);
  }
  void await_posted(std::size_t count) {
    await(fmt::format("{} messages", count), [&] { return post_.size() >= count; });
  }
  void await_posted(const std::string& payload) {
    await(payload, [&] {
      const auto all = payloads(post_.all());
      return std::ranges::find(all, payload) != all.end();
    });
  }
  std::int64_t waiting(const std::string& state) {
    return reader().number(fmt::format("SELECT count(*) FROM {} WHERE state = '{}'", table("outbox_waiting"), state));
  }
  // What a relay that starts now would still find.
  std::size_t left() {
    Pages pages(*store_, "shop");
    Place place = OnEveryStore::start();
    return read_all(pages, every_slot_, place).size();
  }

  Post post_, other_;
  RelayTally tally_;
};

}  // namespace onceward::relay
