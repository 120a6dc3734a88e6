// A worker on the store argv[1] and the embedded queue argv[2], until it is killed. Then name=value each: point (where it
// stops itself), bound_ms, attempts, batch, busy_ms, forgetful (the source does not count deliveries), folder (for what the
// handler remembers across lives). A message says in its payload what its handler does: see act().
#include <fcntl.h>

#include <cstdlib>
#include <map>
#include <new>
#include <string>

#include "onceward/adapter/embedded.h"
#include "onceward/worker.h"
#include "tests/crash/effect.h"
#include "tests/crash/forgetful_source.h"
#include "tests/crash/stopping_files.h"
#include "tests/crash/stopping_source.h"
#include "tests/fixtures/address.h"
#include "tests/fixtures/message.h"

// A sanitizer explains how a process ended for longer than the test lasts.
extern "C" const char* __asan_default_options() { return "handle_segv=0:handle_abort=0:symbolize=0:detect_leaks=0"; }

namespace {

using namespace onceward;
using namespace onceward::crash;
using std::chrono::milliseconds;

using Options = std::map<std::string, std::string>;

int number(const Options& options, const std::string& name, int otherwise) {
  const auto found = options.find(name);
  return found == options.end() ? otherwise : std::stoi(found->second);
}

// Memory is asked for where nobody can catch that there is none.
void want_too_much() noexcept {
  volatile std::size_t bytes = std::size_t{1} << 62;
  void* const memory = ::operator new(bytes);
  ::operator delete(memory);
}

[[noreturn]] void end_the_process(std::string_view how) {
  if (how == "abort") std::abort();
  if (how == "memory") want_too_much();
  if (how == "fault") ::raise(SIGSEGV);
  if (how == "killed") ::raise(SIGKILL);
  for (volatile bool forever = true; forever;) {
  }
  std::_Exit(9);
}

class Effect {
 public:
  Effect(StoppingStore& store, std::string folder) : store_(store), folder_(std::move(folder)) {}

  // "good"; "never": fails for good; "throws"; "later": is good at its second attempt; "abort", "loop", "memory", "fault"
  // and "killed" end the process; "later abort": at the second attempt.
  Outcome operator()(const Envelope& message, Transaction& transaction) {
    const Outcome outcome = act(message, transaction);
    store_.reach(Point::handler_returned);
    return outcome;
  }

 private:
  Outcome act(const Envelope& message, Transaction& transaction) {
    std::string_view what = message.payload();
    if (what.starts_with('"')) what = what.substr(1, what.size() - 2);
    if (what.starts_with("later")) {
      if (first_time(message)) return Retry{"later"};
      what.remove_prefix(std::min<std::size_t>(what.size(), 6));
    }
    if (what == "never") return Failed{"never"};
    if (what == "throws") throw std::runtime_error("no");
    if (!what.empty() && what != "good") end_the_process(what);
    return apply_effect(message, transaction, [this](Point point) { store_.reach(point); });
  }

  bool first_time(const Envelope& message) const {
    const std::string path = folder_ + "/" + std::string(message.message_id().text());
    const int file = ::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    if (file >= 0) ::close(file);
    return file >= 0;
  }

  StoppingStore& store_;
  const std::string folder_;
};

void work(const std::string& store_address, const std::string& queue_url, const Options& options) {
  Stop stop(static_cast<Point>(number(options, "point", 0)));
  const StoppingStore* the_store = nullptr;
  const StoppingSource* the_source = nullptr;
  const EmbeddedOptions queue = read_embedded_url(queue_url);
  StoppingFiles::watch([&](StoppingFiles::When when, std::string_view log) {
    const bool of_queue = log.starts_with(queue.path);
    if (of_queue && when == StoppingFiles::When::before && the_source && the_source->settling()) {
      stop.reach(Point::ack_written);
    }
    if (!of_queue && when == StoppingFiles::When::after && the_store && the_store->committing()) {
      stop.reach(Point::commit_sent);
    }
  });
  const milliseconds busy(number(options, "busy_ms", 30'000));
  const auto real_store = fixtures::open_address(store_address, {.path = {}, .busy_deadline = busy});
  const auto real_source = open_embedded(queue);
  StoppingStore store(*real_store, stop);
  ForgetfulSource forgetful(*real_source);
  const bool forgets = number(options, "forgetful", 0) == 1;
  StoppingSource source(forgets ? static_cast<Source&>(forgetful) : *real_source, store, stop);
  the_store = &store;
  the_source = &source;
  Declaration declaration = fixtures::consumer();
  declaration.time_bound = milliseconds(number(options, "bound_ms", 10'000));
  declaration.batch = static_cast<std::size_t>(number(options, "batch", 1000));
  declaration.retry = {
      .attempts = number(options, "attempts", 100), .first_delay = milliseconds(1), .longest_delay = milliseconds(4)};
  ConsumerTally tally;
  Worker worker(declaration, MessageHandler(Effect(store, options.at("folder"))), store, source, tally);
  std::puts("working");
  std::fflush(stdout);
  worker.run({});
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  try {
    Options options;
    for (int i = 3; i < argc; ++i) {
      const std::string word = argv[i];
      const std::size_t sign = word.find('=');
      options[word.substr(0, sign)] = word.substr(sign + 1);
    }
    work(argv[1], argv[2], options);
  } catch (const std::exception& thrown) {
    std::printf("error: %s\n", thrown.what());
    return 1;
  }
}
