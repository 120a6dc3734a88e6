#include "apps/demo/crashes.h"

#include <csignal>
#include <nlohmann/json.hpp>

namespace onceward::demo {

Crashes::Cause Crashes::note(const char* role, int number, pid_t pid, const Ending& ending) {
  const nlohmann::ordered_json line{
      {role, number}, {"pid", pid}, {"signal", ending.signal}, {"exitCode", ending.exit_code}};
  file_ << line.dump() << std::endl;
  if (ending.signal == SIGKILL) return Cause::killed;
  return ending.signal == SIGABRT ? Cause::aborted : Cause::other;
}

}  // namespace onceward::demo
