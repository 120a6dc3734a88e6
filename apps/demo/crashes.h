// crashes.ndjson: each process of a run that ended without being asked to.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <fstream>
#include <string>

#include "apps/demo/child.h"

namespace onceward::demo {

class Crashes {
 public:
  explicit Crashes(const std::string& path) : file_(path, std::ios::app) {}

  enum class Cause : std::uint8_t {
    killed,   // by us
    aborted,  // by a message
    other,
  };
  // `role` is worker, dispatcher or gateway.
  Cause note(const char* role, int number, pid_t pid, const Ending& ending);

 private:
  std::ofstream file_;
};

}  // namespace onceward::demo
