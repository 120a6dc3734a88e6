// The part of the supervisor that looks after the gateway and the dispatchers of a run: it kills them at moments that the seed
// decides, counted in calls, and starts others in their place. A naive run has no dispatchers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/demo/child.h"
#include "apps/demo/crashes.h"
#include "apps/demo/run_directory.h"
#include "onceward/port/store.h"

namespace onceward::demo {

class Callers {
 public:
  // All must outlive this object.
  Callers(const Run& run, Store& store, Crashes& crashes);

  // Throws std::system_error.
  void start();
  // Goes on with what is to be done after so many calls were started.
  void tend(std::uint64_t calls);
  // Whether all that is to be done to them was done, and they run.
  bool at_rest() const;
  // Whether no call has to be made, is under way, or will be looked up by itself.
  bool finished();
  // All are gone on return.
  void stop(bool patient);

  int gateways_killed() const { return gateways_killed_; }
  int dispatchers_killed() const { return dispatchers_killed_; }
  // Why one cannot go on; empty: they do.
  const std::string& trouble() const { return trouble_; }

 private:
  // One that is killed and started again.
  struct Player {
    const char* role = "";
    int number = 0;
    Child child{};
  };
  struct Kill {
    std::uint64_t at = 0;  // calls
    std::size_t whom = 0;  // of players_
  };

  void plan_kills();
  void start(Player& player) const;
  void note(Player& player, pid_t pid, const Ending& ending);

  const Run& run_;
  Store& store_;
  Crashes& crashes_;
  std::vector<Player> players_;  // the gateway is the first
  std::vector<Kill> kills_;      // the next one is the last
  int gateways_killed_ = 0, dispatchers_killed_ = 0, others_ = 0;
  std::string trouble_;
};

}  // namespace onceward::demo
