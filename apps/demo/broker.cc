#include "apps/demo/broker.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <thread>

#include "apps/daemon/ports.h"
#include "apps/demo/proof.h"

namespace onceward::demo {
namespace {

constexpr std::chrono::minutes time_to_start{3};
constexpr int topic_partitions = 4;
// A killed member of a group is missed after its session, which a broker of one's own lets be short.
constexpr const char* shorter_sessions = "group.min.session.timeout.ms=1000";

bool is_kafka(const Run& run) { return run.broker == "kafka"; }

std::string printed_in(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  std::string all = text.str();
  all.resize(all.find_last_not_of(" \n") + 1);
  return all;
}

int restarts_of(std::int64_t messages) { return messages < 10'000 ? 1 : 2; }

}  // namespace

std::string broker_script(const std::string& broker) {
  const char* const folder = std::getenv("ONCEWARD_SCRIPTS");
  return folder == nullptr ? std::string() : (std::filesystem::path(folder) / broker).string();
}

void require_broker(const std::string& broker) {
  if (broker.empty()) return;
  const std::string instead = fmt::format("; ./run demo --broker {} builds and starts what it needs", broker);
  try {
    daemon::read_source(broker == "kafka" ? "kafka://h/t?group=g" : "rabbitmq://h/?queue=q");
  } catch (const std::invalid_argument& without) {
    throw std::invalid_argument(without.what() + instead);
  }
  if (::access(broker_script(broker).c_str(), X_OK) != 0) {
    throw std::invalid_argument(
        "ONCEWARD_SCRIPTS does not name the repository's scripts/services, which start the broker" + instead);
  }
}

std::string source_url(const Run& run) {
  if (is_kafka(run)) {
    return fmt::format("{0}/{1}?group={1}&session.timeout.ms=2000&heartbeat.interval.ms=300&fetch.wait.max.ms=100",
                       run.broker_url, broker_queue);
  }
  return fmt::format("{}?queue={}&declare=quorum&prefetch=256", run.broker_url, broker_queue);
}

std::string target_url(const Run& run) {
  return is_kafka(run) ? fmt::format("{}/{}?format=native", run.broker_url, broker_queue)
                       : fmt::format("{}?queue={}&format=native", run.broker_url, broker_queue);
}

Broker::Broker(const Run& run)
    : run_(run), directory_(run.file("broker")), log_(run.file("broker.ndjson"), std::ios::app) {
  std::mt19937_64 chance(run.seed ^ 0x62'72'6F'6Bu);
  const auto messages = static_cast<std::uint64_t>(run.messages);
  for (int i = 0; i < restarts_of(run.messages); ++i) {
    restart_at_.push_back(messages * 3 / 10 + chance() % (messages * 4 / 10));
  }
  std::ranges::sort(restart_at_, std::greater<>());
}

Broker::~Broker() {
  restart_ = Child();
  question_ = Child();
  Child(command("stop", {"--kill"}), run_.file("broker.log")).wait(time_to_start);
}

std::vector<std::string> Broker::command(const std::string& verb, const std::vector<std::string>& arguments) const {
  std::vector<std::string> words{run_.broker_script, verb, directory_};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return words;
}

std::string Broker::call(const std::vector<std::string>& command, const Interruption* interruption) const {
  const std::string answer = run_.file("broker.answer");
  std::filesystem::remove(answer);
  Child child(command, answer);
  const auto end = std::chrono::steady_clock::now() + time_to_start;
  for (;;) {
    const auto ending = child.ended();
    if (interruption && interruption->signal() != 0) throw Interrupted();
    if (ending && ending->signal == 0 && ending->exit_code == 0) return printed_in(answer);
    if (ending || std::chrono::steady_clock::now() > end) {
      throw std::runtime_error(fmt::format("{} {}: {}", run_.broker, command[1], printed_in(answer)));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

std::string Broker::start(const Interruption& interruption) {
  std::vector<std::string> arguments{"any"};
  if (is_kafka(run_)) arguments.insert(arguments.end(), {"--set", shorter_sessions});
  call(command("start", arguments), &interruption);
  return call(command("status"), &interruption);
}

void Broker::make_queue(const Interruption& interruption) const {
  if (is_kafka(run_)) {
    call(command("tool", {"TopicCommand", "--create", "--topic", broker_queue, "--partitions",
                          std::to_string(topic_partitions)}),
         &interruption);
  } else {
    daemon::open_source(source_url(run_), {});  // which declares it
    call(command("sync"), &interruption);
  }
}

// By the checker, which asks the broker's own tool.
std::optional<std::uint64_t> Broker::left(bool now) {
  const std::string answer = run_.file("left");
  if (!question_.runs()) {
    if (!now) return std::nullopt;
    std::filesystem::remove(answer);
    question_ = Child({checker(), run_.directory, "--left"}, answer);
    return std::nullopt;
  }
  const auto ending = question_.ended();
  if (!ending || ending->signal != 0 || ending->exit_code != 0) return std::nullopt;
  std::string number = printed_in(answer);  // in the last line, behind what the broker's tool had to say
  number.erase(0, number.rfind('\n') + 1);
  return std::stoull(number);
}

void Broker::tend(std::uint64_t deliveries, Progress& progress) {
  if (restart_.runs()) {
    if (const auto ending = restart_.ended()) note_restart(*ending, progress);
  } else if (!restart_at_.empty() && deliveries >= restart_at_.back()) {
    restart_at_.pop_back();
    pid_ = call(command("pid"), nullptr);
    restart_ = Child(command("restart", {"--kill"}), run_.file("broker.log"));
    progress.say(fmt::format("{} was killed with SIGKILL after {} deliveries", run_.broker, deliveries));
  }
}

void Broker::note_restart(const Ending& ending, Progress& progress) {
  if (ending.signal != 0 || ending.exit_code != 0) {
    throw std::runtime_error(
        fmt::format("{} does not start again: {}", run_.broker, printed_in(run_.file("broker.log"))));
  }
  const nlohmann::ordered_json line{{"killed", pid_}, {"started", call(command("pid"), nullptr)}};
  log_ << line.dump() << std::endl;
  ++restarts_;
  progress.say(fmt::format("{} is back", run_.broker));
}

}  // namespace onceward::demo
