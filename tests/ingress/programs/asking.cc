// Asks once at the front door of the store argv[1] with the key argv[2] and a lease of argv[4] ms, and says what was answered.
// argv[3] is where it stops itself: "reserved", "handling" (its effect is written), "completed" (before the COMMIT),
// "committed" (before it answers), or "nowhere".
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "onceward/ingress.h"
#include "tests/fixtures/address.h"
#include "tests/fixtures/forwarding_store.h"

namespace {

using namespace onceward;

class Stop {
 public:
  explicit Stop(std::string at) : at_(std::move(at)) {}
  void reach(const std::string& place) const {
    if (place != at_) return;
    std::printf("at %s\n", place.c_str());
    std::fflush(stdout);
    ::raise(SIGSTOP);
  }

 private:
  const std::string at_;
};

// Its first commit is the reservation's, its second the effect's.
class StoppingStore final : public fixtures::ForwardingStore {
 public:
  StoppingStore(Store& store, const Stop& stop) : ForwardingStore(store), stop_(stop) {}
  std::unique_ptr<UnitOfWork> begin(const Enrolled& consumer) override {
    return std::make_unique<Unit>(store_.begin(consumer), *this);
  }

 private:
  class Unit final : public fixtures::ForwardingUnit {
   public:
    Unit(std::unique_ptr<UnitOfWork> unit, StoppingStore& store) : ForwardingUnit(std::move(unit)), store_(store) {}
    Commit commit() override {
      const bool reserves = ++store_.commits_ == 1;
      unit_->flush();
      if (!reserves) store_.stop_.reach("completed");
      const Commit ending = unit_->commit();
      unit_.reset();
      store_.stop_.reach(reserves ? "reserved" : "committed");
      return ending;
    }

   private:
    StoppingStore& store_;
  };

  const Stop& stop_;
  int commits_ = 0;
};

void ask(const std::string& address, const std::string& key, const Stop& stop, int lease_ms) {
  const auto real = fixtures::open_address(address);
  StoppingStore store(*real, stop);
  IngressTally tally;
  Ingress ingress(store, tally, {.lease = std::chrono::milliseconds(lease_ms)});
  const IngressRequest request{
      .principal = "shop", .operation = "POST /captures", .key = key, .body = R"({"amount":1})"};
  const IngressAnswer answer = ingress.serve(request, [&](const IngressRequest& asked, Transaction& transaction) {
    transaction.execute_counted("INSERT INTO effect (message) VALUES ($1)", asked.key);
    stop.reach("handling");
    return IngressAnswer{.status = 201, .body = "by the process"};
  });
  std::printf("answered %u%s\n", answer.status, answer.repeated ? " again" : "");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  try {
    ask(argv[1], argv[2], Stop(argv[3]), std::stoi(argv[4]));
  } catch (const std::exception& thrown) {
    std::printf("error: %s\n", thrown.what());
    return 1;
  }
}
