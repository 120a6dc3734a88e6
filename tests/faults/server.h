// A PostgreSQL server of a test's own, to be stopped, killed, filled and followed by a standby.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/fixtures/process.h"
#include "tests/fixtures/reader.h"

namespace onceward::faults {

class Server {
 public:
  explicit Server(const std::vector<std::string>& settings = {});
  static std::unique_ptr<Server> synchronous_standby_of(const Server& primary);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  int port() const { return port_; }
  std::string url(const std::string& database = "postgres", const std::string& user = "postgres") const;
  std::unique_ptr<fixtures::Reader> read() const { return fixtures::read_postgres(url()); }

  void start();
  void stop();      // the fast shutdown
  void stop_now();  // the immediate shutdown
  void kill();      // SIGKILL to every process of it
  pid_t pid(const std::string& process = "") const;

 private:
  struct WithOptions {
    std::vector<std::string> options;
  };
  explicit Server(WithOptions with);
  std::vector<std::string> command(const std::string& verb) const;

  fixtures::TemporaryDirectory directory_;
  int port_;
  std::vector<std::string> options_;
};

}  // namespace onceward::faults
