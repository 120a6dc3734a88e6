#include "apps/demo/demo.h"

#include <fmt/format.h>

#include <filesystem>

#include "apps/daemon/exit_code.h"
#include "apps/daemon/ports.h"
#include "apps/demo/broker.h"
#include "apps/demo/gateway/port.h"
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
      fmt::print(
          stderr, "Kept in {0}; onceward-checker {0} looks again{1}.\n", run_.directory,
          run_.broker.empty() ? "" : fmt::format(" after {} start {}/broker", run_.broker_script, run_.directory));
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

// Of a run on a real broker the URL is known once that one runs. Nothing when it was interrupted.
std::unique_ptr<Queue> open_queue(Run& run, const Interruption& interruption) {
  if (run.broker.empty()) return embedded_queue(run);
  run.broker_script = broker_script(run.broker);
  auto broker = std::make_unique<Broker>(run);
  try {
    run.broker_url = broker->start(interruption);
    broker->make_queue(interruption);
  } catch (const Interrupted&) {
    return nullptr;
  }
  write_run(run);
  return broker;
}

Supervised supervise(const Run& run, Store& store, Queue& queue, const Interruption& interruption, bool json) {
  Progress progress(json);
  return Supervisor(run, store, queue).supervise(interruption, progress);
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
  const KeptPort gateway_port;
  Run run = begin_run(choice, gateway_port.number());
  Traces traces(run, choice);
  const auto store = daemon::open_store(run.store);
  make_tables(*store, run);
  traces.has_tables();
  if (!choice.json) print_beginning(run, choice.store.empty() ? "a SQLite store" : store->describe());
  const auto queue = open_queue(run, interruption);
  if (!queue) return 128 + interruption.signal();
  const Supervised supervised = supervise(run, *store, *queue, interruption, choice.json);
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
