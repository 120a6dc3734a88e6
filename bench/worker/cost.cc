#include "bench/worker/cost.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <vector>

#include "bench/work/postgres_database.h"
#include "bench/work/sqlite_database.h"
#include "bench/worker/allocations.h"
#include "bench/worker/callgrind.h"
#include "bench/worker/cases.h"

#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#else  // not needed to build the benches; a run for the profiler then counts from the start
#define CALLGRIND_START_INSTRUMENTATION
#define CALLGRIND_STOP_INSTRUMENTATION
#endif

namespace onceward::bench {
namespace {

constexpr std::size_t functions_shown = 10;
constexpr double aim_allocations = 1, aim_instructions = 2'500;

// Whose code it is.
enum class Whose : std::uint8_t { ours, queue, handler, simdjson, sqlite, libpq, libcrypto, allocator, system };
constexpr std::array<const char*, 9> whose_name{"our own code",
                                                "of which the queue in memory",
                                                "the handler and the bench",
                                                "simdjson",
                                                "SQLite",
                                                "libpq and TLS",
                                                "libcrypto",
                                                "allocator (malloc and free)",
                                                "libc and others"};

bool holds(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

// C++ names have their parameters; a plain name in our program is SQLite's.
Whose whose(const FunctionName& name) {
  const std::string& function = name.function;
  for (const char* const allocates : {"malloc", "free", "calloc", "realloc", "operator new", "operator delete"}) {
    if (holds(function, allocates) && !holds(function, "onceward::") && !holds(function, "sqlite")) {
      return Whose::allocator;
    }
  }
  if (holds(name.object, "libcrypto")) return Whose::libcrypto;
  if (holds(name.object, "libpq") || holds(name.object, "libssl")) return Whose::libpq;
  if (holds(function, "simdjson") && !holds(function, "onceward::")) return Whose::simdjson;
  if (!holds(name.object, "bench_worker")) return Whose::system;
  if (holds(function, "onceward::bench")) return Whose::handler;
  if (holds(function, "onceward::memory")) return Whose::queue;
  return holds(function, "(") ? Whose::ours : Whose::sqlite;
}

struct Entry {
  double per_message;
  FunctionName name;
};

std::vector<Entry> sorted(const std::map<FunctionName, std::int64_t>& counts, std::size_t messages) {
  std::vector<Entry> entries;
  for (const auto& [name, count] : counts) {
    const Whose who = whose(name);
    if (who == Whose::ours || who == Whose::queue) {
      entries.push_back({static_cast<double>(count) / static_cast<double>(messages), name});
    }
  }
  std::ranges::sort(entries, std::ranges::greater(), &Entry::per_message);
  return entries;
}

void print_top(const char* title, const std::vector<Entry>& entries, double least) {
  fmt::print("  {}\n", title);
  for (std::size_t i = 0; i < std::min(functions_shown, entries.size()); ++i) {
    if (entries[i].per_message < least) break;
    fmt::print("  {:>10.2f}  {:.150}\n", entries[i].per_message, entries[i].name.function);
  }
}

struct Once {
  Profile profile;
  std::uint64_t allocations = 0;
};

std::string read_all(const std::string& command) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  if (!pipe) throw std::runtime_error("cannot run " + command);
  std::string text;
  std::array<char, 256> part;
  while (std::fgets(part.data(), part.size(), pipe.get()) != nullptr) text += part.data();
  return text;
}

Once run_under_callgrind(const CostRun& run, std::size_t messages) {
  const std::string file =
      (std::filesystem::temp_directory_path() / fmt::format("onceward-callgrind-{}", getpid())).string();
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  const std::string said = read_all(fmt::format(
      "valgrind --quiet --tool=callgrind --instr-atstart=no --callgrind-out-file='{}' '{}' --once {} --store "
      "{} --ids {} --batch {} --messages {} 2>/dev/null",
      file, program, run.shape, run.store, run.ids, run.batch, messages));
  if (said.empty()) throw std::runtime_error("nothing came of a run under callgrind");
  Once once{read_callgrind(file), std::stoull(said)};
  std::filesystem::remove(file);
  return once;
}

}  // namespace

void print_cost(const CostRun& run) {
  const Once first = run_under_callgrind(run, run.messages);
  const Once second = run_under_callgrind(run, 2 * run.messages);
  const Profile more = difference(first.profile, second.profile);
  std::array<double, whose_name.size()> sums{};
  for (const auto& [name, count] : more.instructions) {
    const auto place = static_cast<std::size_t>(whose(name));
    sums[place] += static_cast<double>(count) / static_cast<double>(run.messages);
    if (whose(name) == Whose::queue) {
      sums[static_cast<std::size_t>(Whose::ours)] += static_cast<double>(count) / static_cast<double>(run.messages);
    }
  }
  const double made = static_cast<double>(second.allocations - first.allocations) / static_cast<double>(run.messages);
  fmt::print("{} {}, a message ({} and {} messages, batches of {}):\n", run.store, run.shape, run.messages,
             2 * run.messages, run.batch);
  fmt::print("  {:>10.2f}  allocations by operator new (aim {})\n", made, aim_allocations);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    fmt::print("  {:>10.0f}  instructions, {}{}\n", sums[i], whose_name[i],
               i == 0 ? fmt::format(" (aim {})", aim_instructions) : "");
  }
  print_top("instructions of our own functions, without what they call:", sorted(more.instructions, run.messages), 1);
  print_top("allocations by our own functions:", sorted(more.news, run.messages), 0.005);
  std::fflush(stdout);
}

int run_for_cost(const CostRun& run, const std::string& directory) {
  const WorkerWorks works = worker_works(run.ids == "time" ? Ids::time : Ids::random, run.messages);
  std::unique_ptr<Database> database;
  if (run.store == "postgres") {
    database = postgres_database(std::getenv("ONCEWARD_TEST_POSTGRES"));
  } else {
    database = sqlite_database(directory);
  }
  const Measuring measuring{.begins =
                                [] {
                                  counting_allocations = true;
                                  CALLGRIND_START_INSTRUMENTATION;
                                },
                            .ends =
                                [] {
                                  CALLGRIND_STOP_INSTRUMENTATION;
                                  counting_allocations = false;
                                }};
  const Workload& work = run.shape == "poison_before_sql" ? works.ill_typed : works.clean;
  worker_shape(database->open(), work, job_named(run.shape, work.ids), measuring)->run(work.deliveries, run.batch);
  fmt::print("{}\n", allocations.load());
  return 0;
}

}  // namespace onceward::bench
