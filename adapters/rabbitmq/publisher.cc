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
      : place_(rabbitmq::describe(options.connection)),
        outgoing_(options, "onceward publisher", log),
        writer_(options.format) {
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
  void put(const Publication& publication) {
    const auto written = writer_.write(publication.envelope);
    if (const auto* const why = std::get_if<std::string>(&written)) return outgoing_.refuse(publication.tag, *why);
    const auto& message = std::get<MessageWriter::Message>(written);
    outgoing_.put({publication.tag, publication.destination, publication.key, message.properties, message.body,
                   message.header_bytes});
  }

  const std::string place_;
  const OwnerThread owner_;
  Outgoing outgoing_;
  MessageWriter writer_;
};

void look_for(const RabbitmqTarget& target, Connection&& connection) {
  using enum RabbitmqSourceOptions::Declare;
  if (target.exchange.empty()) return connection.check_queue({target.routing_key, nothing});
  if (connection.has_exchange(target.exchange)) return;
  throw Fault(FaultCode::publisher_refused, Poisons::connection,
              fmt::format("{}: there is no exchange \"{}\" in this virtual host, or not for this user; create it, or "
                          "correct the name",
                          connection.place(), one_line(target.exchange)));
}

void require_place(const RabbitmqTarget& target) {
  const RabbitmqConnection& options = target.options.connection;
  std::size_t first = 0;
  with_any_host(options, publisher_role, first,
                [&](std::size_t host) { look_for(target, Connection(options, host, publisher_role, "onceward")); });
}

}  // namespace
}  // namespace rabbitmq

std::unique_ptr<Publisher> open_rabbitmq_publisher(const RabbitmqPublisherOptions& options, Log& log) {
  return std::make_unique<rabbitmq::RabbitmqPublisher>(options, log);
}

std::unique_ptr<Publisher> open_rabbitmq_target(const RabbitmqTarget& target, Log& log) {
  rabbitmq::check(target);
  rabbitmq::require_place(target);
  return open_rabbitmq_publisher(target.options, log);
}

}  // namespace onceward
