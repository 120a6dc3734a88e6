// Any text is a broker's options within their limits, or is refused with one line. Each of the readers sees it.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "onceward/adapter/kafka.h"
#include "onceward/adapter/rabbitmq.h"
#include "tests/fuzz/require.h"

namespace once = onceward;

namespace {

template <class Read>
void expect(once::FaultCode refused, Read&& read) {
  try {
    read();
  } catch (const once::Fault& fault) {
    const std::string_view what = fault.what();
    ONCEWARD_REQUIRE(fault.fault() == refused);
    ONCEWARD_REQUIRE(what.starts_with("rabbitmq: ") || what.starts_with("kafka: "));
    ONCEWARD_REQUIRE(what.find('\n') == what.npos);
  }
}

bool is_text(const std::string& text, std::size_t most) {
  return text.size() <= most && text.find('\0') == std::string::npos;
}

void require(const once::RabbitmqConnection& connection) {
  ONCEWARD_REQUIRE(!connection.hosts.empty());
  for (const auto& host : connection.hosts) ONCEWARD_REQUIRE(!host.name.empty() && host.port != 0);
  ONCEWARD_REQUIRE(is_text(connection.user, 255) && is_text(connection.password, 255) &&
                   is_text(connection.vhost, 255));
  ONCEWARD_REQUIRE(connection.heartbeat.count() >= 1 && connection.connect_deadline.count() >= 100);
  ONCEWARD_REQUIRE(connection.certificate_file.empty() == connection.key_file.empty());
}

void require(const once::KafkaConnection& connection) {
  ONCEWARD_REQUIRE(!connection.brokers.empty() && connection.brokers.find('\0') == std::string::npos);
  for (const auto& [name, value] : connection.properties) {
    // What the library would read only up to there might be something else.
    ONCEWARD_REQUIRE(name.find('\0') == std::string::npos && value.find('\0') == std::string::npos);
    ONCEWARD_REQUIRE(name != "enable.auto.commit" && name != "acks" && name != "plugin.library.paths");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  expect(once::FaultCode::source_refused, [&] {
    const once::RabbitmqSourceOptions options = once::read_rabbitmq_source_url(text);
    require(options.connection);
    ONCEWARD_REQUIRE(!options.queue.empty() && is_text(options.queue, 255) && options.prefetch > 0);
  });
  expect(once::FaultCode::publisher_refused, [&] {
    const once::RabbitmqTarget target = once::read_rabbitmq_target_url(text);
    require(target.options.connection);
    ONCEWARD_REQUIRE(target.options.window > 0 && target.options.confirm_deadline.count() >= 100);
    ONCEWARD_REQUIRE(is_text(target.exchange, 255) && is_text(target.routing_key, 255));
  });
  expect(once::FaultCode::source_refused, [&] {
    const once::KafkaSourceOptions options = once::read_kafka_source_url(text);
    require(options.connection);
    ONCEWARD_REQUIRE(!options.topic.empty() && is_text(options.topic, 249));
    ONCEWARD_REQUIRE(!options.group.empty() && is_text(options.group, 255) && !options.id_header.empty());
    ONCEWARD_REQUIRE(options.queued_bytes >= once::KafkaSourceOptions::least_queued_bytes);
  });
  expect(once::FaultCode::publisher_refused, [&] {
    const once::KafkaTarget target = once::read_kafka_target_url(text);
    require(target.options.connection);
    ONCEWARD_REQUIRE(!target.topic.empty() && target.options.window > 0);
  });
  return 0;
}
