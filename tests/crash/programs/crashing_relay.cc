// A relay from the store argv[1] to the embedded queue file argv[2], until it is killed; argv[3] is the point at which it stops
// itself. Messages of the type "lost" go where no queue can be. Says "sent ID" for each message that it gives to the broker,
// and "fenced N" whenever that count has changed.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "tests/crash/forgetful_broker.h"
#include "tests/crash/noting_store.h"
#include "tests/fixtures/address.h"

namespace {

using namespace onceward;
using namespace onceward::crash;
using namespace std::chrono_literals;

// One line, whatever the other threads say.
void say(const std::string& line) {
  const std::string text = line + "\n";
  [[maybe_unused]] const auto written = ::write(STDOUT_FILENO, text.data(), text.size());
}

void tell_fenced(std::stop_token stop, const RelayTally& tally) {
  for (std::uint64_t told = 0; !stop.stop_requested(); std::this_thread::sleep_for(5ms)) {
    if (const std::uint64_t fenced = tally.fenced; fenced != told) say("fenced " + std::to_string(told = fenced));
  }
}

void work(const std::string& address, const std::string& queue, Point point) {
  Stop stop(point);
  UnderWay under_way;
  const auto real = fixtures::open_address(address);
  NotingStore store(*real, stop, under_way);
  RelayOptions options;
  options.name = "relay";
  options.producer = "shop";
  options.targets = {{"queue", [&] {
                        return std::make_unique<ForgetfulBroker>(
                            open_embedded_publisher({.path = queue}), stop, under_way,
                            [](std::string_view id) { say("sent " + std::string(id)); });
                      }}};
  options.routes = {{.types = {"paid"}, .destination = "default", .ordered = true},
                    {.types = {"lost"}, .destination = "no such queue!"}};
  options.retry = {.attempts = 1, .first_delay = 1ms, .longest_delay = 1ms};
  options.lease = 300ms;
  options.poll = 20ms;
  RelayTally tally;
  const std::jthread teller([&](std::stop_token ended) { tell_fenced(ended, tally); });
  Relay(options, store, tally).run({});
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  try {
    work(argv[1], argv[2], static_cast<Point>(std::atoi(argv[3])));
  } catch (const std::exception& thrown) {
    std::printf("error: %s\n", thrown.what());
    return 1;
  }
}
