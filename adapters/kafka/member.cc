#include "adapters/kafka/member.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

namespace onceward::kafka {
namespace {

using std::chrono::milliseconds;
using namespace std::chrono_literals;

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
               Log& log, bool begun)
    : options_(options),
      assignment_(assignment),
      keeper_(keeper),
      begun_(begun),
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
  if (!(keeper_ != nullptr ? take_over(partitions, streams, begun_) : set_positions(partitions, begun_))) return false;
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
