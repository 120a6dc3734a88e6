// A PgBouncer of a test's own, in transaction mode with two server connections for each database.
#pragma once

#include <string>

#include "tests/fixtures/process.h"

namespace onceward::faults {

class Pooler {
 public:
  // In front of the server, or of the proxy, that listens on this port.
  explicit Pooler(int server_port);
  ~Pooler();
  Pooler(const Pooler&) = delete;
  Pooler& operator=(const Pooler&) = delete;

  int port() const { return port_; }
  std::string url(const std::string& database = "postgres") const;

 private:
  std::string script() const { return fixtures::environment("ONCEWARD_SCRIPTS") + "/pgbouncer"; }

  fixtures::TemporaryDirectory directory_;
  int port_ = fixtures::free_port();
};

}  // namespace onceward::faults
