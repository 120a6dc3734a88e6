// A member of a consumer group: joins it, fetches, hands partitions over when they are taken away, commits. Belongs to one
// thread. A rebalance begins in tend() and may stay open over several calls: librdkafka waits until it is told to assign or
// unassign.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "adapters/kafka/assignment.h"
#include "adapters/kafka/client.h"

namespace onceward::kafka {

inline constexpr std::chrono::milliseconds join_deadline{10'000};  // a group's first answer; it goes on without

class Member {
 public:
  // Reaches the brokers and joins. Throws as Source::receive(). The bell, the assignment and the keeper (or null) outlive it.
  // Where the group has `begun` for us before, no partition begins at its end.
  Member(const KafkaSourceOptions& options, Assignment& assignment, StreamKeeper* keeper, const Bell& bell, Log& log,
         bool begun = false);
  // Commits what is due and leaves, in bounded time.
  ~Member();
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;

  // Serves what has come except messages, and takes a step in what is open: never waits longer than one answer of a broker
  // takes. Throws as Source::receive().
  void tend();
  // The next message of a partition that is ours and not being taken away, at once; null if there is none.
  Message next();

  // Commits everything that is due and waits for the answer; why not all of it is committed. What has failed stays due and
  // is tried again by tend().
  std::optional<Trouble> commit(std::chrono::milliseconds wait);
  // Throws what keeps messages from coming, for as long as it does: librdkafka says it once.
  void complain() const;

  // Messages whose commit was confirmed since the last call.
  std::uint64_t take_settled() { return std::exchange(settled_, 0); }

  // The keeper says that a partition's stream is somebody else's. If the group does not say so too in a while, it is taken
  // over again, and begins where the keeper then has it. Until then it hands out nothing.
  void doubt(std::int32_t partition);

  bool joined() const { return joined_; }
  // A new one is needed: it ended for good, or has complained for so long that only another can tell whether that still holds.
  bool over() const;
  const Client& client() const { return client_; }
  // When tend() has something to do although no queue rings.
  std::chrono::steady_clock::time_point due_at() const;

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds answer_deadline{2'000};  // of one question about offsets
  static constexpr std::chrono::milliseconds try_again_after{200};
  static constexpr int patient_tries = 3;
  struct Rebalance {
    bool assigning;
    Partitions partitions;
    Clock::time_point deadline;
  };

  bool misses_topic() const { return topic_gone_ || client_.misses_topic(); }
  void reach_again();
  void listen();
  bool hears_of_a_rebalance();
  void hear(rd_kafka_resp_err_t event, const rd_kafka_topic_partition_list_t* partitions);
  void hear(const rd_kafka_message_t& error);
  void be_hindered(Trouble trouble);
  void go_on();
  void note_progress(const Rebalance& rebalance);
  bool failed(rd_kafka_resp_err_t error, std::string_view what);
  static Trouble not_answered() { return {Trouble::Kind::unreachable, "cannot be reached: a commit is not answered"}; }
  bool assign(Rebalance& rebalance);
  bool set_positions(rd_kafka_topic_partition_list_t& partitions, bool begun);
  bool ask_committed(rd_kafka_topic_partition_list_t& partitions);
  bool ask_range(std::int32_t number, std::int64_t& begin, std::int64_t& end);
  Partitions all_partitions();
  bool begin_at_the_beginning(rd_kafka_topic_partition_list_t& partitions);
  bool begin_at_the_ends(rd_kafka_topic_partition_list_t& all);
  using StreamsOf = std::map<std::int32_t, std::shared_ptr<const Stream>>;
  bool take_over(rd_kafka_topic_partition_list_t& partitions, StreamsOf& streams, bool begun);
  std::string stream_of(std::int32_t partition) const;
  void take_over_again();
  bool may_let_go(const Rebalance& rebalance);
  void let_go(const rd_kafka_topic_partition_list_t& partitions, bool lost);
  bool is_cooperative() const;
  void set_assignment(const rd_kafka_topic_partition_list_t& partitions, bool assigning);
  void forward(std::int32_t partition);
  void unforward(std::int32_t partition);
  void call_back_astray();
  void reset_out_of_range();
  void reset(std::int32_t number);
  void move_to(std::int32_t number, std::int64_t offset);
  void fetch_again(std::int32_t number);
  Partitions positions(const std::set<std::int32_t>& numbers);
  Partitions commit_list();
  void ask_to_commit(const rd_kafka_topic_partition_list_t& offsets);
  bool answered(Clock::time_point end);
  void note_committed(rd_kafka_event_t& event);
  bool is_member() const;
  void unassign_all();
  void leave();
  void close();

  const KafkaSourceOptions& options_;
  Assignment& assignment_;
  StreamKeeper* const keeper_;
  const bool begun_;
  Client client_;

  // Of the one thread.
  Queue consumer_, messages_, commits_;
  std::map<std::int32_t, Queue> forwarded_;
  std::set<std::int32_t> astray_;  // came where no message is expected: nothing of them is handed out
  std::optional<Rebalance> rebalance_;
  std::map<std::int32_t, std::uint64_t> asked_;  // generations of the partitions in the commit that is on its way
  bool asking_ = false;
  std::optional<Trouble> commit_trouble_;
  Clock::time_point try_again_at_{};
  std::uint64_t settled_ = 0;
  std::set<std::int32_t> out_of_range_;
  std::set<std::int32_t> doubted_;
  Clock::time_point take_over_at_{};  // those
  std::optional<Trouble> hindered_;   // until something shows that it is over
  Clock::time_point hindered_at_{};
  std::optional<Clock::time_point> waiting_since_;  // for an assignment; an empty one is one
  std::string group_says_;                          // meanwhile
  std::optional<Trouble> assign_trouble_;           // why the last try has failed
  int assign_tries_ = 0;
  std::optional<std::string> broken_;
  bool topic_gone_ = false;
  bool joined_ = false;
  bool closing_ = false;
};

}  // namespace onceward::kafka
