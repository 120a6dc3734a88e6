#include "adapters/kafka/member.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <thread>

namespace onceward::kafka {
namespace {

using std::chrono::milliseconds;
using namespace std::chrono_literals;

constexpr milliseconds try_again_after = 200ms;
constexpr milliseconds close_deadline = 2s;
constexpr milliseconds longest_hindrance = 60s;

Properties properties_of(const KafkaSourceOptions& options) {
  Properties properties{
      {"group.id", options.group},
      {"enable.auto.commit", "false"},
      {"enable.auto.offset.store", "false"},
      {"auto.offset.reset", "error"},
      {"isolation.level", "read_committed"},
      {"enable.partition.eof", "false"},
      {"partition.assignment.strategy", options.cooperative ? "cooperative-sticky" : "range,roundrobin"},
      {"queued.max.messages.kbytes", std::to_string(options.queued_bytes / 1024)},
  };
  // Bytes decide, unless somebody has said otherwise.
  const char* const count = "queued.min.messages";
  if (!options.connection.properties.contains(count)) properties.emplace_back(count, "1000000");
  return properties;
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
  waiting_since_ = Clock::now();
}

Member::~Member() { close(); }

void Member::listen() {
  const auto poll = [&] { return rd_kafka_consumer_poll(client_.get(), 0); };
  for (Message message(poll()); message; message.reset(poll())) {
    if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
      hear(*message);
    } else if (assignment_.find(message->partition) != nullptr) {
      astray_.insert(message->partition);
    }
  }
}

// To be asked before anything is assigned that the group has not asked for: librdkafka takes it for the answer to a rebalance
// that it has told of, though nobody has listened yet.
bool Member::hears_of_a_rebalance() {
  listen();
  return rebalance_.has_value();
}

void Member::tend() {
  client_.serve();
  listen();
  if (client_.fatal()) throw client_.unavailable(*client_.fatal());
  go_on();
  if (broken_) throw client_.unavailable(*broken_);
  reach_again();
  call_back_astray();
  if (!out_of_range_.empty() && !rebalance_) reset_out_of_range();
  if (!doubted_.empty() && Clock::now() >= take_over_at_) take_over_again();
}

// A topic that was gone may be another one of the same name, which has grown past our position. What the group had committed
// went with the old one, so that only a new member begins where it must; where it is the same, what is held comes again.
void Member::reach_again() {
  if (!client_.down() && !misses_topic()) return;
  topic_gone_ = misses_topic();
  client_.reach(options_.topic, again_deadline, FaultCode::source_unavailable);
  if (topic_gone_ && !assignment_.partitions().empty()) {
    broken_ = "the topic was missing and is back: it is joined anew";
    throw client_.unavailable(*broken_);
  }
  topic_gone_ = false;
  if (waiting_since_) waiting_since_ = Clock::now();
}

void Member::complain() const {
  if (hindered_) throw client_.fault(*hindered_);
  // The others may wait for what they hold before they answer.
  const auto patience = join_deadline + options_.revoke_deadline;
  if (rebalance_ || !waiting_since_ || Clock::now() - *waiting_since_ < patience) return;
  const auto waited = std::chrono::floor<std::chrono::seconds>(Clock::now() - *waiting_since_);
  throw client_.unavailable(fmt::format("the group {} has not answered for {} s{}{}", options_.group, waited.count(),
                                        group_says_.empty() ? "" : ": ", group_says_));
}

bool Member::over() const {
  if (client_.fatal() || broken_) return true;
  if (!hindered_ || Clock::now() - hindered_at_ < longest_hindrance) return false;
  return std::ranges::none_of(assignment_.partitions(), [](const auto& each) { return each.second.held() > 0; });
}

std::chrono::steady_clock::time_point Member::due_at() const {
  auto at = Clock::time_point::max();
  if (rebalance_) at = rebalance_->assigning ? try_again_at_ : rebalance_->deadline;
  if (commit_trouble_ || asking_) at = std::min(at, try_again_at_);
  if (!doubted_.empty()) at = std::min(at, take_over_at_);
  if (!astray_.empty()) at = std::min(at, Clock::now() + try_again_after);
  return at;
}

// --- what librdkafka says

void Member::hear(rd_kafka_resp_err_t event, const rd_kafka_topic_partition_list_t* partitions) {
  if (event != RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS && event != RD_KAFKA_RESP_ERR__REVOKE_PARTITIONS) {
    broken_ = fmt::format("the rebalance failed: {}", rd_kafka_err2str(event));
    rd_kafka_assign(client_.get(), nullptr);
    return;
  }
  // It was answered without us: what it took away may be somebody else's by now.
  if (rebalance_ && !rebalance_->assigning) let_go(*rebalance_->partitions, true);
  rebalance_ =
      Rebalance{event == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS,
                Partitions(rd_kafka_topic_partition_list_copy(partitions)), Clock::now() + options_.revoke_deadline};
  try_again_at_ = {};
  assign_tries_ = 0;
  note_progress(*rebalance_);
  if (closing_) {
    if (!rebalance_->assigning) let_go(*partitions, rd_kafka_assignment_lost(client_.get()) != 0);
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
    case RD_KAFKA_RESP_ERR__FATAL:
      return client_.hear_fatal();
    default:
      break;
  }
  Trouble trouble = client_.trouble(error.err, rd_kafka_message_errstr(&error));
  if (trouble.kind == Trouble::Kind::no_topic) {
    topic_gone_ = true;
  } else if (trouble.needs_somebody()) {
    be_hindered(std::move(trouble));
  } else if (trouble.text != group_says_) {  // some come every second
    client_.say(LogLevel::warn, trouble.text);
    group_says_ = std::move(trouble.text);
  }
}

void Member::be_hindered(Trouble trouble) {
  if (!hindered_) hindered_at_ = Clock::now();
  hindered_ = std::move(trouble);
}

// That partitions are taken away may be the last that is heard of a group, and none at all what a topic without rights leaves.
void Member::note_progress(const Rebalance& rebalance) {
  const bool forbidden = hindered_ && hindered_->kind == Trouble::Kind::permission;
  if (rebalance.assigning && (rebalance.partitions->cnt > 0 || !forbidden)) hindered_.reset();
}

// --- rebalances

void Member::go_on() {
  if (asking_ || (commit_trouble_ && Clock::now() >= try_again_at_ && !client_.down())) commit(0ms);
  if (!rebalance_) return;
  if (rebalance_->assigning) {
    if (Clock::now() < try_again_at_) return;
    try_again_at_ = Clock::now() + try_again_after;
    if (!assign(*rebalance_)) {
      if (++assign_tries_ >= patient_tries && assign_trouble_) be_hindered(*assign_trouble_);
      return;
    }
    joined_ = true;
    waiting_since_.reset();
    note_progress(*rebalance_);
    group_says_.clear();
  } else {
    if (!may_let_go(*rebalance_)) return;
    let_go(*rebalance_->partitions, rd_kafka_assignment_lost(client_.get()) != 0);
    set_assignment(*rebalance_->partitions, false);
    if (assignment_.partitions().empty()) waiting_since_ = Clock::now();
  }
  rebalance_.reset();
}

bool Member::failed(rd_kafka_resp_err_t error, std::string_view what) {
  assign_trouble_ = client_.trouble(error, fmt::format("{}: {}", what, rd_kafka_err2str(error)).c_str());
  client_.say(LogLevel::debug, assign_trouble_->text);
  return false;
}

bool Member::assign(Rebalance& rebalance) {
  rd_kafka_topic_partition_list_t& partitions = *rebalance.partitions;
  StreamsOf streams;
  assign_trouble_.reset();
  if (!(keeper_ != nullptr ? take_over(partitions, streams, false) : set_positions(partitions, false))) return false;
  for (int at = 0; at < partitions.cnt; ++at) {
    const std::int32_t number = partitions.elems[at].partition;
    assignment_.add(number, partitions.elems[at].offset).stream = streams[number];
    forward(number);
  }
  set_assignment(partitions, true);
  return true;
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

// Of what is lost nothing is committed: somebody else may have moved on from it.
void Member::let_go(const rd_kafka_topic_partition_list_t& partitions, bool lost) {
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
    astray_.erase(number);
  }
  if (lost || abandoned > 0) {
    client_.say(LogLevel::warn, fmt::format("{} partitions were {}; {} messages that are held come again elsewhere",
                                            partitions.cnt, lost ? "lost" : "taken away", abandoned));
  }
}

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

// --- messages

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

// --- the end

bool Member::is_member() const {
  const std::unique_ptr<char, decltype(&std::free)> id(rd_kafka_memberid(client_.get()), std::free);
  return id && *id != '\0';
}

// Not rd_kafka_consumer_close(): once begun it must be served to its end, however long that takes, while an instance that
// only has no subscription any more can be destroyed at any time. It leaves the group when all partitions are gone; one that
// ends without is waited for by the others until its session has ended.
void Member::leave() {
  rd_kafka_unsubscribe(client_.get());
  const auto end = Clock::now() + close_deadline;
  while ((is_member() || !forwarded_.empty()) && Clock::now() < end) {
    const Message ignored(rd_kafka_consumer_poll(client_.get(), 20));
    client_.serve();
  }
  if (client_.down() || is_member()) return;
  // That it leaves is on its way only, and would be thrown away with the instance. What is asked behind it is answered after it.
  const Partitions one(rd_kafka_topic_partition_list_new(1));
  rd_kafka_topic_partition_list_add(one.get(), options_.topic.c_str(), 0);
  rd_kafka_committed(client_.get(), one.get(), static_cast<int>(close_deadline.count()));
}

// Whatever librdkafka has, and whatever it waits for.
void Member::unassign_all() {
  rd_kafka_topic_partition_list_t* found = nullptr;
  if (rd_kafka_assignment(client_.get(), &found) != RD_KAFKA_RESP_ERR_NO_ERROR) return;
  const Partitions all(found);
  set_assignment(*all, false);
}

void Member::close() {
  if (!consumer_) return;
  closing_ = true;
  if (!client_.down() && !client_.fatal() && rd_kafka_assignment_lost(client_.get()) == 0) commit(answer_deadline);
  if (rebalance_) {
    set_assignment(*rebalance_->partitions, rebalance_->assigning);
    rebalance_.reset();
  }
  assignment_.clear();
  if (client_.fatal() || broken_) unassign_all();
  if (!client_.fatal()) leave();  // the group has gone on without such a one
  while (!forwarded_.empty()) unforward(forwarded_.begin()->first);
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
