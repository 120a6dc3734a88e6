// The dispatcher of one endpoint of an application in this process.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>

#include "onceward/declaration.h"
#include "onceward/dispatcher.h"

namespace onceward::daemon {

class DispatchPost {
 public:
  using Open = std::function<std::unique_ptr<Endpoint>()>;

  // All must outlive it. `open` makes the endpoint, on the thread that works with it.
  DispatchPost(const Application& application, const EndpointDeclaration& declaration, Open open, Log& log);

  // Works until `stop` is asked for, then drains. Throws Fault where it cannot begin, and std::invalid_argument for a
  // declaration that makes no sense.
  void run(std::stop_token stop);

  const std::string& name() const { return declaration_.name; }
  // From any thread.
  void wake() noexcept;
  std::string trouble() const;
  void say_trouble(std::string trouble);
  const DispatchTally& tally() const { return tally_; }

 private:
  const Application& application_;
  const EndpointDeclaration& declaration_;
  const Open open_;
  Log& log_;
  DispatchTally tally_;

  mutable std::mutex mutex_;
  Dispatcher* dispatcher_ = nullptr;  // guarded; while it runs
  std::string trouble_ = "starting";  // guarded; while it does not
};

}  // namespace onceward::daemon
