// A Kafka of a test's own, to be stopped and killed; clients may be led to it through a proxy.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/faults/proxy.h"
#include "tests/fixtures/process.h"

namespace onceward::brokers {

class KafkaServer {
 public:
  enum class Through : std::uint8_t { nothing, proxy };
  // The settings are lines of its server.properties.
  explicit KafkaServer(Through through = Through::nothing, int nodes = 1, std::vector<std::string> settings = {});
  ~KafkaServer();
  KafkaServer(const KafkaServer&) = delete;
  KafkaServer& operator=(const KafkaServer&) = delete;

  // Where clients connect to first; the broker sends them to the same place.
  std::string brokers() const;
  // kafka://user:password@host:port of the listener with TLS and log-in, whose user is onceward.
  std::string sasl_url() const;
  std::string directory() const { return directory_.path() + "/kafka"; }
  faults::Proxy& proxy() { return *proxy_; }
  // In the place of the old one: without rules, with nothing counted, and everybody has to connect anew.
  void renew_proxy();

  void start();
  void stop();
  void kill();
  void kill(int node);
  pid_t pid() const;

 private:
  std::vector<std::string> command(const std::string& verb) const;

  fixtures::TemporaryDirectory directory_;
  const int nodes_, port_;
  const std::vector<std::string> settings_;
  std::unique_ptr<faults::Proxy> proxy_;
};

}  // namespace onceward::brokers
