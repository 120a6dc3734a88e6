#include "apps/demo/callers.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <random>

namespace onceward::demo {
namespace {

constexpr int dispatchers = 2;
constexpr std::chrono::milliseconds time_to_end{15'000};
constexpr int most_endings = 20;  // that end by themselves

int kills_for(std::int64_t messages) { return static_cast<int>(std::clamp<std::int64_t>(messages / 5'000, 2, 4)); }

}  // namespace

Callers::Callers(const Run& run, Store& store, Crashes& crashes) : run_(run), store_(store), crashes_(crashes) {
  players_.push_back({.role = "gateway"});
  for (int number = 0; number < dispatchers && !run.naive; ++number) {
    players_.push_back({.role = "dispatcher", .number = number});
  }
  plan_kills();
}

void Callers::plan_kills() {
  std::mt19937_64 chance(run_.seed ^ 0x63'61'6C'6Cu);
  const auto messages = static_cast<std::uint64_t>(run_.messages);
  const auto moment = [&] { return messages / 20 + chance() % (messages * 8 / 10); };
  for (int i = 0; i < kills_for(run_.messages); ++i) {
    kills_.push_back({moment(), 0});
    if (!run_.naive) kills_.push_back({moment(), 1 + chance() % dispatchers});
  }
  std::ranges::sort(kills_, std::greater<>(), &Kill::at);
}

void Callers::start() {
  for (Player& player : players_) start(player);
}

void Callers::start(Player& player) const {
  player.child = Child({this_program(), "demo", "--role", player.role, "--number", std::to_string(player.number),
                        "--directory", run_.directory},
                       run_.file(fmt::format("{}-{}.log", player.role, player.number)));
}

void Callers::tend(std::uint64_t calls) {
  for (Player& player : players_) {
    const pid_t pid = player.child.pid();
    const auto ending = player.child.ended();
    if (!ending) continue;
    note(player, pid, *ending);
    start(player);
  }
  while (!kills_.empty() && calls >= kills_.back().at) {
    players_[kills_.back().whom].child.signal(SIGKILL);
    kills_.pop_back();
  }
}

void Callers::note(Player& player, pid_t pid, const Ending& ending) {
  if (crashes_.note(player.role, player.number, pid, ending) == Crashes::Cause::killed) {
    ++(&player == &players_.front() ? gateways_killed_ : dispatchers_killed_);
  } else if (++others_ > most_endings) {
    trouble_ = fmt::format("the {} cannot go on; its log says why", player.role);
  }
}

bool Callers::at_rest() const {
  return kills_.empty() && std::ranges::all_of(players_, [](const Player& player) { return player.child.runs(); });
}

bool Callers::finished() {
  if (run_.naive) return true;
  const std::string_view ledger = run_.store.starts_with("sqlite:") ? "onceward_ledger" : "onceward.ledger";
  return store_.look()
      ->query(fmt::format("SELECT 1 FROM {} WHERE endpoint = $1 AND due_at IS NOT NULL AND state <> 'waiting' LIMIT 1",
                          ledger),
              run_.endpoint)
      .empty();
}

// Those who call before the one who is called.
void Callers::stop(bool patient) {
  for (std::size_t i = players_.size(); i-- > 0;) {
    const bool is_gateway = i == 0;
    const pid_t pid = players_[i].child.pid();
    players_[i].child.signal(patient && !is_gateway ? SIGTERM : SIGKILL);
    const Ending ending = players_[i].child.wait(time_to_end);
    if (patient && !is_gateway && (ending.signal != 0 || ending.exit_code != 0)) note(players_[i], pid, ending);
  }
}

}  // namespace onceward::demo
