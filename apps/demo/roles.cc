#include "apps/demo/roles.h"

#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <exception>
#include <functional>
#include <stop_token>
#include <thread>

#include "apps/daemon/line_log.h"
#include "apps/daemon/ports.h"
#include "apps/demo/broker.h"
#include "apps/demo/gateway/server.h"
#include "apps/demo/generator.h"
#include "apps/demo/lost_acks.h"
#include "apps/demo/naive.h"
#include "apps/demo/payment.h"
#include "apps/demo/shared_tally.h"
#include "apps/demo/tutorial/tutorial.h"
#include "onceward/adapter/embedded.h"
#include "onceward/adapter/http.h"
#include "onceward/dispatcher.h"

namespace onceward::demo {
namespace {

constexpr std::chrono::seconds drain{10};

// One that is started again draws other numbers than the one that was killed.
std::uint64_t seed_of(const Run& run, int number) {
  return run.seed * 1'000'003 + static_cast<std::uint64_t>(number) * 100'003 + static_cast<std::uint64_t>(::getpid());
}

EmbeddedOptions disturbed_queue(const Run& run, int number) {
  EmbeddedOptions options;
  options.path = run.queue();
  options.visibility = visibility;
  options.disturbance.duplicates = 0.3;
  options.disturbance.reorder = 200;
  options.disturbance.seed = seed_of(run, number);
  return options;
}

std::unique_ptr<Source> open_once_at_broker(const Run& run, Log& log) {
  if (!run.naive) return daemon::open_source(source_url(run), {}, log);
  const daemon::SourceOptions options = daemon::read_source(source_url(run));
  if (const auto* const kafka = std::get_if<KafkaSourceOptions>(&options)) return open_tutorial(*kafka);
  return open_tutorial(std::get<RabbitmqSourceOptions>(options));
}

// The broker may be away just now. One that dies while it is asked for the first time looks like one that says no: Kafka's client
// takes it for a listener with TLS. Nothing when it is to stop before it is back.
std::unique_ptr<Source> open_at_broker(const Run& run, int number, Log& log, const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    try {
      return std::make_unique<LostAcks>(open_once_at_broker(run, log), seed_of(run, number));
    } catch (const Fault& fault) {
      if (!fault.transient() && fault.fault() != FaultCode::source_refused) throw;
    }
    std::this_thread::sleep_for(pause_without_broker);
  }
  return nullptr;
}

void work(const Run& run, int number, std::stop_token stop) {
  SharedTally tally(run.file("tally"));
  const auto store = daemon::open_store(run.store);
  daemon::LineLog log(daemon::LineLog::Format::json, LogLevel::info);
  const auto source =
      run.broker.empty() ? open_embedded(disturbed_queue(run, number)) : open_at_broker(run, number, log, stop);
  if (!source) return;
  if (run.naive) return consume_naively(run, *store, *source, tally, stop);
  Worker worker(payments(run), capture_payments(run), *store, *source, *tally, log);
  worker.run(stop, drain);
}

void dispatch(const Run& run, int number, std::stop_token stop) {
  SharedTally tally(run.file("tally"));
  const auto store = daemon::open_store(run.store);
  daemon::LineLog log(daemon::LineLog::Format::json, LogLevel::info);
  const EndpointDeclaration declaration = gateway(run);
  const auto endpoint = open_http(declaration, log);
  Dispatcher dispatcher(declaration, fmt::format("demo-{}", number), *store, *endpoint, tally.calls(), log);
  dispatcher.run(stop, drain);
}

// SIGTERM drains. Ctrl-C reaches every process of the terminal, and is the supervisor's to answer.
int play_until_told(const std::function<void(std::stop_token)>& part) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  ::signal(SIGINT, SIG_IGN);
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);  // some of these processes end by abort()
  int ending = 0;
  std::jthread thread([&](std::stop_token stop) {
    try {
      part(stop);
    } catch (const std::exception& failure) {
      fmt::print(stderr, "{}\n", failure.what());
      ending = 1;
    }
    ::kill(::getpid(), SIGTERM);  // nothing more to wait for
  });
  int signal = 0;
  sigwait(&signals, &signal);
  thread.request_stop();
  thread.join();
  return ending;
}

}  // namespace

int play(const std::string& role, const std::string& directory, int number) {
  const Run run = read_run(directory);
  if (role == "worker") return play_until_told([&](std::stop_token stop) { work(run, number, stop); });
  if (role == "dispatcher") return play_until_told([&](std::stop_token stop) { dispatch(run, number, stop); });
  ::signal(SIGINT, SIG_IGN);
  if (role == "gateway") serve_gateway(run.gateway_port, run.seed, run.file("gateway.ndjson"));
  generate(run);
  return 0;
}

}  // namespace onceward::demo
