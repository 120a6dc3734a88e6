// Where the partitions of a member begin.
#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "adapters/kafka/member.h"

namespace onceward::kafka {
namespace {

constexpr int longest_wait_for_the_first = 25;  // tries of go_on()

bool is_committed(const rd_kafka_topic_partition_t& partition) { return partition.offset >= 0; }

std::span<rd_kafka_topic_partition_t> items(rd_kafka_topic_partition_list_t& list) {
  return {list.elems, static_cast<std::size_t>(list.cnt)};
}

}  // namespace

// At what was committed, else where the options say: by what it may be assigned again. A topic that has `begun`
// has no partition that begins at its end.
bool Member::set_positions(rd_kafka_topic_partition_list_t& partitions, bool begun) {
  if (partitions.cnt == 0) return true;
  if (!ask_committed(partitions)) return false;
  if (std::ranges::all_of(items(partitions), is_committed)) return true;
  if (!begun && options_.start == KafkaSourceOptions::Start::latest) {
    const Partitions all = all_partitions();
    if (!ask_committed(*all)) return false;
    if (std::ranges::none_of(items(*all), is_committed)) {
      if (rd_kafka_topic_partition_list_find(&partitions, options_.topic.c_str(), 0) != nullptr) {
        return begin_at_the_ends(*all) && ask_committed(partitions) &&
               std::ranges::all_of(items(partitions), is_committed);
      }
      if (assign_tries_ < longest_wait_for_the_first) return false;
      client_.say(LogLevel::warn,
                  "whoever has partition 0 has not said where the group begins: the others begin at the beginning");
    }
  }
  return begin_at_the_beginning(partitions);
}

bool Member::ask_committed(rd_kafka_topic_partition_list_t& partitions) {
  const auto error = rd_kafka_committed(client_.get(), &partitions, static_cast<int>(answer_deadline.count()));
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return failed(error, "committed offsets");
  for (const rd_kafka_topic_partition_t& partition : items(partitions)) {
    if (partition.err != RD_KAFKA_RESP_ERR_NO_ERROR) return failed(partition.err, "a committed offset");
  }
  return true;
}

Partitions Member::all_partitions() {
  const auto numbers = client_.partitions(options_.topic, answer_deadline);
  Partitions all(rd_kafka_topic_partition_list_new(static_cast<int>(numbers.size())));
  for (const std::int32_t number : numbers) {
    rd_kafka_topic_partition_list_add(all.get(), options_.topic.c_str(), number);
  }
  return all;
}

// A partition whose leader does not tell begins where librdkafka finds its beginning, and keeps no other from being read; a
// keeper wants a number.
bool Member::begin_at_the_beginning(rd_kafka_topic_partition_list_t& partitions) {
  bool told = true;
  for (rd_kafka_topic_partition_t& partition : items(partitions)) {
    std::int64_t end = 0;
    if (is_committed(partition)) continue;
    told = told && ask_range(partition.partition, partition.offset, end);
    if (!told && keeper_ != nullptr) return false;
    if (!told) partition.offset = RD_KAFKA_OFFSET_BEGINNING;
  }
  return true;
}

// The group begins. The ends are committed at once: else a member that dies before its first message would begin at a later
// end, and what was sent between would be lost. Those of all partitions, by the one who has the first: else whoever comes
// second would take his for one that was added.
bool Member::begin_at_the_ends(rd_kafka_topic_partition_list_t& all) {
  for (rd_kafka_topic_partition_t& partition : items(all)) {
    std::int64_t begin = 0;
    if (!ask_range(partition.partition, begin, partition.offset)) return false;
  }
  // Somebody who did not wait for us may have begun meanwhile.
  const Partitions now(rd_kafka_topic_partition_list_copy(&all));
  if (!ask_committed(*now)) return false;
  for (int at = 0; at < all.cnt; ++at) {
    if (is_committed(now->elems[at])) all.elems[at].offset = now->elems[at].offset;
  }
  const auto end = Clock::now() + answer_deadline;
  if (answered(end)) ask_to_commit(all);
  if (!answered(end)) {
    assign_trouble_ = not_answered();
    return false;
  }
  assign_trouble_ = std::exchange(commit_trouble_, std::nullopt);
  return !assign_trouble_;
}

bool Member::ask_range(std::int32_t number, std::int64_t& begin, std::int64_t& end) {
  const auto error = rd_kafka_query_watermark_offsets(client_.get(), options_.topic.c_str(), number, &begin, &end,
                                                      static_cast<int>(answer_deadline.count()));
  return error == RD_KAFKA_RESP_ERR_NO_ERROR || failed(error, fmt::format("the offsets of partition {}", number));
}

}  // namespace onceward::kafka
