// The independent checker of `onceward demo`. It links nothing of Onceward's: it reads what the generator says it has
// sent, and looks with clients of its own whether that is what the database and the queue hold.
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <string>

#include "apps/checker/broker.h"
#include "apps/checker/report.h"

namespace {

constexpr int proven = 0, disproved = 1, misused = 2;

constexpr const char* help = R"(Compares what a run of `onceward demo --keep` published with what it left behind.

Usage: onceward-checker DIRECTORY [-o table|json]
       onceward-checker DIRECTORY --left      only how many messages the run's broker still holds

Exit codes: 0 every line holds, 1 one does not or nothing could be read, 2 usage.

Example: onceward-checker /tmp/onceward-demo-x7Kd2p
)";

struct Arguments {
  std::string directory;
  bool json = false;
  bool only_left = false;
  bool ask_help = false;
};

bool read(int argc, char** argv, Arguments& arguments) {
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--help" || argument == "-h") {
      arguments.ask_help = true;
      return true;
    }
    if (argument == "-o" && i + 1 < argc) {
      const std::string format = argv[++i];
      if (format != "table" && format != "json") return false;
      arguments.json = format == "json";
    } else if (argument == "--left") {
      arguments.only_left = true;
    } else if (arguments.directory.empty() && !argument.starts_with("-")) {
      arguments.directory = argument;
    } else {
      return false;
    }
  }
  return !arguments.directory.empty();
}

}  // namespace

int main(int argc, char** argv) try {
  Arguments arguments;
  if (!read(argc, argv, arguments)) {
    fmt::print(stderr, "{}", help);
    return misused;
  }
  if (arguments.ask_help) {
    fmt::print("{}", help);
    return proven;
  }
  const checker::Run run = checker::read_run(arguments.directory);
  if (arguments.only_left) {
    fmt::print("{}\n", checker::left_in_broker(run));
    return proven;
  }
  const checker::Published published = checker::read_published(run.directory + "/published.ndjson");
  const checker::Proof proof = checker::prove(published, checker::collect(run), run);
  arguments.json ? checker::print_json(proof) : checker::print_table(proof, run.naive);
  return proof.ok ? proven : disproved;
} catch (const std::exception& failure) {
  fmt::print(stderr, "onceward-checker: {}\n", failure.what());
  return disproved;
}
