#include "apps/daemon/dispatch_post.h"

#include <utility>

#include "apps/daemon/ports.h"
#include "apps/daemon/process_name.h"

namespace onceward::daemon {

DispatchPost::DispatchPost(const Application& application, const EndpointDeclaration& declaration, Open open, Log& log)
    : application_(application), declaration_(declaration), open_(std::move(open)), log_(log) {}

void DispatchPost::run(std::stop_token stop) {
  const auto store = open_store(application_.store);
  const auto endpoint = open_();
  Dispatcher dispatcher(declaration_, process_name(), *store, *endpoint, tally_, log_);
  const std::string from = store->describe(), to = endpoint->describe();
  const LogField fields[] = {{"endpoint", declaration_.name}, {"store", from}, {"to", to}};
  log_.write(LogLevel::info, "dispatching", fields);
  {
    const std::lock_guard lock(mutex_);
    dispatcher_ = &dispatcher;
  }
  const auto over = [this] {
    const std::lock_guard lock(mutex_);
    dispatcher_ = nullptr;
    trouble_ = "ended";
  };
  try {
    dispatcher.run(stop, application_.drain);
  } catch (...) {
    over();
    throw;
  }
  over();
}

void DispatchPost::wake() noexcept {
  const std::lock_guard lock(mutex_);
  if (dispatcher_) dispatcher_->wake();
}

std::string DispatchPost::trouble() const {
  const std::lock_guard lock(mutex_);
  return dispatcher_ ? dispatcher_->trouble() : trouble_;
}

void DispatchPost::say_trouble(std::string trouble) {
  const std::lock_guard lock(mutex_);
  trouble_ = std::move(trouble);
}

}  // namespace onceward::daemon
