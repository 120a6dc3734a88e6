// Brings the tables of the store at argv[1] up to date: one of several that do so at once.
#include <cstdio>
#include <exception>

#include "tests/fixtures/address.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    onceward::fixtures::open_address(argv[1])->migrate();
    return 0;
  } catch (const std::exception& thrown) {
    std::fprintf(stderr, "%s\n", thrown.what());
    return 1;
  }
}
