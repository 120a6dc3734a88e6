// Publishes records: idempotent, acks=all, a receipt for each delivery report. Everything but wake() belongs to one thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "adapters/kafka/client.h"
#include "onceward/adapter/kafka.h"
#include "src/common/owner_thread.h"
#include "src/source/held.h"

namespace onceward::kafka {

class KafkaPublisher final : public Publisher {
 public:
  KafkaPublisher(const KafkaPublisherOptions& options, Log& log);
  ~KafkaPublisher() override;

  std::size_t room() const override;
  std::size_t outstanding() const override { return sent_.size() + receipts_.size(); }
  void publish(std::span<const Publication> publications) override;
  void collect(std::vector<Receipt>& into, std::chrono::milliseconds wait) override;
  void wake() noexcept override { bell_.wake(); }
  PublisherCounters counters() const override { return counters_; }
  std::string describe() const override;

  // Throws Fault(publisher_refused) where there is no such topic. Before the first publish() only.
  void require_topic(const std::string& topic);

  // Null after one that ended for good, until the next publish().
  rd_kafka_t* instance() const { return client_ ? client_->get() : nullptr; }

 private:
  void connect();
  void serve();
  void send(const Publication& publication);
  void report(const rd_kafka_message_t& message);
  void receive(Receipt receipt);

  const KafkaPublisherOptions options_;
  Log& log_;
  Bell bell_;
  OwnerThread owner_;

  // Of the one thread.
  Held<std::uint64_t> sent_;  // the caller's tags, by our own numbers
  std::uint64_t alone_ = 0;   // the number of the only one that is under way
  // So many more go alone, each answered before the next: a broker refused a batch that held others.
  std::size_t one_by_one_ = 0;
  std::vector<Receipt> receipts_;
  std::string denied_;  // why the last instance ended, where the next would end so too
  PublisherCounters counters_;
  std::unique_ptr<Client> client_;
};

}  // namespace onceward::kafka
