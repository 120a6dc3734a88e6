#include "apps/daemon/daemon.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "apps/daemon/backlogs.h"
#include "apps/daemon/environment.h"
#include "apps/daemon/exit_code.h"
#include "apps/daemon/ports.h"
#include "apps/daemon/supervisor.h"
#include "onceward/stream_keeper.h"

namespace onceward::daemon {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds drain_patience{500};  // for what is to be done after the deadline: settling, closing

// False if a stop came first.
bool pause(std::stop_token stop, milliseconds time) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, stop, time, [] { return false; });
  return !stop.stop_requested();
}

// What a restart of the other side may mend; the rest needs a person, who is waiting for an answer. A broker that says no
// is asked again: the URL is well written, or it had been refused at the start, and somebody may just be making the queue.
bool may_pass(const Fault& fault) {
  return fault.fault() == FaultCode::store_unavailable || fault.fault() == FaultCode::source_unavailable ||
         fault.fault() == FaultCode::source_refused || fault.fault() == FaultCode::busy ||
         fault.fault() == FaultCode::lost_race || fault.fault() == FaultCode::store_full;
}

// What a broker says no to is each time another thing to mend. Its text is "place: our words: a library's words", and the last
// differ from try to try.
std::string_view kind_of(const Fault& fault) {
  if (fault.fault() != FaultCode::source_refused) return code(fault.fault());
  const std::string_view what = fault.what();
  const std::size_t place = what.find(": ");
  return what.substr(0, place == what.npos ? what.npos : what.find(": ", place + 1));
}

// Of a source. While it is being opened its warnings are for those who debug: the fault that it ends with says the same,
// and a try is made every few seconds.
class SourceLog final : public Log {
 public:
  explicit SourceLog(Log& log) : log_(log) {}
  void speak_up() { opening_ = false; }

  bool wants(LogLevel level) const noexcept override { return log_.wants(heard_as(level)); }
  void write(LogLevel level, std::string_view message, std::span<const LogField> fields) noexcept override {
    log_.write(heard_as(level), message, fields);
  }

 private:
  LogLevel heard_as(LogLevel level) const { return opening_ ? LogLevel::debug : level; }

  Log& log_;
  std::atomic<bool> opening_ = true;
};

Handlers with_sql(const Application& application, const Handlers& given) {
  Handlers all = given;
  for (const Declaration& consumer : application.consumers) {
    if (!consumer.sql.empty()) all[consumer.name] = SqlHandler{consumer.sql};
    if (!all.contains(consumer.name)) {
      throw std::invalid_argument(fmt::format(
          "consumer {} has no handler: write sql = [...] in the file, or hand one to onceward::run()", consumer.name));
    }
    if (consumer.source.empty()) throw std::invalid_argument(fmt::format("consumer {} has no source", consumer.name));
    try {
      read_source(consumer);
    } catch (const std::invalid_argument& mistake) {
      throw std::invalid_argument(fmt::format("consumer {}: {}", consumer.name, mistake.what()));
    }
  }
  return all;
}

DispatchPost::Open opening(const EndpointDeclaration& endpoint, const Endpoints& given, Log& log) {
  if (const auto found = given.find(endpoint.name); found != given.end()) return found->second;
  if (endpoint.url.empty()) {
    throw std::invalid_argument(
        fmt::format("endpoint {} has no url: write one, or hand an endpoint to onceward::run()", endpoint.name));
  }
  return [&endpoint, &log] { return open_endpoint(endpoint, log); };
}

}  // namespace

Daemon::Daemon(Application application, const Handlers& handlers, const Endpoints& endpoints, Log& log)
    : application_(std::move(application)), handlers_(with_sql(application_, handlers)), log_(log) {
  if (application_.store.empty()) throw std::invalid_argument("no store is named: write [store] in the file");
  check_store(application_.store);  // or it cannot be opened later
  if (application_.consumers.empty() && application_.routes.empty() && application_.endpoints.empty()) {
    throw std::invalid_argument("the file declares no consumer, no route and no endpoint");
  }
  if (!application_.routes.empty()) relay_.emplace(application_, log);
  for (const EndpointDeclaration& endpoint : application_.endpoints) {
    repeats_.try_emplace(endpoint.name);
    dispatchers_.push_back(
        std::make_unique<DispatchPost>(application_, endpoint, opening(endpoint, endpoints, log), log));
  }
  if (!application_.ingress.consumers.empty()) ingress_.emplace(application_, log);
  for (const Declaration& consumer : application_.consumers) {
    for (const CallDeclaration& call : consumer.calls) repeats_.try_emplace(call.endpoint);
    auto& tally = tallies_[consumer.name] = std::make_unique<ConsumerTally>();
    for (int i = 0; i < consumer.workers; ++i) {
      Post& post = *posts_.emplace_back(std::make_unique<Post>());
      post.declaration = &consumer;
      post.handler = &handlers_.at(consumer.name);
      post.tally = tally.get();
    }
  }
}

int Daemon::run(std::stop_token stop) {
  const std::stop_callback stopping(stop, [this] { failed_.request_stop(); });
  std::optional<AdminServer> admin;
  if (!application_.admin.host.empty()) {
    admin.emplace(application_.admin.host, application_.admin.port, service());
    const LogField fields[] = {{"port", std::int64_t{admin->port()}}};
    log_.write(LogLevel::info,
               ingress_ ? "listening for /livez, /readyz, /metrics and /ingress"
                        : "listening for /livez, /readyz and /metrics",
               fields);
  }
  std::vector<std::jthread> threads;
  for (const auto& post : posts_) {
    threads.emplace_back([this, &post = *post] { work(post, failed_.get_token()); });
  }
  if (relay_) threads.emplace_back([this] { relay(failed_.get_token()); });
  for (const auto& post : dispatchers_) {
    threads.emplace_back([this, &post = *post] { dispatch(post, failed_.get_token()); });
  }
  if (ingress_) threads.emplace_back([this] { ingress_->run(failed_.get_token()); });
  const std::jthread deadline([this](std::stop_token ended) { hold_to_drain(ended); });  // outlasts all that may hang
  std::jthread backlogs;
  if (admin) backlogs = std::jthread([this](std::stop_token own) { watch_backlogs(own); });
  for (std::jthread& thread : threads) thread.join();
  log_.write(LogLevel::info, "ended", {});
  return exit_code_;
}

// A handler cannot be stopped from outside. One that still runs when the time to drain has passed ends with the process,
// which is safe: its messages come back.
void Daemon::hold_to_drain(std::stop_token ended) {
  std::mutex mutex;
  std::condition_variable_any changed;
  const std::stop_callback stopping(failed_.get_token(), [&] {
    const std::lock_guard told(mutex);
    changed.notify_all();
  });
  std::unique_lock lock(mutex);
  changed.wait(lock, ended, [this] { return failed_.stop_requested(); });
  lock.unlock();
  tell_stopping();
  if (ended.stop_requested() || !pause(ended, application_.drain + drain_patience)) return;
  log_.write(LogLevel::error, "the drain deadline has passed and a handler or a query still runs: the process ends",
             {});
  ::_exit(Exit::error);
}

// One who could not begin tries again; one who meets what only a person can mend ends the process, which says so.
template <class Work, class Tell>
void Daemon::persist(std::stop_token stop, Work&& work, Tell&& tell) {
  for (milliseconds wait{100}; !stop.stop_requested(); wait = std::min(wait * 2, milliseconds(5'000))) {
    try {
      return work();
    } catch (const Fault& fault) {
      if (!may_pass(fault)) return ended(fault.what(), exit_of(fault.fault()));
      tell(fault);
    } catch (const std::exception& unexpected) {
      return ended(unexpected.what(), 1);
    }
    if (!pause(stop, wait)) return;
  }
}

void Daemon::work(Post& post, std::stop_token stop) {
  persist(
      stop, [&] { work_once(post, stop); },
      [&](const Fault& fault) {
        say_once(post.declaration->name, fault);
        const std::lock_guard lock(post.mutex);
        post.trouble = fault.what();
      });
}

void Daemon::relay(std::stop_token stop) {
  persist(
      stop, [&] { relay_->run(stop); },
      [&](const Fault& fault) {
        say_once("relay", fault);
        relay_->say_trouble(fault.what());
      });
}

void Daemon::dispatch(DispatchPost& post, std::stop_token stop) {
  persist(
      stop, [&] { post.run(stop); },
      [&](const Fault& fault) {
        say_once(post.name(), fault);
        post.say_trouble(fault.what());
      });
}

// Somebody has staged something, perhaps.
void Daemon::wake_who_sends() {
  if (relay_) relay_->wake();
  for (const auto& post : dispatchers_) post->wake();
}

// Of endpoints that the file names: any other is the handler's own.
void Daemon::count_repeats(std::string_view endpoint, Store::Repeat repeat, std::uint64_t times) {
  const auto found = repeats_.find(endpoint);
  if (found == repeats_.end()) return;
  (repeat == Store::Repeat::same ? found->second.same : found->second.conflict).fetch_add(times);
}

// One line for all the tries of all the workers of a consumer, and one more for a reason of another kind. Who debugs sees every try.
void Daemon::say_once(const std::string& who, const Fault& fault) {
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    first = said_[who].emplace(kind_of(fault)).second;
  }
  const LogField fields[] = {{"consumer", who}, {"fault", code(fault.fault())}, {"why", fault.what()}};
  log_.write(first ? LogLevel::warn : LogLevel::debug, "cannot begin yet", fields);
}

void Daemon::work_once(Post& post, std::stop_token stop) {
  const Declaration& declaration = *post.declaration;
  const auto store = open_store(application_.store, declaration.time_bound);
  store->on_commit([this] { wake_who_sends(); });
  store->on_repeated_calls([this](auto endpoint, auto repeat, auto times) { count_repeats(endpoint, repeat, times); });
  SourceLog source_log(log_);
  const auto source = open_source(declaration.source, declaration.limits, source_log, keeper_for(declaration));
  source_log.speak_up();
  Worker worker(declaration, *post.handler, *store, *source, *post.tally, log_);
  {
    const std::lock_guard lock(post.mutex);
    post.trouble.clear();
    post.worker = &worker;
  }
  const std::string from = source->describe(), into = store->describe();
  const LogField fields[] = {{"consumer", declaration.name}, {"source", from}, {"store", into}};
  log_.write(LogLevel::info, "working", fields);
  {
    const std::lock_guard lock(mutex_);
    said_.erase(declaration.name);
  }
  tell_when_ready();
  try {
    worker.run(stop, application_.drain);
  } catch (...) {
    const std::lock_guard lock(post.mutex);
    post.worker = nullptr;
    throw;
  }
  const std::lock_guard lock(post.mutex);
  post.worker = nullptr;
  post.trouble = "ended";
}

// With a connection of its own: the source's thread asks it.
std::unique_ptr<StreamKeeper> Daemon::keeper_for(const Declaration& declaration) const {
  if (declaration.offsets != Offsets::store) return nullptr;
  return keep_streams([this, &declaration] { return open_store(application_.store, declaration.time_bound); },
                      declaration);
}

Service Daemon::service() {
  const auto at_front_door = [this](const Request& request) {
    return ingress_ && request.path.starts_with(IngressPost::prefix);
  };
  Service service;
  if (ingress_) service.most_body_bytes = ingress_->most_body_bytes();
  service.refuse = [this, at_front_door](const Request& request) -> std::optional<Page> {
    if (at_front_door(request)) return ingress_->refuse(request);
    if (request.method == "GET" || request.method == "HEAD") return std::nullopt;
    return Page{405, "text/plain; charset=utf-8", "only GET\n", {{"Allow", "GET, HEAD"}}};
  };
  service.refuse_large = [this, at_front_door](const Request& request) {
    if (at_front_door(request)) return ingress_->refuse_large(request);
    return Page{413, "text/plain; charset=utf-8", "too large\n"};
  };
  service.refuse_unread = [this](unsigned status) {
    if (ingress_) return IngressPost::refuse_unread(status);
    return Page{status, "text/plain; charset=utf-8", status == 431 ? "too large a header\n" : "no HTTP\n"};
  };
  service.serve = [this, at_front_door](Request request, Respond respond) {
    if (at_front_door(request)) return ingress_->serve(std::move(request), std::move(respond));
    respond(page(request.path));
  };
  return service;
}

Page Daemon::page(std::string_view path) const {
  if (path == "/livez") return {200, "text/plain; charset=utf-8", "ok\n"};
  if (path == "/readyz") return readiness();
  if (path == "/metrics") {
    Tallies tallies;
    for (const auto& [name, tally] : tallies_) tallies[name] = tally.get();
    OtherTallies others{.relay = relay_ ? &relay_->tally() : nullptr};
    for (const auto& post : dispatchers_) others.dispatchers.push_back(post.get());
    if (!repeats_.empty()) others.repeats = &repeats_;
    if (ingress_) others.ingress = ingress_->tallies();
    const std::lock_guard lock(mutex_);
    return {200, "text/plain; version=0.0.4; charset=utf-8", metrics_text(tallies, backlogs_, others)};
  }
  return {404, "text/plain; charset=utf-8",
          ingress_ ? "there are /livez, /readyz, /metrics and /ingress\n" : "there are /livez, /readyz and /metrics\n"};
}

// Ready when every worker works and is to go on; else each one's trouble, by consumer.
Page Daemon::readiness() const {
  nlohmann::ordered_json troubles = nlohmann::ordered_json::object();
  for (const auto& post : posts_) {
    const std::lock_guard lock(post->mutex);
    const std::string trouble = post->worker ? post->worker->trouble() : post->trouble;
    if (!trouble.empty()) troubles[post->declaration->name] = trouble;
  }
  if (const std::string trouble = relay_ ? relay_->trouble() : std::string(); !trouble.empty())
    troubles["relay"] = trouble;
  for (const auto& post : dispatchers_) {
    if (const std::string trouble = post->trouble(); !trouble.empty()) troubles[post->name()] = trouble;
  }
  if (failed_.stop_requested()) troubles["daemon"] = "stopping";
  const bool ready = troubles.empty();
  const nlohmann::ordered_json body{{"ready", ready}, {"trouble", troubles}};
  return {ready ? 200u : 503u, "application/json",
          body.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n"};
}

// Once, when the last of the workers has begun.
void Daemon::tell_when_ready() {
  if (readiness().status == 200 && !told_ready_.exchange(true)) tell_ready();
}

void Daemon::watch_backlogs(std::stop_token stop) {
  std::unique_ptr<Store> store;
  while (!stop.stop_requested()) {
    try {
      if (!store) store = open_store(application_.store);
      Backlogs seen = read_backlogs(*store);
      const std::lock_guard lock(mutex_);
      backlogs_ = std::move(seen);
    } catch (const std::exception&) {  // the workers tell of an outage; what is not known is not told
      const std::lock_guard lock(mutex_);
      backlogs_.clear();
    }
    pause(stop, milliseconds(5'000));
  }
}

void Daemon::ended(const std::string& why, int code) {
  const LogField fields[] = {{"why", why}};
  log_.write(LogLevel::error, "cannot go on", fields);
  exit_code_ = code;
  failed_.request_stop();
}

}  // namespace onceward::daemon
