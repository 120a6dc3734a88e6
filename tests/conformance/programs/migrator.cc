// Brings the tables of the store at argv[1] up to date: one of several that do so at once.
#include <cstdio>
#include <exception>
#include <string_view>

#include "onceward/adapter/postgres.h"
#include "onceward/adapter/sqlite.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    const std::string_view address = argv[1];
    auto store = address.starts_with("sqlite:") ? onceward::open_sqlite({.path = std::string(address.substr(7))})
                                                : onceward::open_postgres({.url = std::string(address)});
    store->migrate();
    return 0;
  } catch (const std::exception& thrown) {
    std::fprintf(stderr, "%s\n", thrown.what());
    return 1;
  }
}
