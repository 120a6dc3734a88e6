#include "adapters/kafka/member.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

namespace onceward::kafka {
namespace {

using std::chrono::milliseconds;
using namespace std::chrono_literals;

constexpr milliseconds try_again_after = 200ms;
constexpr milliseconds close_deadline = 2s;

Properties properties_of(const KafkaSourceOptions& options) {
  Properties properties{
      {"group.id", options.group},
      {"enable.auto.commit", "false"},
      {"enable.auto.offset.store", "false"},
      {"auto.offset.reset", "error"},
      {"enable.partition.eof", "false"},
      {"partition.assignment.strategy", options.cooperative ? "cooperative-sticky" : "range,roundrobin"},
      {"queued.max.messages.kbytes", std::to_string(options.queued_bytes / 1024)},
  };
  // Bytes decide, unless somebody has said otherwise.
  const char* const count = "queued.min.messages";
  if (!options.connection.properties.contains(count)) properties.emplace_back(count, "1000000");
  return properties;
}

bool is_cooperative(rd_kafka_t* instance) {
  return std::string_view(rd_kafka_rebalance_protocol(instance)) == "COOPERATIVE";
}

}  // namespace

Member::Member(const KafkaSourceOptions& options, Assignment& assignment, StreamKeeper* keeper, const Bell& bell,
               Log& log)
    : options_(options),
      assignment_(assignment),
      keeper_(keeper),
      client_(RD_KAFKA_CONSUMER, options.connection, properties_of(options), source_faults,
              {.rebalance = [this](auto event, const auto* partitions) { hear(event, partitions); }}, bell, log) {
  client_.reach(options.topic, reach_deadline, FaultCode::source_refused);
  consumer_.reset(rd_kafka_queue_get_consumer(client_.get()));
  messages_.reset(rd_kafka_queue_new(client_.get()));
  commits_.reset(rd_kafka_queue_new(client_.get()));
  bell.listen(consumer_.get());
  bell.listen(messages_.get());
  const Partitions topics(rd_kafka_topic_partition_list_new(1));
  rd_kafka_topic_partition_list_add(topics.get(), options.topic.c_str(), RD_KAFKA_PARTITION_UA);
  const auto error = rd_kafka_subscribe(client_.get(), topics.get());
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) throw client_.refused(rd_kafka_err2str(error));
}

Member::~Member() { close(); }

void Member::tend() {
  client_.serve();
  const auto poll = [&] { return rd_kafka_consumer_poll(client_.get(), 0); };
  for (Message message(poll()); message; message.reset(poll())) {
    if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
      hear(*message);
    } else {
      early_.push_back(std::move(message));
    }
  }
  if (client_.fatal()) throw client_.unavailable(*client_.fatal());
  go_on();
  if (!out_of_range_.empty()) reset_out_of_range();
  if (!doubted_.empty() && Clock::now() >= take_over_at_) take_over_again();
  if (refused_) throw client_.refused(*std::exchange(refused_, std::nullopt));
  if (client_.down() || client_.misses_topic() || topic_gone_) {
    client_.reach(options_.topic, again_deadline, FaultCode::source_unavailable);
    topic_gone_ = false;
  }
}

std::chrono::steady_clock::time_point Member::due_at() const {
  auto at = Clock::time_point::max();
  if (rebalance_) at = rebalance_->assigning ? try_again_at_ : rebalance_->deadline;
  if (commit_trouble_ || asking_) at = std::min(at, try_again_at_);
  if (!doubted_.empty()) at = std::min(at, take_over_at_);
  return at;
}

// --- what librdkafka says

void Member::hear(rd_kafka_resp_err_t event, const rd_kafka_topic_partition_list_t* partitions) {
  if (event != RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS && event != RD_KAFKA_RESP_ERR__REVOKE_PARTITIONS) {
    client_.say(LogLevel::warn, fmt::format("the rebalance failed: {}", rd_kafka_err2str(event)));
    rd_kafka_assign(client_.get(), nullptr);
    assignment_.clear();
    return;
  }
  rebalance_ =
      Rebalance{event == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS,
                Partitions(rd_kafka_topic_partition_list_copy(partitions)), Clock::now() + options_.revoke_deadline};
  try_again_at_ = {};
  if (closing_) {
    if (!rebalance_->assigning) let_go(*partitions);
    set_assignment(*partitions, rebalance_->assigning);
    rebalance_.reset();
    return;
  }
  if (rebalance_->assigning) return;
  for (int at = 0; at < partitions->cnt; ++at) {
    if (Partition* const partition = assignment_.find(partitions->elems[at].partition)) partition->leaving = true;
  }
}

void Member::hear(const rd_kafka_message_t& error) {
  switch (error.err) {
    case RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET:
    case RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE:
      out_of_range_.insert(error.partition);
      return;
    case RD_KAFKA_RESP_ERR__MAX_POLL_EXCEEDED:
      client_.say(
          LogLevel::warn,
          "the source was not tended for longer than max.poll.interval.ms: the group goes on without it, what it "
          "holds comes again, and it joins anew");
      return;
    default:
      break;
  }
  const Trouble trouble = client_.trouble(error.err, rd_kafka_message_errstr(&error));
  if (trouble.kind == Trouble::Kind::no_topic) {
    topic_gone_ = true;
  } else if (trouble.kind == Trouble::Kind::permission) {
    refused_ = trouble.text;
  } else {
    client_.say(LogLevel::warn, trouble.text);
  }
}

// --- rebalances

void Member::go_on() {
  if (asking_ || (commit_trouble_ && Clock::now() >= try_again_at_ && !client_.down())) commit(0ms);
  if (!rebalance_) return;
  if (rebalance_->assigning) {
    if (Clock::now() < try_again_at_) return;
    try_again_at_ = Clock::now() + try_again_after;
    if (!assign(*rebalance_)) return;
    joined_ = true;
  } else {
    if (!may_let_go(*rebalance_)) return;
    let_go(*rebalance_->partitions);
    set_assignment(*rebalance_->partitions, false);
  }
  rebalance_.reset();
}

bool Member::assign(Rebalance& rebalance) {
  rd_kafka_topic_partition_list_t& partitions = *rebalance.partitions;
  StreamsOf streams;
  if (!(keeper_ != nullptr ? take_over(partitions, streams) : set_positions(partitions))) return false;
  for (int at = 0; at < partitions.cnt; ++at) {
    const std::int32_t number = partitions.elems[at].partition;
    assignment_.add(number, std::max<std::int64_t>(partitions.elems[at].offset, 0)).stream = streams[number];
    forward(number);
  }
  set_assignment(partitions, true);
  return true;
}

// Where each begins: at what was committed, else where the options say.
bool Member::set_positions(rd_kafka_topic_partition_list_t& partitions) {
  if (partitions.cnt == 0) return true;
  const auto error = rd_kafka_committed(client_.get(), &partitions, static_cast<int>(answer_deadline.count()));
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) {
    client_.say(LogLevel::debug, fmt::format("committed offsets: {}", rd_kafka_err2str(error)));
    return false;
  }
  for (int at = 0; at < partitions.cnt; ++at) {
    rd_kafka_topic_partition_t& partition = partitions.elems[at];
    if (partition.err != RD_KAFKA_RESP_ERR_NO_ERROR) return false;
    if (partition.offset >= 0) continue;
    partition.offset = RD_KAFKA_OFFSET_BEGINNING;
    if (options_.start == KafkaSourceOptions::Start::latest && !begin_at_the_end(partition)) return false;
  }
  return true;
}

// The end is committed at once: else a member that dies before its first message would begin at a later end, and what was
// sent between would be lost.
bool Member::begin_at_the_end(rd_kafka_topic_partition_t& partition) {
  std::int64_t low = 0, high = 0;
  const auto error = rd_kafka_query_watermark_offsets(client_.get(), partition.topic, partition.partition, &low, &high,
                                                      static_cast<int>(answer_deadline.count()));
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return false;
  partition.offset = high;
  const Partitions offsets(rd_kafka_topic_partition_list_new(1));
  rd_kafka_topic_partition_list_add(offsets.get(), partition.topic, partition.partition)->offset = high;
  const auto end = Clock::now() + answer_deadline;
  if (!answered(end)) return false;
  ask_to_commit(*offsets);
  return answered(end) && !std::exchange(commit_trouble_, std::nullopt);
}

// What was received of them is settled, or the deadline has passed, or they are lost already.
bool Member::may_let_go(const Rebalance& rebalance) {
  if (rd_kafka_assignment_lost(client_.get()) != 0 || Clock::now() >= rebalance.deadline) return true;
  for (int at = 0; at < rebalance.partitions->cnt; ++at) {
    Partition* const partition = assignment_.find(rebalance.partitions->elems[at].partition);
    if (partition != nullptr && partition->held() > 0) return false;
  }
  return true;
}

void Member::let_go(const rd_kafka_topic_partition_list_t& partitions) {
  // Somebody else may have moved on from what we would commit.
  const bool lost = rd_kafka_assignment_lost(client_.get()) != 0;
  if (!lost && !client_.down()) commit(answer_deadline);
  std::size_t abandoned = 0;
  for (int at = 0; at < partitions.cnt; ++at) {
    const std::int32_t number = partitions.elems[at].partition;
    Partition* const partition = assignment_.find(number);
    if (partition == nullptr) continue;
    abandoned += partition->held();
    assignment_.remove(number);
    out_of_range_.erase(number);
    doubted_.erase(number);
    std::erase_if(early_, [&](const Message& message) { return message->partition == number; });
  }
  if (lost || abandoned > 0) {
    client_.say(LogLevel::warn, fmt::format("{} partitions were {}; {} messages that are held come again elsewhere",
                                            partitions.cnt, lost ? "lost" : "taken away", abandoned));
  }
}

void Member::set_assignment(const rd_kafka_topic_partition_list_t& partitions, bool assigning) {
  rd_kafka_t* const instance = client_.get();
  rd_kafka_resp_err_t error = RD_KAFKA_RESP_ERR_NO_ERROR;
  if (is_cooperative(instance)) {
    const Error failed(assigning ? rd_kafka_incremental_assign(instance, &partitions)
                                 : rd_kafka_incremental_unassign(instance, &partitions));
    if (failed) error = rd_kafka_error_code(failed.get());
  } else {
    error = rd_kafka_assign(instance, assigning ? &partitions : nullptr);
  }
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) {
    client_.say(LogLevel::warn, fmt::format("the assignment was not taken: {}", rd_kafka_err2str(error)));
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

// Back to where librdkafka has it. In a queue that leads nowhere a late error would hold on to its partition, and the
// instance could never be destroyed.
void Member::unforward(std::int32_t partition) {
  const auto found = forwarded_.find(partition);
  if (found == forwarded_.end()) return;
  rd_kafka_queue_forward(found->second.get(), consumer_.get());
  forwarded_.erase(found);
}

// --- messages

Message Member::next() {
  for (;;) {
    Message message;
    if (!early_.empty()) {
      message = std::move(early_.front());
      early_.pop_front();
    } else {
      message.reset(rd_kafka_consume_queue(messages_.get(), 0));
    }
    if (!message) return nullptr;
    if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
      hear(*message);
      continue;
    }
    const Partition* const partition = assignment_.find(message->partition);
    if (partition != nullptr && !partition->leaving && partition->expects(message->offset)) return message;
  }
}

// --- what comes next is no longer there

void Member::reset_out_of_range() {
  for (const std::int32_t number : std::set<std::int32_t>(out_of_range_)) {
    if (assignment_.find(number) == nullptr) {
      out_of_range_.erase(number);
    } else {
      reset(number);
    }
  }
}

void Member::reset(std::int32_t number) {
  using OutOfRange = KafkaSourceOptions::OutOfRange;
  const bool latest = options_.out_of_range == OutOfRange::latest;
  Partition& partition = *assignment_.find(number);
  // What is held of a kept stream would be fenced when that begins anew, and nobody else has it.
  if (latest && partition.stream && (partition.held() > 0 || partition.has_waiting())) return;
  if (rd_kafka_assignment_lost(client_.get()) != 0) return;
  std::int64_t low = 0, high = 0;
  const auto error = rd_kafka_query_watermark_offsets(client_.get(), options_.topic.c_str(), number, &low, &high,
                                                      static_cast<int>(answer_deadline.count()));
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) throw client_.fault(trouble_of(error, {}));
  const std::int64_t wanted = partition.position();
  // What was said of another position: it has moved since.
  const bool stale = wanted >= low && wanted <= high;
  const std::string what = fmt::format("partition {} of {}: offset {} comes next and is not there; {} to {} are",
                                       number, options_.topic, wanted, low, high);
  if (options_.out_of_range == OutOfRange::refuse && !stale) {
    throw client_.refused(fmt::format("{}; {}out_of_range=earliest or latest", what,
                                      keeper_ == nullptr ? "set the group's offset, or " : "write "));
  }
  if (!stale) {
    client_.say(LogLevel::warn, fmt::format("{}; it goes on at {}", what, latest ? high : low));
    move_to(number, latest ? high : low);
  }
  // As begin_at_the_end(); of a stream its keeper knows.
  if (const auto trouble = latest && keeper_ == nullptr ? commit(answer_deadline) : std::nullopt) {
    if (trouble->kind == Trouble::Kind::busy) return;
    throw client_.fault(*trouble);
  }
  fetch_again(number);
  out_of_range_.erase(number);
}

void Member::move_to(std::int32_t number, std::int64_t offset) {
  Partition& partition = *assignment_.find(number);
  auto stream = partition.stream;
  // Further back, it is another topic of the same name: nothing that was known holds. At an end that was chosen, the keeper
  // has to know it before the first message comes.
  const bool back = offset < partition.position();
  const bool chosen = stream && options_.out_of_range == KafkaSourceOptions::OutOfRange::latest;
  if (back || chosen) {
    if (stream) stream = std::make_shared<const Stream>(keeper_->begin(*stream, offset));
    assignment_.add(number, offset).stream = stream;
  }
  assignment_.find(number)->skip_to(offset);
}

// From where the books have it.
void Member::fetch_again(std::int32_t number) {
  std::erase_if(early_, [&](const Message& message) { return message->partition == number; });
  // A partition that has no place to fetch from cannot be sought, only assigned again; where rebalances are eager, all of them.
  std::set<std::int32_t> again{number};
  for (const auto& [each, books] : assignment_.partitions()) {
    if (!is_cooperative(client_.get())) again.insert(each);
  }
  const Partitions list = positions(again);
  set_assignment(*list, false);
  // A fetcher that stops takes the forwarding of its queue with it, some time after the call. A seek waits for that, and is
  // refused then.
  const Partitions stopped(rd_kafka_topic_partition_list_copy(list.get()));
  Error(rd_kafka_seek_partitions(client_.get(), stopped.get(), static_cast<int>(answer_deadline.count())));
  for (const std::int32_t each : again) forward(each);
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

// --- commits

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
    const Event event(rd_kafka_queue_poll(commits_.get(), static_cast<int>(std::max(left, 0ms).count())));
    if (event && rd_kafka_event_type(event.get()) == RD_KAFKA_EVENT_OFFSET_COMMIT) note_committed(*event);
    if (!event && Clock::now() >= end) break;
  }
  return !asking_;
}

std::optional<Trouble> Member::commit(milliseconds wait) {
  const auto end = Clock::now() + wait;
  if (answered(end)) {
    // What was lost is somebody else's, who may have moved on.
    const Partitions offsets = rd_kafka_assignment_lost(client_.get()) == 0 ? commit_list() : nullptr;
    if (!offsets) {
      commit_trouble_.reset();
      return std::nullopt;
    }
    ask_to_commit(*offsets);
    answered(end);
  }
  std::optional<Trouble> trouble = commit_trouble_;
  if (asking_) trouble = Trouble{Trouble::Kind::unreachable, "cannot be reached: a commit is not answered"};
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

// --- the end

void Member::close() {
  if (!consumer_) return;
  closing_ = true;
  if (!client_.down() && !client_.fatal() && rd_kafka_assignment_lost(client_.get()) == 0) commit(answer_deadline);
  if (rebalance_) {
    set_assignment(*rebalance_->partitions, rebalance_->assigning);
    rebalance_.reset();
  }
  assignment_.clear();
  // Not rd_kafka_consumer_close(): once begun it must be served to its end, however long that takes, while an instance that
  // only has no subscription any more can be destroyed at any time. It leaves the group when all partitions are gone.
  rd_kafka_unsubscribe(client_.get());
  const auto end = Clock::now() + close_deadline;
  while (!forwarded_.empty() && Clock::now() < end) {
    const Message ignored(rd_kafka_consumer_poll(client_.get(), 20));
    client_.serve();
  }
  while (!forwarded_.empty()) unforward(forwarded_.begin()->first);
  early_.clear();
  // What still lies in them holds on to partitions of the instance.
  while (Message(rd_kafka_consume_queue(messages_.get(), 0))) {
  }
  Bell::ignore(messages_.get());
  Bell::ignore(consumer_.get());
  messages_.reset();
  commits_.reset();
  consumer_.reset();
}

}  // namespace onceward::kafka
