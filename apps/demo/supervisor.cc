#include "apps/demo/supervisor.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <functional>
#include <random>
#include <thread>

#include "apps/demo/payment.h"

namespace onceward::demo {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds pause{5}, between_looks{50}, time_to_stop{15'000};
// A naive consumer never gets rid of a message that kills it: given up when nothing else has moved for so long. A group of
// consumers stands still while one is missed and the others share anew, and again for the one that comes back.
constexpr milliseconds nothing_moves = 2 * visibility + milliseconds(500);
constexpr milliseconds nothing_moves_at_broker{15'000};
constexpr milliseconds nothing_comes{300};
// A broker hands a message that kills its consumer to the next one at once: thousands of times, without a pause.
constexpr milliseconds restart_pause{100};
constexpr int most_aborted = 60;
// Sooner, where as many workers were ended by a message since anything else has moved: a group has shared anew as often.
constexpr int most_in_vain = 5;
constexpr milliseconds nothing_moves_in_vain{5'000};
constexpr int most_others = 50;  // workers that end by themselves

int kills_of(std::int64_t messages) { return static_cast<int>(std::clamp<std::int64_t>(messages / 2'000, 3, 10)); }

// A generous bound: what is slow is not wrong.
milliseconds deadline_of(const Run& run) { return milliseconds(120'000 + 10 * run.messages); }

}  // namespace

Supervisor::Supervisor(const Run& run, Store& store, Queue& queue)
    : run_(run),
      store_(store),
      tally_(run.file("tally")),
      queue_(queue),
      crashes_(run.file("crashes.ndjson")),
      callers_(run, store, crashes_),
      last_effect_(Clock::now()),
      last_delivery_(Clock::now()),
      look_at_queue_(Clock::now()) {
  if (!run.naive) consumer_ = store.enroll(payments(run));
  std::mt19937_64 chance(run.seed ^ 0x6B'69'6C'6Cu);
  const auto messages = static_cast<std::uint64_t>(run.messages);
  for (int i = 0; i < kills_of(run.messages); ++i) {
    kill_at_.push_back(messages / 20 + chance() % (messages * 8 / 10));
    victims_.push_back(chance() % static_cast<std::uint64_t>(run.workers));
  }
  std::ranges::sort(kill_at_, std::greater<>());
}

Supervised Supervisor::supervise(const Interruption& interruption, Progress& progress) {
  const auto deadline = Clock::now() + deadline_of(run_);
  generator_ =
      Child({this_program(), "demo", "--role", "generator", "--directory", run_.directory}, run_.file("generator.log"));
  callers_.start();
  for (int number = 0; number < run_.workers; ++number) workers_.push_back(start_worker(number));
  while (!at_the_end()) {
    so_far_.interrupted = interruption.signal() != 0;
    if (Clock::now() > deadline) so_far_.trouble = "it took too long";
    if (so_far_.interrupted || !so_far_.trouble.empty()) break;
    look_after_workers();
    kill_some();
    look_after_callers();
    queue_.tend(tally_->received, progress);
    progress.show(standing());
    std::this_thread::sleep_for(pause);
  }
  stop_workers();
  so_far_.restarts = queue_.restarts();
  so_far_.gateways_killed = callers_.gateways_killed();
  so_far_.dispatchers_killed = callers_.dispatchers_killed();
  so_far_.deliveries = tally_->received;
  so_far_.duplicates = run_.naive ? tally_->redelivered.load() : tally_->duplicate + tally_->held;
  return so_far_;
}

Standing Supervisor::standing() {
  const std::uint64_t effects = tally_->processed, deliveries = tally_->received;
  if (effects != last_effects_) {
    last_effect_ = Clock::now();
    aborted_then_ = so_far_.aborted;
  }
  if (deliveries != last_deliveries_) last_delivery_ = Clock::now();
  last_effects_ = effects;
  last_deliveries_ = deliveries;
  return {deliveries,
          effects,
          tally_.calls().started,
          static_cast<std::uint64_t>(so_far_.killed + so_far_.aborted + so_far_.others),
          queued_,
          queue_.trouble()};
}

Child Supervisor::start_worker(int number) const {
  return Child(
      {this_program(), "demo", "--role", "worker", "--number", std::to_string(number), "--directory", run_.directory},
      run_.file(fmt::format("worker-{}.log", number)));
}

void Supervisor::look_after_workers() {
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    const pid_t pid = workers_[i].pid();
    const auto ending = workers_[i].ended();
    if (!ending) continue;
    note(static_cast<int>(i), pid, *ending);
    if (run_.naive && !run_.broker.empty()) std::this_thread::sleep_for(restart_pause);
    workers_[i] = start_worker(static_cast<int>(i));
  }
  if (so_far_.others > most_others) so_far_.trouble = "workers cannot go on; their logs say why";
}

void Supervisor::note(int number, pid_t pid, const Ending& ending) {
  switch (crashes_.note("worker", number, pid, ending)) {
    case Crashes::Cause::killed:
      ++so_far_.killed;
      break;
    case Crashes::Cause::aborted:
      ++so_far_.aborted;
      break;
    case Crashes::Cause::other:
      ++so_far_.others;
  }
}

void Supervisor::kill_some() {
  while (!kill_at_.empty() && tally_->received >= kill_at_.back()) {
    kill_at_.pop_back();
    workers_[victims_[kill_at_.size()]].signal(SIGKILL);
  }
}

void Supervisor::look_after_callers() {
  callers_.tend(tally_.calls().started);
  if (!callers_.trouble().empty()) so_far_.trouble = callers_.trouble();
}

bool Supervisor::generated() {
  if (generated_) return true;
  const auto ending = generator_.ended();
  if (!ending) return false;
  if (ending->signal != 0 || ending->exit_code != 0) so_far_.trouble = "the generator ended; its log says why";
  return generated_ = true;
}

bool Supervisor::at_the_end() {
  if (Clock::now() < look_at_queue_) return false;
  look_at_queue_ = Clock::now() + between_looks;
  const bool done = all_is_done();  // asked before the queue is: it may grow until then
  const auto left = queue_.left(done && quiet());
  queued_ = left;
  if (!done || !left) return false;
  return *left == 0 ? nothing_waits() : stuck();
}

// All is sent, and done to workers and queue what is to be done to them.
bool Supervisor::all_is_done() {
  return generated() && kill_at_.empty() && queue_.at_rest() && callers_.at_rest() &&
         std::ranges::all_of(workers_, [](const Child& worker) { return worker.runs(); });
}

// So that it is worth asking whether the queue is empty. One that kills its workers is never quiet.
bool Supervisor::quiet() const { return Clock::now() > last_delivery_ + nothing_comes || stuck(); }

bool Supervisor::stuck() const {
  if (!run_.naive) return false;
  if (run_.broker.empty()) return Clock::now() > last_effect_ + nothing_moves;
  const bool in_vain = so_far_.aborted >= aborted_then_ + most_in_vain;
  return Clock::now() > last_effect_ + (in_vain ? nothing_moves_in_vain : nothing_moves_at_broker) ||
         so_far_.aborted > most_aborted;
}

bool Supervisor::nothing_waits() { return run_.naive || (!store_.next_due(consumer_) && callers_.finished()); }

void Supervisor::stop_workers() {
  const bool patient = !so_far_.interrupted && so_far_.trouble.empty();
  for (const Child& worker : workers_) worker.signal(patient ? SIGTERM : SIGKILL);
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    const pid_t pid = workers_[i].pid();
    const Ending ending = workers_[i].wait(time_to_stop);
    if (patient && (ending.signal != 0 || ending.exit_code != 0)) note(static_cast<int>(i), pid, ending);
  }
  callers_.stop(patient);
  generator_ = Child();
}

}  // namespace onceward::demo
