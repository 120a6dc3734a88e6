// One of many processes that claim the same messages: waits until the file argv[2] is there, then applies messages
// 0..argv[3] of consumer "billing" one unit each, and prints how often it was first.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "tests/fixtures/address.h"
#include "tests/fixtures/message.h"

namespace {

using namespace onceward;

std::vector<Answer> apply(Store& store, const Enrolled& enrolled, const Declaration& declaration,
                          const std::string& id) {
  const Envelope envelope = fixtures::envelope_of({.id = id});
  const Claimant claimant = std::get<Claimant>(identify(envelope, declaration));
  return transact(store, enrolled, {.attempts = 50}, [&](UnitOfWork& unit) {
    unit.claim({&claimant, 1});
    if (unit.first(0)) unit.on(0).execute("INSERT INTO effect (message) VALUES ($1)", id);
  });
}

void await_file(const char* path) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (access(path, F_OK) != 0) {
    if (std::chrono::steady_clock::now() > deadline) std::exit(3);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  try {
    auto store = fixtures::open_address(argv[1]);
    const Declaration declaration = fixtures::consumer();
    const Enrolled enrolled = store->enroll(declaration);
    await_file(argv[2]);
    int firsts = 0;
    int duplicates = 0;
    for (int message = 0; message < std::atoi(argv[3]); ++message) {
      for (const Answer& answer : apply(*store, enrolled, declaration, std::to_string(message))) {
        if (answer.verdict == Verdict::first) ++firsts;
        if (answer.verdict == Verdict::duplicate) ++duplicates;
      }
    }
    std::printf("first %d duplicate %d\n", firsts, duplicates);
    return 0;
  } catch (const std::exception& thrown) {
    std::fprintf(stderr, "%s\n", thrown.what());
    return 1;
  }
}
