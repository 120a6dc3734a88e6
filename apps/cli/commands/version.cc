#include <fmt/format.h>

#include "apps/cli/command.h"
#include "onceward/version.h"

namespace onceward::cli {

void add_version(CLI::App& parent, Session&) {
  add_command(parent, "version", "Prints the version", "onceward version")->callback([] {
    fmt::print("onceward {}\n", version());
  });
}

}  // namespace onceward::cli
