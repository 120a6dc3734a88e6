#include "apps/cli/stores.h"

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <stdexcept>

#include "onceward/declaration.h"

namespace onceward::cli {
namespace {

constexpr std::size_t largest_file = 1u << 20;

}  // namespace

std::string store_in_environment() {
  for (const char* name : {"ONCEWARD_STORE", "DATABASE_URL"}) {
    if (const char* const value = std::getenv(name); value && *value) return value;
  }
  return {};
}

Application read_application_file(const std::string& path) {
  auto read = read_application(read_file(path), path);
  if (const auto* mistakes = std::get_if<std::vector<Mistake>>(&read)) {
    throw CLI::ValidationError(path, "has mistakes:\n" + to_string(*mistakes));
  }
  return std::get<Application>(std::move(read));
}

std::string read_file(const std::string& path) {
  std::ifstream file = open_file(path);
  std::ostringstream text;
  if (!(text << file.rdbuf())) throw CLI::ValidationError(path, "cannot be read");
  if (text.view().size() > largest_file) throw CLI::ValidationError(path, "is larger than 1 MiB");
  return text.str();
}

std::ifstream open_file(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) throw CLI::ValidationError(path, "is a directory; name a file in it");
  std::ifstream file(path, std::ios::binary);
  if (!file) throw CLI::ValidationError(path, "cannot be read");
  return file;
}

void add_store_options(CLI::App& command, StoreChoice& choice) {
  command.add_option("--store", choice.url,
                     "postgres://... or sqlite:PATH; else ONCEWARD_STORE, DATABASE_URL, or the file's [store]");
  command.add_option("--config", choice.file, "The application file");
}

std::unique_ptr<Store> open_store(const StoreChoice& choice, daemon::StoreUse use) {
  std::string url = choice.url;
  if (url.empty()) url = store_in_environment();
  if (url.empty() && !choice.file.empty()) url = read_application_file(choice.file).store;
  if (url.empty()) {
    throw CLI::ValidationError("--store", "no store is named: pass --store, set ONCEWARD_STORE, or pass --config");
  }
  try {
    return daemon::open_store(url, std::chrono::minutes(1), use);
  } catch (const std::invalid_argument& mistake) {
    throw CLI::ValidationError("--store", mistake.what());
  }
}

}  // namespace onceward::cli
