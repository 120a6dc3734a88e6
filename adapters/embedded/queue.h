// One queue of a file, in sets: each call is one transaction, however many messages it is about.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "adapters/embedded/queue_file.h"
#include "onceward/adapter/embedded.h"
#include "src/source/disturber.h"

namespace onceward::embedded {

// Names a delivery; see queue_file.h.
struct Handed {
  std::int64_t position = 0;
  std::int64_t due_at = 0;  // microseconds since 1970
  friend auto operator<=>(const Handed&, const Handed&) = default;
};

struct Taken {
  Handed handed;
  std::uint32_t deliveries = 0;  // this one counted
  Bytes body;
};

struct Addressed {
  std::string_view queue;
  std::string_view body;
};

struct Ended {
  Handed handed;
  bool again = false;  // hand it out again; else it is gone
};

class Queue {
 public:
  // Opens or creates the file and the queue in it.
  explicit Queue(const EmbeddedOptions& options);

  bool usable() const { return file_.usable(); }

  // Whether take() would find anything. Takes no lock that a writer waits for.
  bool ready();
  // Appends up to `most` messages, first those that came back, and hides them until the visibility has passed.
  void take(std::size_t most, Disturber& disturber, std::vector<Taken>& into);
  // The number of those that were still as they had been handed out. Changes the order of `ended`.
  std::uint64_t end(std::span<Ended> ended);

  void send(std::span<const std::string_view> messages);
  // To any queues of the file, in one transaction. Those that are not there are made before it.
  void send_to(std::span<const Addressed> messages);
  QueueDepth depth();

 private:
  struct Reach {
    std::int64_t published = 0;
    std::int64_t handed = 0;
  };
  struct Candidate {
    std::int64_t position = 0;
    std::int64_t deliveries = 0;
  };

  std::int64_t number_of(std::string_view name);
  Reach reach() { return reach(number_); }
  Reach reach(std::int64_t number);
  void collect(std::size_t most, std::int64_t now, std::vector<Candidate>& into);
  static std::span<const Candidate> run_of(std::span<const Candidate> candidates);
  std::size_t hand_out(std::span<const Candidate> run, std::int64_t now, std::size_t& bytes, std::vector<Taken>& into);
  void put_back(const Candidate& candidate);
  std::uint64_t end_run(std::span<const Ended> run);

  const std::chrono::microseconds visibility_;
  QueueFile file_;
  const std::int64_t number_;
  std::vector<Candidate> candidates_;
};

}  // namespace onceward::embedded
