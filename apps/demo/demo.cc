#include "apps/demo/demo.h"

#include <fmt/format.h>

#include <filesystem>

#include "apps/daemon/exit_code.h"
#include "apps/daemon/ports.h"
#include "apps/demo/proof.h"
#include "apps/demo/report.h"
#include "apps/demo/supervisor.h"
#include "apps/demo/tables.h"

namespace onceward::demo {
namespace {

// What a run leaves in a directory and a database, removed with it unless somebody wants to look.
class Traces {
 public:
  Traces(const Run& run, const Choice& choice) : run_(run), keep_(choice.keep), own_store_(choice.store.empty()) {}
  ~Traces() {
    if (keep_) {
      fmt::print(stderr, "Kept in {0}; onceward-checker {0} looks again.\n", run_.directory);
      return;
    }
    try {
      if (!own_store_ && tables_) remove_tables(*daemon::open_store(run_.store), run_);
    } catch (const std::exception& failure) {
      fmt::print(stderr, "onceward demo: {} and {} stay in the database: {}\n", run_.capture_table, run_.balance_table,
                 failure.what());
    }
    std::error_code ignored;
    std::filesystem::remove_all(run_.directory, ignored);
  }
  Traces(const Traces&) = delete;
  Traces& operator=(const Traces&) = delete;

  void has_tables() { tables_ = true; }
  void keep() { keep_ = true; }

 private:
  const Run& run_;
  bool keep_;
  const bool own_store_;
  bool tables_ = false;
};

Supervised supervise(const Run& run, Store& store, const Interruption& interruption, bool json) {
  Progress progress(json);
  return Supervisor(run, store).supervise(interruption, progress);
}

bool prove(const Run& run, const Supervised& supervised, bool json) {
  if (!json) return print_proof(run);
  const nlohmann::json proof = read_proof(run);
  print_json(run, supervised, proof);
  return proof.at("ok").get<bool>();
}

}  // namespace

int run(const Choice& choice) {
  const Interruption interruption;
  const Run run = begin_run(choice.seed, choice.messages, choice.workers, choice.naive, choice.store);
  Traces traces(run, choice);
  const auto store = daemon::open_store(run.store);
  make_tables(*store, run);
  traces.has_tables();
  if (!choice.json) print_beginning(run, choice.store.empty() ? "a SQLite store" : store->describe());
  const Supervised supervised = supervise(run, *store, interruption, choice.json);
  if (interruption.signal() != 0) return 128 + interruption.signal();
  if (!choice.json) print_what_was_done(run, supervised);
  const bool holds = prove(run, supervised, choice.json) && supervised.trouble.empty();
  if (!supervised.trouble.empty()) fmt::print(stderr, "onceward demo: {}\n", supervised.trouble);
  if (!choice.json) print_end(run, holds);
  if (choice.naive) return supervised.trouble.empty() && !holds ? Exit::ok : Exit::error;
  if (!holds) traces.keep();
  return holds ? Exit::ok : Exit::error;
}

}  // namespace onceward::demo
