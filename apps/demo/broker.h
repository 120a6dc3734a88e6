// A real broker of a run's own, in the directory of the run: started, killed with SIGKILL and started again by the scripts of
// the repository, which ONCEWARD_SCRIPTS names.
#pragma once

#include <chrono>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "apps/demo/child.h"
#include "apps/demo/interruption.h"
#include "apps/demo/queue.h"

namespace onceward::demo {

inline constexpr std::chrono::milliseconds pause_without_broker{100};

struct Interrupted : std::runtime_error {
  Interrupted() : std::runtime_error("interrupted") {}
};

// Throws std::invalid_argument, which says what to do, where this program has no broker or cannot start one.
void require_broker(const std::string& broker);

// What starts and stops it; empty where it is not known.
std::string broker_script(const std::string& broker);

// Where workers receive from and the generator publishes to, once the broker runs.
std::string source_url(const Run& run);
std::string target_url(const Run& run);

class Broker final : public Queue {
 public:
  // `run` must outlive it.
  explicit Broker(const Run& run);
  ~Broker() override;  // stopped, with its data left where they are

  // Returns its URL when it serves. Throws std::runtime_error, and Interrupted.
  std::string start(const Interruption& interruption);
  // Makes the queue, where the run says, so that it outlives a crash. Throws as start(), and Fault.
  void make_queue(const Interruption& interruption) const;

  std::optional<std::uint64_t> left(bool now) override;
  void tend(std::uint64_t deliveries, Progress& progress) override;
  bool at_rest() const override { return restart_at_.empty() && !restart_.runs(); }
  std::string trouble() const override { return restart_.runs() ? run_.broker + " is down" : ""; }
  int restarts() const override { return restarts_; }

 private:
  std::vector<std::string> command(const std::string& verb, const std::vector<std::string>& arguments = {}) const;
  // What it prints; throws unless it ends well.
  std::string call(const std::vector<std::string>& command, const Interruption* interruption) const;
  void note_restart(const Ending& ending, Progress& progress);

  const Run& run_;
  const std::string directory_;
  std::ofstream log_;
  std::vector<std::uint64_t> restart_at_;  // deliveries, falling: the next one is the last
  Child restart_, question_;
  std::string pid_;  // of the one that is killed
  int restarts_ = 0;
};

}  // namespace onceward::demo
