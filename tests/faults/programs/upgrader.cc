// Opens the store at argv[1], says so, and on SIGUSR1 brings its tables up to date: at a moment that is known, so that it
// can be killed in the middle. Prints how long it took.
#include <signal.h>

#include <chrono>
#include <cstdio>
#include <exception>

#include "tests/fixtures/address.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  sigset_t go;
  sigemptyset(&go);
  sigaddset(&go, SIGUSR1);
  sigprocmask(SIG_BLOCK, &go, nullptr);
  try {
    auto store = onceward::fixtures::open_address(argv[1]);
    std::puts("ready");
    std::fflush(stdout);
    int number = 0;
    sigwait(&go, &number);
    const auto start = std::chrono::steady_clock::now();
    store->migrate();
    const auto took = std::chrono::steady_clock::now() - start;
    std::printf("took %lld\n",
                static_cast<long long>(std::chrono::duration_cast<std::chrono::microseconds>(took).count()));
    return 0;
  } catch (const std::exception& thrown) {
    std::printf("error: %s\n", thrown.what());
    return 1;
  }
}
