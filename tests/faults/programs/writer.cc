// Applies batches of messages to the SQLite store at argv[1] until it is killed. Ids overlap with those of every other
// writer; each message leaves an effect, an outgoing message and a call.
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "onceward/adapter/sqlite.h"
#include "tests/fixtures/message.h"

namespace {

using namespace onceward;

void leave_one_of_each(const Envelope& envelope, Transaction& transaction) {
  transaction.execute("INSERT INTO effect (message) VALUES ($1)", envelope.message_id());
  transaction.stage(Outgoing{.type = "captured", .key = "k", .payload = "{}"});
  transaction.stage(Call{.endpoint = "gateway", .key = envelope.message_id().text(), .body = "{}"});
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    auto store = open_sqlite({.path = argv[1], .wal_autocheckpoint_pages = 20});  // checkpoints are interrupted too
    const Declaration declaration = fixtures::consumer();
    const Enrolled enrolled = store->enroll(declaration);
    std::puts("at work");
    std::fflush(stdout);
    std::mt19937 random{std::random_device{}()};
    for (;;) {
      std::vector<Envelope> envelopes;
      for (int count = 0; count < 10; ++count)
        envelopes.push_back(fixtures::envelope_of({.id = std::to_string(random() % 100'000)}));
      std::vector<Claimant> claimants;
      for (const Envelope& envelope : envelopes)
        claimants.push_back(std::get<Claimant>(identify(envelope, declaration)));
      transact(*store, enrolled, {.attempts = 100}, [&](UnitOfWork& unit) {
        unit.claim(claimants);
        for (std::size_t index = 0; index < envelopes.size(); ++index) {
          if (unit.first(index)) leave_one_of_each(envelopes[index], unit.on(index));
        }
      });
    }
  } catch (const std::exception& thrown) {
    std::printf("error: %s\n", thrown.what());
    return 1;
  }
}
