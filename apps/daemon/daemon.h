// `onceward run`: the workers of all consumers of an application, its relay, its dispatchers, and what can be seen of them
// from outside.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "apps/daemon/admin_server.h"
#include "apps/daemon/dispatch_post.h"
#include "apps/daemon/ingress_post.h"
#include "apps/daemon/metrics.h"
#include "apps/daemon/relay_post.h"
#include "onceward/declaration.h"
#include "onceward/run.h"

namespace onceward::daemon {

class Daemon {
 public:
  // Throws std::invalid_argument where the application cannot be run: no store, a consumer without a handler, a mistake in
  // a source's URL, an endpoint that nobody can make.
  Daemon(Application application, const Handlers& handlers, const Endpoints& endpoints, Log& log);

  // Works until `stop` is asked for, then drains. Returns an exit code of the command line.
  int run(std::stop_token stop);

 private:
  // One worker's thread and what it has to tell.
  struct Post {
    const Declaration* declaration = nullptr;
    const Handler* handler = nullptr;
    ConsumerTally* tally = nullptr;

    mutable std::mutex mutex;
    std::string trouble = "starting";  // guarded
    const Worker* worker = nullptr;    // guarded
  };

  // Runs it until it ends, again while what stood in its way may pass.
  template <class Work, class Tell>
  void persist(std::stop_token stop, Work&& work, Tell&& tell);
  void relay(std::stop_token stop);
  void dispatch(DispatchPost& post, std::stop_token stop);
  void wake_who_sends();
  void count_repeats(std::string_view endpoint, Store::Repeat repeat, std::uint64_t times);
  void work(Post& post, std::stop_token stop);
  void work_once(Post& post, std::stop_token stop);
  std::unique_ptr<StreamKeeper> keeper_for(const Declaration& declaration) const;
  void say_once(const std::string& who, const Fault& fault);
  void ended(const std::string& why, int code);
  void hold_to_drain(std::stop_token ended);
  void watch_backlogs(std::stop_token stop);
  Service service();
  Page page(std::string_view path) const;
  Page readiness() const;
  void tell_when_ready();

  const Application application_;
  Handlers handlers_;
  Log& log_;
  std::map<std::string, std::unique_ptr<ConsumerTally>> tallies_;
  std::vector<std::unique_ptr<Post>> posts_;
  std::optional<RelayPost> relay_;
  std::vector<std::unique_ptr<DispatchPost>> dispatchers_;
  RepeatTallies repeats_;  // of all endpoints that the file names; its keys stay as they are
  std::optional<IngressPost> ingress_;
  std::stop_source failed_;
  std::atomic<int> exit_code_ = 0;
  std::atomic<bool> told_ready_ = false;

  mutable std::mutex mutex_;
  Backlogs backlogs_;                                  // guarded
  std::map<std::string, std::set<std::string>> said_;  // guarded; why somebody cannot begin, as far as it was logged
};

}  // namespace onceward::daemon
