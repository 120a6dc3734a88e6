// `onceward run` as an operator meets it: the real binary with an application file, its log lines, its pages. For tests.
#pragma once

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "onceward/adapter/embedded.h"
#include "onceward/adapter/postgres.h"
#include "onceward/adapter/sqlite.h"
#include "tests/fixtures/message.h"
#include "tests/fixtures/postgres_database.h"
#include "tests/fixtures/process.h"
#include "tests/fixtures/reader.h"

namespace onceward::daemon {

struct HttpAnswer {
  int status = 0;
  std::string headers, body;
};
// Sends the bytes of a request that asks for the connection to be closed. Throws where nobody answers.
inline HttpAnswer http_exchange(int port, const std::string& request) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::string text;
  if (::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    [[maybe_unused]] const auto sent = ::send(socket, request.data(), request.size(), MSG_NOSIGNAL);
    char buffer[4096];
    for (ssize_t size = 0; (size = ::recv(socket, buffer, sizeof buffer, 0)) > 0;) {
      text.append(buffer, static_cast<std::size_t>(size));
    }
  }
  ::close(socket);
  const std::size_t end = text.find("\r\n\r\n");
  if (end == std::string::npos) throw std::runtime_error("no answer to " + request.substr(0, request.find('\r')));
  return {std::stoi(text.substr(9, 3)), text.substr(0, end), text.substr(end + 4)};
}
// GET on loopback.
inline HttpAnswer get(int port, const std::string& path) {
  return http_exchange(port, "GET " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
}

// The samples of a text in the format of Prometheus: name{labels} to value.
inline std::map<std::string, double> samples_in(const std::string& text) {
  static const std::regex comment("# (HELP|TYPE) onceward_[a-z_]+ .*");
  static const std::regex sample(R"re((onceward_[a-z_]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})?) ([-+0-9.e]+|\+Inf))re");
  std::map<std::string, double> samples;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::smatch parts;
    if (std::regex_match(line, parts, sample)) {
      EXPECT_TRUE(samples.emplace(parts[1], std::stod(parts[4])).second) << "twice: " << line;
    } else {
      EXPECT_TRUE(std::regex_match(line, comment)) << line;
    }
  }
  return samples;
}

class Running : public testing::Test {
 protected:
  // An application whose consumer "captures" runs `sql`; `more` stands before the consumer.
  void write(const std::string& store, const std::string& sql = insert, const std::string& more = {});
  // The same with a source that is no embedded queue.
  void write_with_source(const std::string& source, const std::string& store, const std::string& more = {});
  std::unique_ptr<fixtures::Process> start(const std::vector<std::string>& more = {}) const;
  // Returns when every worker works.
  std::unique_ptr<fixtures::Process> start_and_await_work() const;
  static fixtures::Ran run_to_the_end(const std::string& file);

  static std::vector<nlohmann::json> log_of(const fixtures::Process& process);
  static bool logged(const fixtures::Process& process, const std::string& message);
  static int port_of(const fixtures::Process& process);

  void send(int count);
  QueueDepth depth() { return EmbeddedSender({.path = queue_path_}).depth(); }
  void let_visibility_pass() const { fixtures::read_sqlite(queue_path_)->run("UPDATE delivery SET due_at = 0"); }

  static constexpr const char* insert = "INSERT INTO effect (message) SELECT message_id FROM messages";

  fixtures::TemporaryDirectory folder_;
  std::string file_ = folder_.path() + "/app.toml";
  std::string queue_path_ = folder_.path() + "/messages.queue";
  std::string sqlite_ = "sqlite:" + folder_.path() + "/app.db";
  int sent_ = 0;
};

inline void Running::write(const std::string& store, const std::string& sql, const std::string& more) {
  std::ofstream(file_) << more << "\n[store]\nurl = \"" << store << "\"\n[admin]\nlisten = \"127.0.0.1:0\"\n"
                       << "[[consumer]]\nname = \"captures\"\nowner = \"payments\"\nsource = \"embedded:" << queue_path_
                       << "\"\nsql = [\"" << sql << "\"]\n";
}

inline void Running::write_with_source(const std::string& source, const std::string& store, const std::string& more) {
  std::ofstream(file_) << more << "[store]\nurl = \"" << store << "\"\n[admin]\nlisten = \"127.0.0.1:0\"\n"
                       << "[[consumer]]\nname = \"captures\"\nowner = \"payments\"\nworkers = 2\nsource = \"" << source
                       << "\"\nsql = [\"" << insert << "\"]\n";
}

inline std::unique_ptr<fixtures::Process> Running::start(const std::vector<std::string>& more) const {
  std::vector<std::string> command{ONCEWARD_BINARY, "run", file_};
  command.insert(command.end(), more.begin(), more.end());
  return std::make_unique<fixtures::Process>(command);
}

inline std::unique_ptr<fixtures::Process> Running::start_and_await_work() const {
  auto process = start();
  fixtures::await("it works", [&] {
    if (!process->running()) throw std::runtime_error("it has ended: " + process->output());
    return logged(*process, "working");
  });
  return process;
}

inline fixtures::Ran Running::run_to_the_end(const std::string& file) {
  return fixtures::run({ONCEWARD_BINARY, "run", file});
}

inline std::vector<nlohmann::json> Running::log_of(const fixtures::Process& process) {
  std::vector<nlohmann::json> lines;
  std::istringstream text(process.output());
  for (std::string line; std::getline(text, line);) {
    if (!text.eof()) lines.push_back(nlohmann::json::parse(line));  // the last may be half written
  }
  return lines;
}

inline bool Running::logged(const fixtures::Process& process, const std::string& message) {
  for (const auto& line : log_of(process)) {
    if (line.at("message") == message) return true;
  }
  return false;
}

inline int Running::port_of(const fixtures::Process& process) {
  int port = 0;
  fixtures::await("it listens", [&] {
    for (const auto& line : log_of(process)) port = line.contains("port") ? line.at("port").get<int>() : port;
    return port != 0;
  });
  return port;
}

inline void Running::send(int count) {
  std::vector<std::string> messages;
  for (int i = 0; i < count; ++i) {
    messages.push_back(write_json_envelope(fixtures::envelope_of({.id = std::to_string(sent_++)})));
  }
  const std::vector<std::string_view> views(messages.begin(), messages.end());
  EmbeddedSender({.path = queue_path_}).send(views);
}

// On each store, with a table of effects.
class RunningOnStore : public Running, public testing::WithParamInterface<const char*> {
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
  }
  bool on_postgres() const { return GetParam() == std::string("postgres"); }
  std::string table(const std::string& name) const { return (on_postgres() ? "onceward." : "onceward_") + name; }

  std::string store_;
  std::unique_ptr<fixtures::Reader> reader_;
};

// --- the front door, on both stores

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

class RunningIngress : public RunningOnStore {
 protected:
  void SetUp() override {
    RunningOnStore::SetUp();
    write(store_, effect, ingress);
  }
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

  int port_ = 0;
};

}  // namespace onceward::daemon
