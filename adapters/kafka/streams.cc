// A member whose partitions are streams that somebody else keeps.
#include <fmt/format.h>

#include "adapters/kafka/member.h"

namespace onceward::kafka {
namespace {

constexpr std::chrono::seconds take_over_again_after{5};

}  // namespace

std::string Member::stream_of(std::int32_t partition) const { return fmt::format("{}/{}", options_.topic, partition); }

// Where each begins: where the keeper has it. One that has not begun there begins where it would without a keeper, and the
// keeper is told so before its first message.
bool Member::take_over(rd_kafka_topic_partition_list_t& partitions, StreamsOf& streams, bool begun) {
  if (partitions.cnt == 0) return true;
  std::vector<std::string> names;
  for (int at = 0; at < partitions.cnt; ++at) names.push_back(stream_of(partitions.elems[at].partition));
  const std::vector<TakenOver> taken = keeper_->take_over(names);
  const Partitions unknown(rd_kafka_topic_partition_list_new(partitions.cnt));
  for (std::size_t at = 0; at < taken.size(); ++at) {
    rd_kafka_topic_partition_t& partition = partitions.elems[at];
    if (taken[at].next) {
      partition.offset = *taken[at].next;
      begun = true;
    } else {
      rd_kafka_topic_partition_list_add(unknown.get(), partition.topic, partition.partition);
    }
  }
  if (!set_positions(*unknown, begun)) return false;
  for (std::size_t at = 0; at < taken.size(); ++at) {
    rd_kafka_topic_partition_t& partition = partitions.elems[at];
    Stream stream = taken[at].stream;
    if (!taken[at].next) {
      partition.offset =
          rd_kafka_topic_partition_list_find(unknown.get(), partition.topic, partition.partition)->offset;
      stream = keeper_->begin(stream, partition.offset);
    }
    streams[partition.partition] = std::make_shared<const Stream>(std::move(stream));
  }
  return true;
}

void Member::doubt(std::int32_t partition) {
  assignment_.find(partition)->leaving = true;
  if (doubted_.insert(partition).second) take_over_at_ = Clock::now() + take_over_again_after;
}

void Member::take_over_again() {
  take_over_at_ = Clock::now() + take_over_again_after;
  if (rebalance_ || client_.down() || rd_kafka_assignment_lost(client_.get()) != 0) return;
  for (const std::int32_t number : std::set<std::int32_t>(doubted_)) {
    if (assignment_.find(number) != nullptr) {
      const Partitions one(rd_kafka_topic_partition_list_new(1));
      rd_kafka_topic_partition_t& partition =
          *rd_kafka_topic_partition_list_add(one.get(), options_.topic.c_str(), number);
      StreamsOf streams;
      assign_trouble_.reset();
      if (!take_over(*one, streams, true)) {
        if (assign_trouble_) be_hindered(*assign_trouble_);
        return;
      }
      hindered_.reset();
      if (hears_of_a_rebalance()) return;
      assignment_.add(number, partition.offset).stream = streams[number];
      fetch_again(number);
      client_.say(LogLevel::warn, fmt::format("stream {} is ours by the group, and was taken over again at {}",
                                              stream_of(number), partition.offset));
    }
    doubted_.erase(number);
  }
}

}  // namespace onceward::kafka
