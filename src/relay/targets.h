// All brokers of a relay together. Belongs to the thread that owns the store, but for trouble(), which anybody may ask.
#pragma once

#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/relay/target.h"

namespace onceward::relay {

class Targets {
 public:
  using Names = std::set<std::string_view>;
  using Parcels = std::vector<std::vector<Parcel>>;  // by the index of their target

  // All must outlive this. `may_send` and `told` as those of a Target.
  Targets(const RelayOptions& options, std::function<bool()> may_send, std::function<void()> told, RelayTally& tally,
          Log& log);

  // Those that run end, whatever they have, and all begin with nothing.
  void start_anew();
  void end();
  // A person wants these to hold what they have, and no others; it holds for those that start later too.
  void stop_only(std::set<std::string, std::less<>> names);

  bool all_away() const;
  // Those that others are not to wait for. Asked once for all that is sent together: a key whose first row finds its target
  // away, and whose second does not, would lose its order. When all are away there is none to pass by.
  Names away() const;
  // What they have comes back, to wait in the store. When all are away it stays where it is.
  void give_back_what_is_away();

  void send(Parcels parcels);
  void open(std::span<const std::string> keys);  // see Flight::open
  std::vector<Result> results();
  std::string trouble() const;  // of the first that has one

 private:
  const RelayOptions& options_;
  const std::function<bool()> may_send_;
  const std::function<void()> told_;
  RelayTally& tally_;
  Log& log_;
  std::set<std::string, std::less<>> stopped_;

  mutable std::mutex mutex_;  // changes are made by the owner only, and with it
  std::vector<std::unique_ptr<Target>> all_;
};

}  // namespace onceward::relay
