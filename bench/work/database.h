// The database under a bench: emptied before each run, metered around it, compared after it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bench/work/workload.h"
#include "onceward/port/store.h"

namespace onceward::bench {

// Since the server started or the file was opened.
struct Meter {
  std::uint64_t wal_bytes = 0;
  std::uint64_t fsyncs = 0;
};

// Rows and an order-independent sum over what two shapes must write alike: everything but positions, times and the
// ids of outgoing messages, of which only the length counts.
struct Contents {
  std::uint64_t rows = 0;
  std::string sum;
  friend bool operator==(const Contents&, const Contents&) = default;
};
using ContentsOf = std::map<std::string, Contents>;  // by table

class Database {
 public:
  virtual ~Database() = default;
  virtual std::string name() const = 0;
  // What a number depends on, a line each.
  virtual std::vector<std::string> settings() = 0;
  virtual std::unique_ptr<Store> open() = 0;
  // Empties every table and leaves nothing unwritten that the next run would pay for.
  virtual void reset() = 0;
  // Writes out what is unwritten.
  virtual void checkpoint() = 0;
  virtual std::uint64_t wal_bytes() = 0;
  // Also the syncs, which a server counts only once a connection has ended: every one but our own must be closed.
  virtual Meter meter() = 0;
  virtual ContentsOf contents() = 0;
  // Puts made-up rows number `from` to `to` into the inbox by the shortest way, as if they had been claimed in that order.
  virtual void fill(Ids ids, std::uint64_t from, std::uint64_t to) = 0;
  // What the inbox takes on disk, its index included.
  virtual std::uint64_t inbox_bytes() = 0;
  // Row versions left behind in any table, ours or the work's, since vacuum(); nothing on stores that have none.
  virtual std::uint64_t dead_rows() = 0;
  virtual void vacuum() = 0;
};

}  // namespace onceward::bench
