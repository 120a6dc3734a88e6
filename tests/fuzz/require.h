// What a fuzz target demands: unlike assert, in every build.
#pragma once

#include <cstdio>
#include <cstdlib>

#define ONCEWARD_REQUIRE(condition)                                        \
  do {                                                                     \
    if (!(condition)) {                                                    \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                        \
    }                                                                      \
  } while (false)
