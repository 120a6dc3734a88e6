#include "apps/daemon/relay_post.h"

#include <fmt/format.h>

#include <stdexcept>

#include "apps/daemon/ports.h"
#include "apps/daemon/process_name.h"

namespace onceward::daemon {
namespace {

RelayRoute route_of(const RouteDeclaration& declared, std::size_t target) {
  const Target place = read_target(declared.to);
  const bool keyed = place.key && !place.key->empty();
  return {.types = declared.types,
          .target = target,
          .destination = place.destination,
          .key = !declared.key.empty() ? declared.key
                 : keyed               ? *place.key
                                       : "{key}",
          .ordered = declared.order == Order::key};
}

RelayOptions options_of(const Application& application, Log& log) {
  RelayOptions options;
  options.name = process_name();
  options.producer = application.relay.producer;
  options.retry = application.relay.retry;
  options.lease = application.relay.lease;
  options.poll = application.relay.poll;
  for (const RouteDeclaration& route : application.routes) {
    try {
      options.routes.push_back(route_of(route, options.targets.size()));
    } catch (const std::invalid_argument& mistake) {
      throw std::invalid_argument(fmt::format("route {}: {}", route.name, mistake.what()));
    }
    options.targets.push_back({route.name, [to = route.to, &log] { return open_target(to, log).publisher; }});
  }
  return options;
}

}  // namespace

RelayPost::RelayPost(const Application& application, Log& log)
    : application_(application), log_(log), options_(options_of(application, log)) {}

void RelayPost::run(std::stop_token stop) {
  const auto store = open_store(application_.store);
  Relay relay(options_, *store, tally_, log_);
  {
    const std::lock_guard lock(mutex_);
    relay_ = &relay;
  }
  const auto bell = hang_bell(application_.store, [this] { wake(); });
  const std::string from = store->describe();
  const LogField fields[] = {{"store", from}, {"routes", static_cast<std::int64_t>(options_.routes.size())}};
  log_.write(LogLevel::info, "relaying", fields);
  const auto over = [this](std::string trouble) {
    const std::lock_guard lock(mutex_);
    relay_ = nullptr;
    trouble_ = std::move(trouble);
  };
  try {
    relay.run(stop, application_.drain);
  } catch (...) {
    over("ended");
    throw;
  }
  over("ended");
}

void RelayPost::wake() noexcept {
  const std::lock_guard lock(mutex_);
  if (relay_) relay_->wake();
}

std::string RelayPost::trouble() const {
  const std::lock_guard lock(mutex_);
  return relay_ ? relay_->trouble() : trouble_;
}

void RelayPost::say_trouble(std::string trouble) {
  const std::lock_guard lock(mutex_);
  trouble_ = std::move(trouble);
}

}  // namespace onceward::daemon
