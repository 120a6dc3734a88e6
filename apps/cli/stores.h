// Which store a command works on: the flag, else the environment, else the application file.
#pragma once

#include <CLI/CLI.hpp>
#include <fstream>
#include <memory>
#include <string>

#include "apps/daemon/ports.h"
#include "onceward/declaration.h"
#include "onceward/port/store.h"

namespace onceward::cli {

struct StoreChoice {
  std::string url;
  std::string file;
};

void add_store_options(CLI::App& command, StoreChoice& choice);
// Throws Fault; CLI::ValidationError when nothing names a store, or what does is no store's URL.
std::unique_ptr<Store> open_store(const StoreChoice& choice, daemon::StoreUse use);

// ONCEWARD_STORE, else DATABASE_URL, else empty.
std::string store_in_environment();
// Throws CLI::ValidationError with every mistake.
Application read_application_file(const std::string& path);
// The file's text. Throws CLI::ValidationError when it cannot be read or is too large.
std::string read_file(const std::string& path);
// Throws CLI::ValidationError when it cannot be read.
std::ifstream open_file(const std::string& path);

}  // namespace onceward::cli
