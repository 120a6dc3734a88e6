#include "tests/faults/pooler.h"

namespace onceward::faults {

Pooler::Pooler(int server_port) {
  fixtures::run_well(
      {script(), "start", directory_.path() + "/bouncer", std::to_string(port_), std::to_string(server_port)});
}

Pooler::~Pooler() { fixtures::run({script(), "stop", directory_.path() + "/bouncer", "--kill"}); }

std::string Pooler::url(const std::string& database) const {
  return "postgres://postgres@127.0.0.1:" + std::to_string(port_) + "/" + database;
}

}  // namespace onceward::faults
