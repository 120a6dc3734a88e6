// Brokers as somebody at the command line meets them: their URLs, right and wrong. For tests.
#pragma once

#include <string>
#include <vector>

#include "tests/fixtures/kafka.h"
#include "tests/fixtures/process.h"
#include "tests/fixtures/rabbitmq.h"
#include "tests/fixtures/spoken.h"

namespace onceward::cli {

inline std::string rabbitmq_url(const std::string& queue, const std::string& login = "guest:guest", int port = 0) {
  const int real = fixtures::rabbitmq_server().hosts.front().port;
  return "rabbitmq://" + login + "@127.0.0.1:" + std::to_string(port ? port : real) +
         "/%2F?connection_timeout=60s&queue=" + queue;
}
inline std::string kafka_url(const std::string& topic) { return "kafka://" + fixtures::kafka_brokers() + "/" + topic; }

// user:password@host:port of the listener with TLS and log-in.
inline std::string kafka_with_login(const std::string& topic, const std::string& password) {
  const std::string url = fixtures::environment("ONCEWARD_TEST_KAFKA_SASL_SSL");
  return "kafka://onceward:" + password + url.substr(url.rfind('@')) + "/" + topic +
         "?ssl.ca.location=" + fixtures::environment("ONCEWARD_TEST_KAFKA_CA");
}

// A URL that cannot work, and what is to be said about it.
struct Hopeless {
  std::string url;
  std::string says;
};
// Every one of them holds "hunter2" where it has a secret. `rest` goes behind a URL that has options.
inline std::vector<Hopeless> hopeless_urls(const std::string& queue, const std::string& topic) {
  const std::string plain_rabbit = std::to_string(fixtures::rabbitmq_server().hosts.front().port);
  const std::string tls_rabbit = std::to_string(
      read_rabbitmq_publisher_url(fixtures::environment("ONCEWARD_TEST_RABBITMQ_TLS")).connection.hosts.front().port);
  const std::string tls_kafka = fixtures::environment("ONCEWARD_TEST_KAFKA_SASL_SSL");
  const std::string nobody = std::to_string(fixtures::free_port());
  return {
      {rabbitmq_url(queue, "guest:hunter2"), "check the name and the password"},
      {rabbitmq_url("no-such-queue"), "there is no queue \"no-such-queue\""},
      {"rabbitmq://u:hunter2@no-such-host.invalid/?queue=q", "the host's name is not known"},
      {"rabbitmq://u:hunter2@127.0.0.1:" + nobody + "/?queue=q", "nothing listens there"},
      {"rabbitmqs://u:hunter2@localhost:" + plain_rabbit + "/?queue=q", "no TLS there"},
      {"rabbitmq://u:hunter2@localhost:" + tls_rabbit + "/?queue=q", "this port is for TLS"},
      {kafka_with_login(topic, "hunter2"), "the log-in was refused"},
      {kafka_url("no-such-topic") + "?client.id=x", "there is no topic no-such-topic"},
      {"kafka://no-such-host.invalid:9092/t?client.id=x", "resolve"},
      {"kafka://127.0.0.1:" + nobody + "/t?client.id=x", "Connection refused"},
      {kafka_url(topic) + "?security.protocol=ssl", "no TLS connection"},
      {"kafka://" + tls_kafka.substr(tls_kafka.rfind('@') + 1) + "/t?client.id=x", "no TLS connection"},
  };
}

inline std::size_t lines_in(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace onceward::cli
