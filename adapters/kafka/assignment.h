// The books of a group's member: of each partition that it has, what was handed out, what was settled, and up to where that
// may be committed. A commit in Kafka is one number a partition: what lies behind an unsettled message must wait for it.
// No thread and no broker in here.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "onceward/port/source.h"

namespace onceward::kafka {

class Partition {
 public:
  // `position` is the next to come, or librdkafka's word for the beginning where nobody knows it yet; `generation` tells this
  // assignment of the partition from all others.
  Partition(std::uint64_t generation, std::int64_t position)
      : generation_(generation), position_(position), end_(position) {}

  std::uint64_t generation() const { return generation_; }
  std::int64_t position() const { return position_; }
  // Whether a message is one that comes next. Offsets rise, with gaps; an older one has been handed out.
  bool expects(std::int64_t offset) const { return offset >= position_; }

  // The delivery is kept until it is settled, to be handed out again.
  void hand_out(std::int64_t offset, Delivery delivery);
  // The end of what was handed out last, and at first where it began.
  std::int64_t end() const { return end_; }
  // What was given back comes again, the lowest first: null if there is none.
  struct Again {
    std::int64_t offset;
    const Delivery& delivery;
  };
  std::optional<Again> hand_out_again();
  bool has_waiting() const { return waiting_ > 0; }

  void settle(std::int64_t offset);
  void give_back(std::int64_t offset);

  // Handed out, and not settled or given back.
  std::size_t held() const { return held_; }
  // Settled, and not known to be committed.
  std::size_t uncommitted() const { return settled_; }

  // The offset that may be committed, where it is a new one: everything below it is settled, or is not at the broker any more.
  std::optional<std::int64_t> due() const;
  // It was: how many messages are settled by it.
  std::size_t committed(std::int64_t offset);
  bool has_committed() const { return has_committed_; }

  // Nothing below `position` is there any more, or wanted. That is due by itself, and no commit goes back behind it: whoever
  // comes next must not have to find out again.
  void skip_to(std::int64_t position);

  bool leaving = false;                    // is taken away: nothing more is handed out
  std::shared_ptr<const Stream> stream{};  // where somebody else keeps its progress; with its deliveries

 private:
  enum class State : std::uint8_t { held, waiting, settled };
  struct Item {
    std::int64_t offset;
    State state;
    Delivery delivery;
  };
  Item* find(std::int64_t offset);

  std::uint64_t generation_;
  std::int64_t position_;
  std::int64_t end_;
  std::deque<Item> items_;  // by offset, from the first that is not committed
  std::size_t prefix_ = 0;  // of the items, so many from the first are settled
  std::size_t held_ = 0, waiting_ = 0, settled_ = 0;
  bool has_committed_ = false;
  std::int64_t floor_ = 0;  // of commits: where it was skipped to
  bool floor_is_due_ = false;
};

class Assignment {
 public:
  // Begins a new generation; what the partition was before is forgotten. Counted: settled and never committed.
  Partition& add(std::int32_t number, std::int64_t position);
  // Gone: its tags are unknown from now on.
  void remove(std::int32_t number);
  void clear();

  Partition* find(std::int32_t number);
  // Null if that generation has gone.
  Partition* find(std::int32_t number, std::uint64_t generation);

  std::map<std::int32_t, Partition>& partitions() { return partitions_; }
  const std::map<std::int32_t, Partition>& partitions() const { return partitions_; }

  // How many were settled and can no longer be committed, since the last call.
  std::uint64_t take_failed() { return std::exchange(failed_, 0); }
  // Whether a partition has gone since the last call.
  bool take_changed() { return std::exchange(changed_, false); }

 private:
  std::map<std::int32_t, Partition> partitions_;
  std::uint64_t generations_ = 0;
  std::uint64_t failed_ = 0;
  bool changed_ = false;
};

}  // namespace onceward::kafka
