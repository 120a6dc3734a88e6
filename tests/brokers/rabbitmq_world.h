// A queue on the shared RabbitMQ, a proxy before it, and the lines that are logged.
#pragma once

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "tests/faults/proxy.h"
#include "tests/fixtures/publishing.h"
#include "tests/fixtures/rabbitmq.h"
#include "tests/fixtures/waiting.h"

namespace onceward::brokers {

using namespace fixtures;  // NOLINT: the tests' vocabulary
using namespace std::chrono_literals;
using faults::Proxy;
using faults::Rule;
using testing::HasSubstr;

using Deliveries = std::vector<Delivery>;
using Receipts = std::vector<Receipt>;
using Kind = Receipt::Kind;

// One line each: the message, and the values of its fields.
class Lines final : public Log {
 public:
  bool wants(LogLevel) const noexcept override { return true; }
  void write(LogLevel, std::string_view message, std::span<const LogField> fields) noexcept override {
    std::string line(message);
    for (const LogField& field : fields) {
      std::visit([&](const auto& value) { line += fmt::format(" {}={}", field.name, value); }, field.value);
    }
    const std::lock_guard lock(mutex_);
    lines_.push_back(std::move(line));
  }
  std::vector<std::string> all() const {
    const std::lock_guard lock(mutex_);
    return lines_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

inline RabbitmqConnection through(const Proxy& proxy, RabbitmqConnection connection = rabbitmq_server()) {
  connection.hosts.front() = {"127.0.0.1", static_cast<std::uint16_t>(proxy.port())};
  return connection;
}

inline std::vector<RawMessage> messages(int count, const std::string& body = "{}") {
  std::vector<RawMessage> made;
  for (int i = 0; i < count; ++i) made.push_back({.body = body, .message_id = std::to_string(i), .app_id = "shop"});
  return made;
}

inline Deliveries receive(Source& source, std::size_t count) {
  Deliveries deliveries;
  await(fmt::format("{} messages have come", count), [&] {
    if (deliveries.size() < count) source.receive(deliveries, count - deliveries.size(), 1s);
    return deliveries.size() >= count;
  });
  return deliveries;
}
inline std::set<std::string> ids_of(const Deliveries& deliveries) {
  std::set<std::string> ids;
  for (const Delivery& delivery : deliveries) ids.emplace(delivery.envelope.message_id().text());
  return ids;
}
inline void settle(Source& source, const Deliveries& deliveries, Settle how = Settle::accept) {
  std::vector<Settlement> settlements;
  for (const Delivery& delivery : deliveries) settlements.push_back({delivery.tag, how});
  source.settle(settlements);
}

inline Publication publication(std::uint64_t tag, std::string_view exchange, std::string_view key,
                               const std::string& payload = "{}") {
  EnvelopeFields fields;
  const std::string id = std::to_string(tag);
  fields.message_id = MessageId(id);
  fields.producer = Producer("shop");
  fields.event_type = EventType("paid");  // or its payload would be sent inside an envelope
  fields.payload = payload;
  return {tag, exchange, key, Envelope::copy_of(fields)};
}
inline Receipts collect(Publisher& publisher) {
  Receipts receipts;
  await("the receipts have come", [&] {
    publisher.collect(receipts, 1s);
    return publisher.outstanding() == 0;
  });
  std::ranges::sort(receipts, {}, &Receipt::tag);
  return receipts;
}

// What is thrown.
struct Thrown {
  std::optional<FaultCode> code;
  std::string what;
};
template <class Work>
Thrown thrown_by(Work&& work) {
  try {
    work();
  } catch (const Fault& fault) {
    EXPECT_THAT(fault.what(), testing::Not(HasSubstr("\n")));
    return {fault.fault(), fault.what()};
  }
  return {};
}

class RabbitmqWorld : public testing::Test {
 protected:
  std::unique_ptr<Source> open(const RabbitmqConnection& connection, const std::string& queue = {}) {
    RabbitmqSourceOptions options;
    options.connection = connection;
    options.queue = queue.empty() ? queue_.name() : queue;
    return open_rabbitmq(options, log_);
  }
  void expect_one_line(const std::string& part) const {
    EXPECT_THAT(log_.all(), testing::ElementsAre(HasSubstr(part)));
  }

  Lines log_;
  RabbitmqQueue queue_;
  Proxy proxy_{rabbitmq_server().hosts.front().port};
};

}  // namespace onceward::brokers
