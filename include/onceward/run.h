// The whole command line with a team's own handlers in it: `int main(int argc, char** argv) { return onceward::run(argc,
// argv, {{"captures", capture}}); }`. Link Onceward::app.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "onceward/handler.h"
#include "onceward/port/endpoint.h"

namespace onceward {

// By the name of the consumer that is declared in the application file.
using Handlers = std::map<std::string, Handler>;

// By the name of an endpoint that is declared without a URL. Called on the thread that works with what it makes.
using Endpoints = std::map<std::string, std::function<std::unique_ptr<Endpoint>()>>;

// Reads the arguments as the program `onceward` does; `run app.toml` uses `handlers` for consumers without `sql`, and
// `endpoints` for those without a URL. Returns the exit code. Catches everything.
int run(int argc, char** argv, const Handlers& handlers = {}, const Endpoints& endpoints = {});

}  // namespace onceward
