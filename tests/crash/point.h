// The places at which a worker, a relay or a dispatcher is killed: crash points 01 to 27 and 35 of the list that docs/concepts/failures.md shows. A child
// process stops itself at the one it was told, whole, so that whoever kills it there meets no thread that has gone on.
#pragma once

#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace onceward::crash {

enum class Point : std::uint8_t {
  none,
  received,
  begun,
  claimed,
  duplicate_seen,  // before the ack
  between_writes,  // of one effect
  handler_returned,
  between_outgoing,  // the first one's row is written
  call_staged,       // the intent's row is written
  before_commit,     // everything is written
  commit_sent,       // and not answered
  committed,         // before the ack
  ack_written,       // and not flushed
  acked,
  attempt_counted,  // before the ack
  parked,           // before the ack
  // Of a relay.
  read_page,       // and nothing is published
  published,       // before a confirm
  confirmed,       // before it is noted
  noted,           // the place is written, before the COMMIT
  some_confirmed,  // k of n
  returned,        // a message came back, and that is not noted
  renewing,        // its lease, with a page under way
  // Of a dispatcher.
  marked,      // an attempt is committed, and nothing is sent
  sent,        // before a response
  answered,    // before that is noted
  recorded,    // before the COMMIT
  looking_up,  // an outcome that is unknown
  approved,    // by a person, and not executed
};
inline constexpr int points = 15;  // of a worker
inline constexpr int relay_points = 22;
inline constexpr int all_points = 28;

inline std::string_view name(Point point) {
  constexpr std::array<std::string_view, all_points + 1> names{"none",
                                                               "received",
                                                               "begun",
                                                               "claimed",
                                                               "duplicate seen",
                                                               "between writes",
                                                               "handler returned",
                                                               "between outgoing",
                                                               "call staged",
                                                               "before commit",
                                                               "commit sent",
                                                               "committed",
                                                               "ack written",
                                                               "acked",
                                                               "attempt counted",
                                                               "parked",
                                                               "page read",
                                                               "published",
                                                               "confirmed",
                                                               "noted",
                                                               "some confirmed",
                                                               "returned",
                                                               "renewing",
                                                               "marked",
                                                               "sent",
                                                               "answered",
                                                               "recorded",
                                                               "looking up",
                                                               "approved"};
  return names.at(static_cast<std::size_t>(point));
}

// As a child is told it.
inline std::string number_of(Point point) { return std::to_string(static_cast<int>(point)); }

// What a child says when it is there.
inline std::string announcement(Point point) { return "at " + std::string(name(point)) + "\n"; }

// Where this process is to stop; once, from whatever thread comes there first.
class Stop {
 public:
  explicit Stop(Point at) : at_(at), armed_(at != Point::none) {}

  bool wants(Point point) const { return point == at_ && armed_; }
  void reach(Point point) {
    if (point != at_ || !armed_.exchange(false)) return;
    const std::string text = announcement(point);
    [[maybe_unused]] const auto written = ::write(STDOUT_FILENO, text.data(), text.size());
    ::raise(SIGSTOP);  // not to the process: another thread may take that, and this one runs on
  }

 private:
  const Point at_;
  std::atomic<bool> armed_;
};

}  // namespace onceward::crash
