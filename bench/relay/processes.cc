#include "bench/relay/processes.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <new>
#include <stdexcept>
#include <thread>

#include "bench/work/postgres_connection.h"
#include "bench/work/resident.h"
#include "bench/work/workload.h"
#include "onceward/adapter/kafka.h"
#include "onceward/adapter/postgres.h"
#include "onceward/adapter/rabbitmq.h"

namespace onceward::bench {
namespace {

using std::chrono::milliseconds;
constexpr std::chrono::seconds patience{60};  // without one more message

std::runtime_error failed(const char* doing) { return std::runtime_error(fmt::format("relay processes: {}", doing)); }

// Takes a relay's share until it starts.
constexpr const char* hold_share_sql =
    "INSERT INTO onceward.relay_member (owner, name, seen_until) VALUES ('{}', 'to come', now() + interval '1 hour')";

}  // namespace

struct RelayProcesses::Shared {
  RelayTally tally;
  std::atomic<std::uint64_t> round_trips{}, statements{}, transactions{};  // of those that have ended
};

RelayOptions relay_options(const RelayJob& job) {
  RelayOptions options;
  options.name = fmt::format("bench:{}", getpid());
  options.producer = producer_name;
  options.page = job.page;
  RelayRoute route{.types = {std::string(outgoing_type)}, .ordered = job.ordered};
  const WireFormat format = job.native ? WireFormat::native : WireFormat::automatic;
  if (job.target.starts_with("kafka:")) {
    KafkaTarget target = read_kafka_target_url(job.target);
    target.options.format = format;
    route.destination = target.topic;
    options.targets.push_back({"bench", [target] { return open_kafka_target(target); }});
  } else {
    RabbitmqTarget target = read_rabbitmq_target_url(job.target);
    target.options.format = format;
    route.destination = target.exchange;
    route.key = target.routing_key;
    options.targets.push_back({"bench", [target] { return open_rabbitmq_target(target); }});
  }
  options.routes.push_back(std::move(route));
  return options;
}

RelayProcesses::RelayProcesses(const RelayJob& job, std::size_t count) : file_(memfd_create("relay", 0)) {
  if (file_ < 0 || ftruncate(file_, sizeof(Shared)) != 0) throw failed("no memory to share");
  void* const memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
  if (memory == MAP_FAILED) throw failed("no memory to share");
  shared_ = new (memory) Shared();
  start_all(job, count);
}

// A relay that is alone takes all keys, and gives half of them to the next only when it renews its lease. So the share of
// those to come is held for them.
void RelayProcesses::start_all(const RelayJob& job, std::size_t count) {
  PostgresConnection connection(job.store);
  for (std::size_t i = 1; i < count; ++i) connection.run(fmt::format(hold_share_sql, i));
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) connection.run(fmt::format("DELETE FROM onceward.relay_member WHERE owner = '{}'", i));
    start(job);
    if (i + 1 == count) return;
    while (connection.number("SELECT count(DISTINCT owner) FROM onceward.relay_slot WHERE owner <> ''") <= i) {
      check_alive();
      std::this_thread::sleep_for(milliseconds(1));
    }
  }
}

void RelayProcesses::start(const RelayJob& job) {
  const std::string file = std::to_string(file_), page = std::to_string(job.page);
  std::vector<const char*> arguments{"bench_relay", "--as-relay",       file.c_str(), "--store-url", job.store.c_str(),
                                     "--target",    job.target.c_str(), "--batch",    page.c_str()};
  if (job.ordered) arguments.push_back("--ordered");
  if (job.native) arguments.push_back("--native");
  arguments.push_back(nullptr);
  const pid_t parent = getpid();
  const pid_t process = fork();
  if (process < 0) throw failed("fork");
  if (process == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() == parent) execv("/proc/self/exe", const_cast<char* const*>(arguments.data()));
    _exit(127);
  }
  processes_.push_back(process);
}

RelayProcesses::~RelayProcesses() {
  for (const pid_t process : processes_) {
    kill(process, SIGKILL);
    waitpid(process, nullptr, 0);
  }
  munmap(shared_, sizeof(Shared));
  close(file_);
}

void RelayProcesses::check_alive() {
  for (const pid_t process : processes_) {
    siginfo_t ended{};
    waitid(P_PID, static_cast<id_t>(process), &ended, WEXITED | WNOHANG | WNOWAIT);
    if (ended.si_pid != 0) throw failed("a relay has ended by itself");
  }
}

RelayProcesses::Clock::time_point RelayProcesses::await_published(std::uint64_t count) {
  std::uint64_t known = published();
  auto last = Clock::now();
  while (published() < count) {
    std::this_thread::sleep_for(milliseconds(1));
    if (published() > known) {
      known = published();
      last = Clock::now();
    } else if (Clock::now() - last > patience) {
      throw failed("some messages are not published");
    }
    check_alive();
  }
  return Clock::now();
}

std::uint64_t RelayProcesses::published() const { return shared_->tally.published.load(std::memory_order_relaxed); }

std::uint64_t RelayProcesses::resident_bytes() const {
  std::uint64_t sum = 0;
  for (const pid_t process : processes_) sum += bench::resident_bytes(process);
  return sum;
}

void RelayProcesses::stop() {
  for (const pid_t process : processes_) kill(process, SIGTERM);
  bool well = true;
  for (const pid_t process : processes_) {
    int status = 0;
    waitpid(process, &status, 0);
    well = well && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  processes_.clear();
  if (!well) throw failed("a relay ended badly");
  const RelayTally& tally = shared_->tally;
  if (tally.put_off + tally.in_doubt + tally.fenced + tally.store_outages + tally.publisher_outages > 0) {
    fmt::print(stderr, "the relay was disturbed: {} put off, {} in doubt, {} fenced, {} and {} outages\n",
               tally.put_off.load(), tally.in_doubt.load(), tally.fenced.load(), tally.store_outages.load(),
               tally.publisher_outages.load());
  }
  if (tally.refused + tally.set_aside > 0) throw failed("some messages were refused");
}

Effort RelayProcesses::effort() const {
  return {
      .round_trips = shared_->round_trips, .statements = shared_->statements, .transactions = shared_->transactions};
}

int run_as_relay(const RelayJob& job, int shared_file) {
  sigset_t ending;
  sigemptyset(&ending);
  sigaddset(&ending, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &ending, nullptr);
  void* const memory =
      mmap(nullptr, sizeof(RelayProcesses::Shared), PROT_READ | PROT_WRITE, MAP_SHARED, shared_file, 0);
  if (memory == MAP_FAILED) throw failed("no memory to share");
  auto& shared = *static_cast<RelayProcesses::Shared*>(memory);
  const auto store = open_postgres({.url = job.store});
  Relay relay(relay_options(job), *store, shared.tally);
  const PostgresBell bell({.url = job.store}, [&] { relay.wake(); });
  {
    const std::jthread working([&](std::stop_token stop) { relay.run(std::move(stop)); });
    int signal = 0;
    sigwait(&ending, &signal);
  }
  const StoreCounters counters = store->counters();
  shared.round_trips += counters.round_trips;
  shared.statements += counters.statements;
  shared.transactions += counters.transactions;
  return 0;
}

}  // namespace onceward::bench
