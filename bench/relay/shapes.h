// The ways to bring the outbox to a broker. The rows are there before run() is called, and the queue is empty; what has
// arrived is drained and checked when the clock has stopped.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bench/broker/bare.h"
#include "bench/floor/outgoing.h"
#include "bench/relay/arrivals.h"
#include "bench/relay/processes.h"
#include "bench/work/postgres_database.h"
#include "bench/work/shape.h"

namespace onceward::bench {

// What one bench works with.
struct RelayBench {
  PostgresDatabase& database;
  BareBroker& broker;
  const Workload& work;
  Attributes attributes;
};

// Publishes the messages as they would be, without a database.
std::unique_ptr<Shape> raw_publish(const RelayBench& bench);

// Something that goes on beside the relay for the length of a run.
class Beside {
 public:
  virtual ~Beside() = default;
  // How many of the last messages it has kept from the outbox.
  virtual std::size_t keeps() const { return 0; }
  // The clock has stopped, all else has arrived, and the relay still works.
  virtual void finish(RelayProcesses& relay, Arrivals& arrivals) = 0;
};
using MakeBeside = std::function<std::unique_ptr<Beside>()>;

struct RelayShape {
  bool ordered = false;
  std::size_t processes = 1;
  MakeBeside beside{};
};
// Onceward's relay. Adds what has arrived to `into`.
std::unique_ptr<Shape> onceward_relay(const RelayBench& bench, const RelayShape& shape, std::vector<Arrived>& into);
// `shape`, and then checks what has arrived.
std::unique_ptr<Shape> checked(const RelayBench& bench, std::unique_ptr<Shape> shape, std::vector<Arrived>& into);

}  // namespace onceward::bench
