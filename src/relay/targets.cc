#include "src/relay/targets.h"

#include <algorithm>
#include <utility>

namespace onceward::relay {

Targets::Targets(const RelayOptions& options, std::function<bool()> may_send, std::function<void()> told,
                 RelayTally& tally, Log& log)
    : options_(options), may_send_(std::move(may_send)), told_(std::move(told)), tally_(tally), log_(log) {}

void Targets::start_anew() {
  end();
  std::vector<std::unique_ptr<Target>> started;
  for (const RelayTarget& target : options_.targets) {
    started.push_back(std::make_unique<Target>(target, options_.patience, may_send_, told_, tally_, log_));
    started.back()->stop(stopped_.contains(target.name));
  }
  const std::lock_guard lock(mutex_);
  all_ = std::move(started);
}

// They are waited for without the mutex: whoever asks for our trouble is answered meanwhile.
void Targets::end() {
  std::vector<std::unique_ptr<Target>> ended;
  const std::lock_guard lock(mutex_);
  ended.swap(all_);
}

void Targets::stop_only(std::set<std::string, std::less<>> names) {
  stopped_ = std::move(names);
  for (std::size_t i = 0; i < all_.size(); ++i) all_[i]->stop(stopped_.contains(options_.targets[i].name));
}

bool Targets::all_away() const {
  return std::ranges::all_of(all_, [](const auto& target) { return target->away(); });
}

Targets::Names Targets::away() const {
  Names away;
  std::size_t count = 0;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    if (!all_[i]->away()) continue;
    away.insert(options_.targets[i].name);
    ++count;
  }
  return count < all_.size() ? away : Names();
}

void Targets::give_back_what_is_away() {
  if (all_away()) return;
  for (const auto& target : all_) {
    if (target->away()) target->give_back();
  }
}

void Targets::send(Parcels parcels) {
  for (std::size_t i = 0; i < parcels.size(); ++i) {
    if (!parcels[i].empty()) all_[i]->send(std::move(parcels[i]));
  }
}

void Targets::open(std::span<const std::string> keys) {
  for (const auto& target : all_) {
    for (const std::string& key : keys) target->open(key);
  }
}

std::vector<Result> Targets::results() {
  std::vector<Result> results;
  for (const auto& target : all_) std::ranges::move(target->results(), std::back_inserter(results));
  return results;
}

std::string Targets::trouble() const {
  const std::lock_guard lock(mutex_);
  for (const auto& target : all_) {
    if (std::string trouble = target->trouble(); !trouble.empty()) return trouble;
  }
  return {};
}

}  // namespace onceward::relay
