// One broker and the thread that owns its publisher: parcels in, results out. While the broker is away, takes messages and
// confirms none, or a person has stopped it, it keeps what it has, and tries again ever more slowly; no row is charged for
// that.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "onceward/relay.h"
#include "src/relay/flight.h"
#include "src/relay/silence.h"

namespace onceward::relay {

inline void bump(RelayTally::Count& count, std::uint64_t by = 1) { count.fetch_add(by, std::memory_order_relaxed); }

class Target {
 public:
  // `may_send` is asked before each sending; `told` is called when there are results. Both from the target's thread.
  Target(const RelayTarget& target, std::chrono::milliseconds patience, std::function<bool()> may_send,
         std::function<void()> told, RelayTally& tally, Log& log);
  ~Target();

  void send(std::vector<Parcel> parcels);
  void open(std::string key);  // see Flight::open
  void stop(bool stopped);
  // Whether nothing has left for as long as `patience`, because the broker is away or silent, or somebody has stopped it.
  bool away() const;
  void give_back();  // see Flight::give_back; with what was sent where the broker is silent
  std::vector<Result> results();
  std::string trouble() const;

 private:
  using Clock = std::chrono::steady_clock;

  void run(std::stop_token stop);
  void work(std::stop_token stop);
  void take_in(std::stop_token stop);
  void send_some(Publisher& publisher);
  void collect(Publisher& publisher, std::chrono::milliseconds wait);
  void be_patient(bool heard, bool put_off, bool in_doubt);
  void note_silence(const Publisher& publisher, bool heard, bool waits);
  void hand_out();
  void set_publisher(std::unique_ptr<Publisher> publisher);
  bool may_send();
  void pause(std::stop_token stop, std::chrono::milliseconds time);
  void away(std::stop_token stop, const Fault& fault);
  void over();

  const RelayTarget target_;
  const std::chrono::milliseconds patience_;
  const std::function<bool()> may_send_;
  const std::function<void()> told_;
  RelayTally& tally_;
  Log& log_;

  // Of the target's thread.
  Flight flight_;
  std::vector<Receipt> receipts_;
  int tries_ = 0;
  int rounds_unheard_ = 0;  // of sending, of which nothing was confirmed or refused
  bool silent_ = false;
  Clock::time_point send_at_{};  // not before

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::vector<Parcel> parcels_;
  std::vector<std::string> opened_;
  std::vector<Result> results_;
  std::string trouble_;
  std::optional<Clock::time_point> away_since_;
  Silence silence_{patience_};
  bool stopped_ = false;
  bool give_back_ = false;
  std::unique_ptr<Publisher> publisher_;  // used by the target's thread only, but for wake()

  std::jthread thread_;
};

}  // namespace onceward::relay
