// The relay of an application in this process.
#pragma once

#include <mutex>
#include <stop_token>
#include <string>

#include "onceward/declaration.h"
#include "onceward/relay.h"

namespace onceward::daemon {

class RelayPost {
 public:
  // The application and the log must outlive it. Throws std::invalid_argument for a route that leads nowhere.
  RelayPost(const Application& application, Log& log);

  // Works until `stop` is asked for, then drains. Throws Fault where it cannot begin.
  void run(std::stop_token stop);

  // From any thread.
  void wake() noexcept;
  std::string trouble() const;
  void say_trouble(std::string trouble);
  const RelayTally& tally() const { return tally_; }

 private:
  const Application& application_;
  Log& log_;
  const RelayOptions options_;
  RelayTally tally_;

  mutable std::mutex mutex_;
  Relay* relay_ = nullptr;            // guarded; while it runs
  std::string trouble_ = "starting";  // guarded; while it does not
};

}  // namespace onceward::daemon
