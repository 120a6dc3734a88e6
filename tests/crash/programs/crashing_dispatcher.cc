// A dispatcher on the store argv[1] until it is killed; argv[2] is the log of the outside world, to which one line is added for
// every call that reaches it, and argv[3] the point at which this process stops itself. Then words: "looks_up", "idempotent".
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "onceward/adapter/callback.h"
#include "onceward/dispatcher.h"
#include "tests/crash/point.h"
#include "tests/fixtures/address.h"
#include "tests/fixtures/forwarding_store.h"

namespace {

using namespace onceward;
using namespace onceward::crash;
using namespace std::chrono_literals;
using Kind = EndpointAnswer::Kind;

std::atomic<bool> has_started = false, has_answered = false;

// Nobody but the file knows what was done.
class World {
 public:
  explicit World(std::string path) : path_(std::move(path)) {}
  void note(std::string_view key) const {
    const std::string line = std::string(key) + "\n";
    const int file = ::open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT, 0600);
    if (::write(file, line.data(), line.size()) != static_cast<ssize_t>(line.size())) std::abort();
    ::close(file);
  }
  bool has(std::string_view key) const {
    std::ifstream lines(path_);
    for (std::string line; std::getline(lines, line);) {
      if (line == key) return true;
    }
    return false;
  }

 private:
  const std::string path_;
};

class StoppingStore final : public fixtures::ForwardingStore {
 public:
  StoppingStore(Store& store, Stop& stop) : ForwardingStore(store), stop_(stop) {}
  std::unique_ptr<UnitOfWork> begin(const Enrolled& consumer) override {
    return std::make_unique<Unit>(store_.begin(consumer), stop_);
  }

 private:
  class Unit final : public fixtures::ForwardingUnit {
   public:
    Unit(std::unique_ptr<UnitOfWork> unit, Stop& stop) : ForwardingUnit(std::move(unit)), stop_(stop) {}
    Commit commit() override {
      if (!has_started) reach_written(Point::approved);
      if (has_answered) reach_written(Point::recorded);
      const Commit ending = unit_->commit();
      if (ending == Commit::committed && !has_started) stop_.reach(Point::marked);
      return ending;
    }

   private:
    void reach_written(Point point) {
      if (!stop_.wants(point)) return;
      unit_->flush();
      stop_.reach(point);
    }
    Stop& stop_;
  };

  Stop& stop_;
};

class StoppingEndpoint final : public Endpoint {
 public:
  StoppingEndpoint(std::unique_ptr<Endpoint> endpoint, Stop& stop) : endpoint_(std::move(endpoint)), stop_(stop) {}

  std::size_t room() const override { return endpoint_->room(); }
  std::size_t under_way() const override { return endpoint_->under_way(); }
  void start(std::span<const EndpointRequest> requests) override {
    has_started = true;
    endpoint_->start(requests);
  }
  void collect(std::vector<EndpointAnswer>& into, std::chrono::milliseconds wait) override {
    const std::size_t before = into.size();
    endpoint_->collect(into, wait);
    const auto succeeded = [](const EndpointAnswer& answer) { return answer.kind == Kind::succeeded; };
    if (std::none_of(into.begin() + static_cast<std::ptrdiff_t>(before), into.end(), succeeded)) return;
    has_answered = true;
    if (!stop_.wants(Point::answered)) return;
    // A call that its thread is about to make when the process stops is made when that goes on: no lease can fence it.
    while (endpoint_->under_way() > 0) endpoint_->collect(into, wait);
    stop_.reach(Point::answered);
  }
  void wake() noexcept override { endpoint_->wake(); }
  std::chrono::milliseconds longest() const override { return endpoint_->longest(); }
  bool looks_up() const override { return endpoint_->looks_up(); }
  std::string describe() const override { return endpoint_->describe(); }

 private:
  const std::unique_ptr<Endpoint> endpoint_;
  Stop& stop_;
};

void work(const std::string& address, const std::string& log, Point point, const std::vector<std::string>& words) {
  Stop stop(point);
  const World world(log);
  CallbackOptions options{.call =
                              [&](const EndpointRequest& request, std::stop_token) {
                                world.note(request.key);
                                stop.reach(Point::sent);
                                return EndpointAnswer{.kind = Kind::succeeded};
                              },
                          .threads = 1,
                          .most_under_way = 8,
                          .deadline = 200ms};
  EndpointDeclaration declaration;
  declaration.name = "gateway";
  declaration.lease = 500ms;
  declaration.poll = 20ms;
  declaration.retry = {.attempts = 20, .first_delay = 5ms, .longest_delay = 20ms};
  LookUpDeclaration& look_up = declaration.look_up.emplace();
  look_up.settle = 300ms;
  look_up.every = 20ms;
  look_up.attempts = 1'000;
  for (const std::string& word : words) {
    if (word == "idempotent") {
      declaration.idempotent = true;
      declaration.key_lifetime = std::chrono::hours(1);
    }
    if (word == "looks_up") {
      options.look_up = [&](const EndpointRequest& request, std::stop_token) {
        const bool done = world.has(request.key);
        stop.reach(Point::looking_up);
        return EndpointAnswer{.kind = done ? Kind::done : Kind::not_done};
      };
    }
  }
  const auto real = fixtures::open_address(address);
  StoppingStore store(*real, stop);
  StoppingEndpoint endpoint(open_callback(options), stop);
  DispatchTally tally;
  Dispatcher(declaration, "crashing", store, endpoint, tally).run({});
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  try {
    work(argv[1], argv[2], static_cast<Point>(std::atoi(argv[3])), {argv + 4, argv + argc});
  } catch (const std::exception& thrown) {
    std::printf("error: %s\n", thrown.what());
    return 1;
  }
}
