// The whole command line with a team's own handlers in it: `int main(int argc, char** argv) { return onceward::run(argc,
// argv, {{"captures", capture}}); }`. Link Onceward::app.
#pragma once

#include <map>
#include <string>

#include "onceward/handler.h"

namespace onceward {

// By the name of the consumer that is declared in the application file.
using Handlers = std::map<std::string, Handler>;

// Reads the arguments as the program `onceward` does; `run app.toml` uses `handlers` for consumers without `sql`. Returns
// the exit code. Catches everything.
int run(int argc, char** argv, const Handlers& handlers = {});

}  // namespace onceward
