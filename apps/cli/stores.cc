#include "apps/cli/stores.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "onceward/adapter/postgres.h"
#include "onceward/adapter/sqlite.h"
#include "onceward/declaration.h"

namespace onceward::cli {
namespace {

constexpr std::size_t largest_file = 1u << 20;

std::string from_environment() {
  for (const char* name : {"ONCEWARD_STORE", "DATABASE_URL"}) {
    if (const char* const value = std::getenv(name); value && *value) return value;
  }
  return {};
}

std::string from_file(const std::string& path) {
  const auto read = read_application(read_file(path), path);
  if (const auto* mistakes = std::get_if<std::vector<Mistake>>(&read)) {
    throw CLI::ValidationError("--config", "the file has mistakes:\n" + to_string(*mistakes));
  }
  return std::get<Application>(read).store;
}

}  // namespace

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) throw CLI::ValidationError(path, "cannot be read");
  if (text.view().size() > largest_file) throw CLI::ValidationError(path, "is larger than 1 MiB");
  return text.str();
}

void add_store_options(CLI::App& command, StoreChoice& choice) {
  command.add_option("--store", choice.url,
                     "postgres://... or sqlite:PATH; else ONCEWARD_STORE, DATABASE_URL, or the file's [store]");
  command.add_option("--config", choice.file, "The application file");
}

std::unique_ptr<Store> open_store(const StoreChoice& choice) {
  if (!choice.url.empty()) return open_store(choice.url);
  if (const std::string url = from_environment(); !url.empty()) return open_store(url);
  if (!choice.file.empty()) return open_store(from_file(choice.file));
  throw CLI::ValidationError("--store", "no store is named: pass --store, set ONCEWARD_STORE, or pass --config");
}

std::unique_ptr<Store> open_store(const std::string& url) {
  if (url.starts_with("postgres://") || url.starts_with("postgresql://")) {
    PostgresOptions options;
    options.url = url;
    return open_postgres(options);
  }
  if (url.starts_with("sqlite:")) {
    SqliteOptions options;
    options.path = url.substr(7);
    return open_sqlite(options);
  }
  throw CLI::ValidationError("--store", "a store is postgres://user@host/database or sqlite:PATH");
}

}  // namespace onceward::cli
