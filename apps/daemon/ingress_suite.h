// The front door of the running daemon, on both stores. For tests.
#pragma once

#include <gmock/gmock.h>

#include <string>

#include "apps/daemon/suite.h"
#include "onceward/adapter/postgres.h"
#include "onceward/adapter/sqlite.h"
#include "tests/fixtures/postgres_database.h"

namespace onceward::daemon {

struct Posted {
  std::string key = "k1";
  std::string body = R"({"amount":1})";
  std::string path = "/ingress/captures";
  std::string method = "POST";
  std::string content_type = "application/json";
  std::string more{};  // header lines

  std::string text() const {
    std::string head = method + " " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + more;
    if (!key.empty()) head += "Idempotency-Key: " + key + "\r\n";
    if (!content_type.empty()) head += "Content-Type: " + content_type + "\r\n";
    return head + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  }
};

inline std::string code_in(const HttpAnswer& answer) {
  EXPECT_THAT(answer.headers, testing::HasSubstr("application/problem+json"));
  const auto problem = nlohmann::json::parse(answer.body);
  EXPECT_EQ(problem.at("status"), answer.status);
  EXPECT_EQ(problem.at("type"), "urn:onceward:problem:" + problem.at("code").get<std::string>());
  return problem.at("code");
}

class RunningIngress : public Running, public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    if (on_postgres()) {
      auto& database = fixtures::shared_database();
      database.empty();
      store_ = database.url();
      open_postgres({.url = store_})->migrate();
      reader_ = fixtures::read_postgres(store_);
    } else {
      store_ = sqlite_;
      open_sqlite({.path = sqlite_.substr(7)})->migrate();
      reader_ = fixtures::read_sqlite(sqlite_.substr(7));
    }
    reader_->run("CREATE TABLE effect (message text NOT NULL, note text)");
    write(store_, effect, ingress);
  }
  bool on_postgres() const { return GetParam() == std::string("postgres"); }
  std::string table(const std::string& name) const { return (on_postgres() ? "onceward." : "onceward_") + name; }
  std::int64_t effects() { return reader_->number("SELECT count(*) FROM effect"); }
  void let_leases_pass() {
    reader_->run("UPDATE " + table("ingress") + " SET lease_until = " + (on_postgres() ? "now()" : "1") +
                 " WHERE status = 0");
  }
  void let_answers_expire() {
    reader_->run("UPDATE " + table("ingress") + " SET expires_at = " + (on_postgres() ? "now()" : "1"));
  }
  std::int64_t parked() { return reader_->number("SELECT count(*) FROM " + table("quarantine")); }
  // Behind what write() wrote: more of the consumer.
  void add_to_file(const std::string& text) const { std::ofstream(file_, std::ios::app) << text; }

  std::unique_ptr<fixtures::Process> open_door() {
    auto process = start_and_await_work();
    port_ = port_of(*process);
    return process;
  }
  HttpAnswer post(const Posted& posted = {}) const { return http_exchange(port_, posted.text()); }
  double answered(const std::string& how) const {
    const std::string text = get(port_, "/metrics").body;
    const std::string name = "onceward_ingress_requests_total{consumer=\"captures\",answer=\"" + how + "\"} ";
    const std::size_t at = text.find(name);
    return at == text.npos ? -1 : std::stod(text.substr(at + name.size()));
  }

  static constexpr const char* ingress = "[ingress]\nconsumers = [\"captures\"]\nmost_body_bytes = 1000\n";
  static constexpr const char* effect = "INSERT INTO effect (message, note) SELECT message_id, type FROM messages";

  std::string store_;
  std::unique_ptr<fixtures::Reader> reader_;
  int port_ = 0;
};

}  // namespace onceward::daemon
