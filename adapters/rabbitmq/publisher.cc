// Envelopes to exchanges. Everything but wake() belongs to one thread.
#include <fmt/format.h>

#include <cassert>

#include "adapters/rabbitmq/options.h"
#include "adapters/rabbitmq/outgoing.h"
#include "adapters/rabbitmq/properties.h"
#include "src/common/owner_thread.h"

namespace onceward {
namespace rabbitmq {
namespace {

class RabbitmqPublisher final : public Publisher {
 public:
  RabbitmqPublisher(const RabbitmqPublisherOptions& options, Log& log)
      : place_(describe(options.connection)), outgoing_(options, "onceward publisher", log), writer_(options.format) {
    outgoing_.require_connection();
  }

  std::size_t room() const override { return outgoing_.room(); }
  std::size_t outstanding() const override { return outgoing_.outstanding(); }

  void publish(std::span<const Publication> publications) override {
    const OwnerThread::Turn turn(owner_);
    assert(publications.size() <= room());
    outgoing_.require_connection();
    outgoing_.begin();
    for (const Publication& publication : publications) put(publication);
    outgoing_.end();
  }

  void collect(std::vector<Receipt>& into, std::chrono::milliseconds wait) override {
    const OwnerThread::Turn turn(owner_);
    outgoing_.collect(into, wait);
  }

  void wake() noexcept override { outgoing_.wake(); }
  PublisherCounters counters() const override { return outgoing_.counters(); }
  std::string describe() const override { return place_; }

 private:
  static std::string describe(const RabbitmqConnection& connection) { return rabbitmq::describe(connection); }

  void put(const Publication& publication) {
    const auto written = writer_.write(publication.envelope);
    if (const auto* const why = std::get_if<std::string>(&written)) return outgoing_.refuse(publication.tag, *why);
    const auto& message = std::get<MessageWriter::Message>(written);
    outgoing_.put({publication.tag, publication.destination, publication.key, message.properties, message.body});
  }

  const std::string place_;
  const OwnerThread owner_;
  Outgoing outgoing_;
  MessageWriter writer_;
};

}  // namespace
}  // namespace rabbitmq

std::unique_ptr<Publisher> open_rabbitmq_publisher(const RabbitmqPublisherOptions& options, Log& log) {
  return std::make_unique<rabbitmq::RabbitmqPublisher>(options, log);
}

}  // namespace onceward
