// Applies batches of messages to the store at argv[1] until it is killed. Ids are drawn from those of every other writer,
// with the seed argv[2]; each message leaves an effect, an outgoing message and a call.
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "tests/fixtures/address.h"
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
  if (argc != 3) return 2;
  try {
    // So few pages that checkpoints are interrupted, too.
    auto store = fixtures::open_address(argv[1], {.path = {}, .wal_autocheckpoint_pages = 20});
    const Declaration declaration = fixtures::consumer();
    const Enrolled enrolled = store->enroll(declaration);
    std::puts("at work");
    std::fflush(stdout);
    std::mt19937 random{static_cast<std::uint32_t>(std::stoul(argv[2]))};
    for (;;) {
      std::vector<Envelope> envelopes;
      for (int count = 0; count < 10; ++count)
        envelopes.push_back(fixtures::envelope_of({.id = std::to_string(random() % 20'000)}));
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
