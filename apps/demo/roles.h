// The other processes of a run. Each is this very program, started by the supervisor with a hidden option.
#pragma once

#include <string>

namespace onceward::demo {

// generator, worker, dispatcher or gateway. Returns the exit code; `number` tells those of one role apart.
int play(const std::string& role, const std::string& directory, int number);

}  // namespace onceward::demo
