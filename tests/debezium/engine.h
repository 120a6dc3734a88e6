// Debezium's embedded engine in a process of its own, with settings of docs/how-to/debezium.md: what Kafka would get from it.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "tests/faults/server.h"
#include "tests/fixtures/process.h"

namespace onceward::debezium {

// The code blocks of docs/how-to/debezium.md of that kind, as they stand there.
std::vector<std::string> blocks_of_the_page(const std::string& kind);
// Those of a block of SQL, one by one.
std::vector<std::string> statements_in(const std::string& block);

struct Relayed {
  std::string topic;
  std::string key;
  std::string payload;
  std::vector<std::string> headers;  // name=value
  bool operator==(const Relayed&) const = default;
};
void PrintTo(const Relayed& relayed, std::ostream* out);

class Engine {
 public:
  struct Options {
    std::string settings;      // a block of the page; where it connects to is set by us
    std::size_t messages;      // it ends after so many
    std::string offsets = "";  // the file that keeps how far it has come; none: begins anew
  };
  Engine(const faults::Server& server, const Options& options);

  // Those that have come by now. Throws when the engine has failed.
  std::vector<Relayed> relayed();
  void await(std::size_t messages);
  // All of them, after its end.
  std::vector<Relayed> finish();

 private:
  fixtures::TemporaryDirectory directory_;
  fixtures::Process process_;
};

}  // namespace onceward::debezium
