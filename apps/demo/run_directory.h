// The directory of a run, through which its processes know of one another:
//
//   run.json          what is run; the password of a store may stand in it, so the directory is its owner's alone
//   published.ndjson  what the generator sends (apps/checker/published.h says how)
//   gateway.ndjson    what the gateway has seen and done (gateway/book.h says how)
//   crashes.ndjson    each worker, dispatcher or gateway that ended without being asked to: its number, its process, the
//                     signal or exit code
//   queue.db          the embedded queue
//   broker            the directory of a real broker instead of it, and broker.ndjson each time that one was killed
//   store.db          the SQLite store, unless another one was named
//   tally             what workers and dispatchers counted, in memory that they share (shared_tally.h)
//   *.log             what each process had to say
#pragma once

#include <cstdint>
#include <string>

#include "apps/demo/demo.h"

namespace onceward::demo {

inline constexpr const char* broker_queue = "payment.capture.requested.q";  // and the topic, and its group

struct Run {
  std::string directory;
  std::uint64_t seed = 7;
  std::int64_t messages = 0;
  int workers = 0;
  bool naive = false;
  std::string store;     // a URL
  std::string consumer;  // of its own for every run, so that runs in one database do not disturb each other
  std::string capture_table, balance_table;
  std::string endpoint;  // of the gateway in the ledger: of the run's own, too
  std::uint16_t gateway_port = 0;
  // Of a run on a real broker: rabbitmq or kafka, what starts and stops it (scripts/services), and where it is, once it runs.
  std::string broker{}, broker_script{}, broker_url{};

  std::string file(const std::string& name) const { return directory + "/" + name; }
  std::string queue() const { return file("queue.db"); }
};

// Makes a new directory. An empty store is a SQLite file in it. Throws std::runtime_error.
Run begin_run(const Choice& choice, std::uint16_t gateway_port);
// Tells the processes that are started from now on.
void write_run(const Run& run);
// As another process of the same run sees it.
Run read_run(const std::string& directory);

}  // namespace onceward::demo
