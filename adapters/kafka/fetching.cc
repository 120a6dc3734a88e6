// What a member has assigned is fetched, by a queue for the messages of all its partitions.
#include <fmt/format.h>

#include "adapters/kafka/member.h"

namespace onceward::kafka {

bool Member::is_cooperative() const {
  return std::string_view(rd_kafka_rebalance_protocol(client_.get())) == "COOPERATIVE";
}

void Member::set_assignment(const rd_kafka_topic_partition_list_t& partitions, bool assigning) {
  rd_kafka_t* const instance = client_.get();
  rd_kafka_resp_err_t error = RD_KAFKA_RESP_ERR_NO_ERROR;
  if (is_cooperative()) {
    const Error failed(assigning ? rd_kafka_incremental_assign(instance, &partitions)
                                 : rd_kafka_incremental_unassign(instance, &partitions));
    if (failed) error = rd_kafka_error_code(failed.get());
  } else {
    error = rd_kafka_assign(instance, assigning ? &partitions : nullptr);
  }
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) {
    // What is fetched and what the books have are two things from here on.
    broken_ = fmt::format("the assignment was not taken: {}", rd_kafka_err2str(error));
    if (closing_) client_.say(LogLevel::debug, *broken_);
  }
  for (int at = 0; !assigning && at < partitions.cnt; ++at) unforward(partitions.elems[at].partition);
}

// Messages come by a queue of their own, so that tending takes none.
void Member::forward(std::int32_t partition) {
  Queue queue(rd_kafka_queue_get_partition(client_.get(), options_.topic.c_str(), partition));
  if (!queue) return;
  rd_kafka_queue_forward(queue.get(), messages_.get());
  forwarded_[partition] = std::move(queue);
}

// A fetcher that stops takes the forwarding of its queue with it, some time after it was told to: what is fetched next comes
// with what librdkafka has to say. It is dropped and fetched again, since whoever takes it from there holds nobody back. A seek
// is no assignment, so it answers no rebalance, and nothing that was fetched before it is delivered.
void Member::call_back_astray() {
  if (astray_.empty()) return;
  for (const std::int32_t number : astray_) forward(number);
  const Partitions list = positions(astray_);
  const Error not_asked(rd_kafka_seek_partitions(client_.get(), list.get(), static_cast<int>(answer_deadline.count())));
  for (int at = 0; at < list->cnt; ++at) {
    const rd_kafka_topic_partition_t& one = list->elems[at];
    if (not_asked || one.err != RD_KAFKA_RESP_ERR_NO_ERROR) continue;
    astray_.erase(one.partition);
    client_.say(LogLevel::info, fmt::format("partition {} is fetched again from {}", one.partition, one.offset));
  }
}

// Back to where librdkafka has it. In a queue that leads nowhere a late error would hold on to its partition, and the
// instance could never be destroyed.
void Member::unforward(std::int32_t partition) {
  const auto found = forwarded_.find(partition);
  if (found == forwarded_.end()) return;
  rd_kafka_queue_forward(found->second.get(), consumer_.get());
  forwarded_.erase(found);
}

Message Member::next() {
  for (;;) {
    Message message(rd_kafka_consume_queue(messages_.get(), 0));
    if (!message) return nullptr;
    if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
      hear(*message);
      continue;
    }
    const Partition* const partition = assignment_.find(message->partition);
    if (partition == nullptr || partition->leaving || !partition->expects(message->offset)) continue;
    if (astray_.contains(message->partition)) continue;
    hindered_.reset();
    return message;
  }
}

// From where the books have it.
void Member::fetch_again(std::int32_t number) {
  // A partition that has no place to fetch from cannot be sought, only assigned again; where rebalances are eager, all of them.
  std::set<std::int32_t> again{number};
  for (const auto& [each, books] : assignment_.partitions()) {
    if (!is_cooperative()) again.insert(each);
  }
  const Partitions list = positions(again);
  set_assignment(*list, false);
  // A seek waits until the fetchers have stopped, and is refused then: else each would take the new forwarding along.
  const Partitions stopped(rd_kafka_topic_partition_list_copy(list.get()));
  Error(rd_kafka_seek_partitions(client_.get(), stopped.get(), static_cast<int>(answer_deadline.count())));
  for (const std::int32_t each : again) {
    forward(each);
    astray_.erase(each);
  }
  set_assignment(*list, true);
}

Partitions Member::positions(const std::set<std::int32_t>& numbers) {
  Partitions list(rd_kafka_topic_partition_list_new(static_cast<int>(numbers.size())));
  for (const std::int32_t number : numbers) {
    rd_kafka_topic_partition_list_add(list.get(), options_.topic.c_str(), number)->offset =
        assignment_.find(number)->position();
  }
  return list;
}

}  // namespace onceward::kafka
