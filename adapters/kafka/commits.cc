// What a member has settled is committed, one commit at a time.
#include <algorithm>

#include "adapters/kafka/member.h"

namespace onceward::kafka {

using std::chrono::milliseconds;

Partitions Member::commit_list() {
  Partitions offsets;
  for (const auto& [number, partition] : assignment_.partitions()) {
    const auto due = partition.due();
    if (!due) continue;
    if (!offsets) offsets.reset(rd_kafka_topic_partition_list_new(4));
    rd_kafka_topic_partition_list_add(offsets.get(), options_.topic.c_str(), number)->offset = *due;
  }
  return offsets;
}

void Member::ask_to_commit(const rd_kafka_topic_partition_list_t& offsets) {
  asked_.clear();
  commit_trouble_.reset();
  for (int at = 0; at < offsets.cnt; ++at) {
    const Partition* const partition = assignment_.find(offsets.elems[at].partition);
    if (partition != nullptr) asked_[offsets.elems[at].partition] = partition->generation();
  }
  const auto error = rd_kafka_commit_queue(client_.get(), &offsets, commits_.get(), nullptr, nullptr);
  asking_ = error == RD_KAFKA_RESP_ERR_NO_ERROR;
  if (!asking_) commit_trouble_ = trouble_of(error, {});
}

bool Member::answered(Clock::time_point end) {
  while (asking_) {
    const auto left = std::chrono::ceil<milliseconds>(end - Clock::now());
    const Event event(rd_kafka_queue_poll(commits_.get(), static_cast<int>(std::max(left, milliseconds(0)).count())));
    if (event && rd_kafka_event_type(event.get()) == RD_KAFKA_EVENT_OFFSET_COMMIT) note_committed(*event);
    if (!event && Clock::now() >= end) break;
  }
  return !asking_;
}

std::optional<Trouble> Member::commit(milliseconds wait) {
  const auto end = Clock::now() + wait;
  if (answered(end)) {
    // What was lost is somebody else's, who may have moved on; of a topic that is missed, the next of its name would get it.
    const bool ours = rd_kafka_assignment_lost(client_.get()) == 0 && !misses_topic();
    const Partitions offsets = ours ? commit_list() : nullptr;
    if (!offsets) {
      commit_trouble_.reset();
      return std::nullopt;
    }
    ask_to_commit(*offsets);
    answered(end);
  }
  std::optional<Trouble> trouble = commit_trouble_;
  if (asking_) trouble = not_answered();
  if (trouble) try_again_at_ = Clock::now() + try_again_after;
  return trouble;
}

void Member::note_committed(rd_kafka_event_t& event) {
  asking_ = false;
  if (const auto error = rd_kafka_event_error(&event)) commit_trouble_ = trouble_of(error, {});
  const rd_kafka_topic_partition_list_t* const offsets = rd_kafka_event_topic_partition_list(&event);
  for (int at = 0; offsets != nullptr && at < offsets->cnt; ++at) {
    const rd_kafka_topic_partition_t& one = offsets->elems[at];
    if (one.err != RD_KAFKA_RESP_ERR_NO_ERROR) {
      commit_trouble_ = trouble_of(one.err, {});
      continue;
    }
    const auto asked = asked_.find(one.partition);
    if (asked == asked_.end() || rd_kafka_event_error(&event) != RD_KAFKA_RESP_ERR_NO_ERROR) continue;
    if (Partition* const partition = assignment_.find(one.partition, asked->second)) {
      settled_ += partition->committed(one.offset);
    }
  }
}

}  // namespace onceward::kafka
