#include "tests/faults/server.h"

#include <signal.h>

#include "tests/fixtures/waiting.h"

namespace onceward::faults {

using fixtures::run_well;

namespace {

std::vector<std::string> as_options(const std::vector<std::string>& settings) {
  std::vector<std::string> options;
  for (const std::string& setting : settings) {
    options.emplace_back("--set");
    options.push_back(setting);
  }
  return options;
}

}  // namespace

Server::Server(const std::vector<std::string>& settings) : Server(WithOptions{as_options(settings)}) {}

Server::Server(WithOptions with) : port_(fixtures::free_port()), options_(std::move(with.options)) { start(); }

std::unique_ptr<Server> Server::synchronous_standby_of(const Server& primary) {
  // It comes back soon after a crash of the primary: until then every commit waits for it.
  return std::unique_ptr<Server>(new Server(
      WithOptions{{"--standby-of", std::to_string(primary.port()), "--set", "wal_retrieve_retry_interval=100ms"}}));
}

Server::~Server() {
  // The directory is thrown away: no need for a graceful end.
  fixtures::run({fixtures::environment("ONCEWARD_SCRIPTS") + "/postgres", "stop", directory_.path() + "/pg", "--kill"});
}

std::vector<std::string> Server::command(const std::string& verb) const {
  return {fixtures::environment("ONCEWARD_SCRIPTS") + "/postgres", verb, directory_.path() + "/pg"};
}

std::string Server::url(const std::string& database, const std::string& user) const {
  return "postgres://" + user + "@127.0.0.1:" + std::to_string(port_) + "/" + database;
}

void Server::start() {
  std::vector<std::string> line = command("start");
  line.push_back(std::to_string(port_));
  line.insert(line.end(), options_.begin(), options_.end());
  run_well(line);
}

void Server::stop() { run_well(command("stop")); }

void Server::kill() {
  auto line = command("stop");
  line.emplace_back("--kill");
  run_well(line);
}

void Server::stop_now() {
  const pid_t postmaster = pid();
  ::kill(postmaster, SIGQUIT);
  fixtures::await("the server has ended", [&] { return fixtures::run(command("status")).exit_code == 3; });
}

pid_t Server::pid(const std::string& process) const {
  auto line = command("pid");
  if (!process.empty()) line.push_back(process);
  return static_cast<pid_t>(std::stol(run_well(line)));
}

}  // namespace onceward::faults
