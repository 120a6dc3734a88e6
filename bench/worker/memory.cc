#include "bench/worker/memory.h"

#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>
#include <thread>

#include "bench/work/resident.h"
#include "bench/work/sqlite_database.h"
#include "bench/worker/cases.h"
#include "bench/worker/handlers.h"
#include "bench/worker/watched_source.h"
#include "onceward/adapter/memory.h"
#include "onceward/worker.h"

namespace onceward::bench {
namespace {

constexpr std::chrono::seconds longest_run{3'600};
constexpr std::size_t templates = 10'000;
constexpr std::uint64_t message_bytes = 500 + 36;
constexpr double most_mebibytes = 64;

// New messages for ever: the payloads of a small workload under new ids, one in ten a repeat of a recent one.
class Stream {
 public:
  Stream(const Workload& work, std::size_t count) : work_(work), left_(count), recent_(templates) {}

  void feed(MemoryQueue& queue, std::size_t most) {
    std::vector<Envelope> envelopes;
    const std::size_t count = std::min(most, left_);
    const std::vector<std::string> ids = make_ids(work_.ids, count, made_ + 1, made_);
    for (const std::string& id : ids) {
      const auto index = static_cast<Index>(made_ % templates);
      if (made_ % 10 != 9) recent_[index] = id;
      // A repeat is of the message before it.
      envelopes.push_back(made_ % 10 != 9 ? envelope(index) : envelope(index - 1));
      ++made_;
    }
    left_ -= count;
    if (!envelopes.empty()) queue.push(envelopes);
  }

 private:
  Envelope envelope(Index index) const {
    EnvelopeFields fields = envelope_of(work_, index).fields();
    fields.message_id = MessageId(recent_[index]);
    return Envelope::copy_of(fields);
  }

  const Workload& work_;
  std::size_t left_;
  std::uint64_t made_ = 0;
  std::vector<std::string> recent_;
};

}  // namespace

std::uint64_t MemoryMark::rest() const { return resident_bytes - std::min(resident_bytes, prefetched_bytes); }

std::vector<MemoryMark> measure_memory(const MemoryRun& run, Progress& progress) {
  sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 1);
  const auto database = sqlite_database(run.directory);
  const auto store = database->open();
  const Workload work = make_workload({.ids = Ids::time, .deliveries = templates, .repeats_percent = 0});
  Job job = job_named("batch", work.ids);
  job.declaration.batch = run.batch;
  MemoryQueue queue;
  Stream stream(work, run.messages);
  WatchedSource source(queue.open(), {.before_receive = [&](std::size_t most) { stream.feed(queue, most); }});
  ConsumerTally tally;
  Worker worker(job.declaration, job.handler(work), *store, source, tally);
  std::jthread working([&worker](std::stop_token stop) { worker.run(std::move(stop)); });
  std::vector<MemoryMark> marks;
  for (const int percent : {10, 50, 100}) {
    source.await_settled(run.messages * static_cast<std::size_t>(percent) / 100, longest_run);
    marks.push_back({.percent = percent,
                     .resident_bytes = resident_bytes(getpid()),
                     .sqlite_bytes = static_cast<std::uint64_t>(sqlite3_memory_used()),
                     .prefetched_bytes = (source.received() - source.settled()) * message_bytes});
    progress.say(fmt::format("memory: {} % of {}", percent, run.messages));
  }
  working.request_stop();
  working.join();
  if (tally.processed != run.messages - run.messages / 10) {
    throw std::runtime_error(fmt::format("{} of {} messages were processed", tally.processed.load(), run.messages));
  }
  return marks;
}

std::string to_string(const MemoryMark& mark) {
  const auto mebibytes = [](std::uint64_t bytes) { return static_cast<double>(bytes) / mebibyte; };
  return fmt::format("{:>3} %: {:.1f} MB resident, {:.1f} MB of it SQLite's, {:.1f} MB prefetched, {:.1f} MB the rest",
                     mark.percent, mebibytes(mark.resident_bytes), mebibytes(mark.sqlite_bytes),
                     mebibytes(mark.prefetched_bytes), mebibytes(mark.rest()));
}

std::vector<Bar> memory_bars(const std::vector<MemoryMark>& marks) {
  const auto most = static_cast<double>(std::ranges::max_element(marks, {}, &MemoryMark::rest)->rest()) / mebibyte;
  return {{fmt::format("memory: {:.1f} MB besides what was prefetched ({} or less)", most, most_mebibytes),
           most <= most_mebibytes, true},
          growth_bar({marks.front().percent, marks.back().percent, marks.front().rest(), marks.back().rest()})};
}

}  // namespace onceward::bench
