#include "apps/demo/roles.h"

#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <exception>
#include <stop_token>
#include <thread>

#include "apps/daemon/line_log.h"
#include "apps/daemon/ports.h"
#include "apps/demo/generator.h"
#include "apps/demo/naive.h"
#include "apps/demo/payment.h"
#include "apps/demo/shared_tally.h"
#include "onceward/adapter/embedded.h"

namespace onceward::demo {
namespace {

constexpr std::chrono::seconds drain{10};

EmbeddedOptions disturbed_queue(const Run& run, int number) {
  EmbeddedOptions options;
  options.path = run.queue();
  options.visibility = visibility;
  options.disturbance.duplicates = 0.3;
  options.disturbance.reorder = 200;
  // One that is started again draws other numbers than the one that was killed.
  options.disturbance.seed =
      run.seed * 1'000'003 + static_cast<std::uint64_t>(number) * 100'003 + static_cast<std::uint64_t>(::getpid());
  return options;
}

void work(const Run& run, int number, std::stop_token stop) {
  SharedTally tally(run.file("tally"));
  const auto store = daemon::open_store(run.store);
  const auto source = open_embedded(disturbed_queue(run, number));
  if (run.naive) return consume_naively(run, *store, *source, *tally, stop);
  daemon::LineLog log(daemon::LineLog::Format::json, LogLevel::info);
  Worker worker(payments(run), capture_payments(run), *store, *source, *tally, log);
  worker.run(stop, drain);
}

// SIGTERM drains. Ctrl-C reaches every process of the terminal, and is the supervisor's to answer.
int work_until_told(const Run& run, int number) {
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
      work(run, number, stop);
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
  if (role != "generator") return work_until_told(run, number);
  ::signal(SIGINT, SIG_IGN);
  generate(run);
  return 0;
}

}  // namespace onceward::demo
