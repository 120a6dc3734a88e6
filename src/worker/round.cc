#include "src/worker/round.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "src/envelope/key.h"

namespace onceward {

Identified identity_of(const Item& item, const Declaration& declaration) {
  Identified identified = item.identified != nullptr ? *item.identified : identify(*item.envelope, declaration);
  if (std::holds_alternative<Refusal>(identified)) {
    if (item.position == nullptr) return identified;
    // What a stranger wrote may be no text: the place names it.
    Claimant placed;
    placed.key = position_key(declaration.name, *item.position);
    placed.id = IdText::owning(fmt::format("{}@{}", item.position->stream->name, item.position->offset));
    identified = std::move(placed);
  }
  Claimant& claimant = std::get<Claimant>(identified);
  claimant.envelope = item.envelope;
  claimant.position = item.position;
  return identified;
}

std::shared_ptr<const Failure> failure_of(const Refusal& refusal) {
  return std::make_shared<Failure>(Failure{.code = std::string(code(refusal.reason)),
                                           .detail = refusal.detail,
                                           .permanent = true,
                                           .by = Failure::By::field});
}

void Round::clear() {
  items_.clear();
  claimants_.clear();
  refused_.clear();
  failures_.clear();
  decided_.clear();
  put_off_.clear();
  soonest_retry_.reset();
}

void Round::add(const Item& item, Claimant claimant) {
  if (item.failure) remember(static_cast<Index>(items_.size()), *item.failure);
  items_.push_back(item);
  claimants_.push_back(std::move(claimant));
}

void Round::finish(UnitOfWork& unit, Index index, Outcome outcome) {
  decided_[index] = state_of(outcome);
  if (const auto* const retry = std::get_if<Retry>(&outcome)) {
    soonest_retry_ = std::min(retry->after, soonest_retry_.value_or(retry->after));
  }
  unit.finish(index, std::move(outcome));
}

void Round::finish_failed(UnitOfWork& unit, Index index) {
  const Item& message = items_[index];
  const Failure& failure = failures_.at(index);
  Outcome outcome = after_failure(failure, attempts(index), budget_);
  if (const auto* const retry = std::get_if<Retry>(&outcome); retry && in_order_ && message.tag) {
    put_off_.emplace(index, retry->after);
    return;
  }
  finish(unit, index, std::move(outcome));
  if (!message.counted) unit.count(claimants_[index].key, Attempt::failure, failure.code);
}

bool Round::take_out(UnitOfWork& unit, Index index, Failure failure) {
  remember(index, std::move(failure));
  if (!unit.forget(index)) return false;
  finish_failed(unit, index);
  return !put_off_.contains(index);
}

std::vector<Index> Round::without_failed(UnitOfWork& unit, Part part) {
  std::vector<Index> rest;
  rest.reserve(part.size());
  for (const Index index : part) {
    failed(index) ? finish_failed(unit, index) : rest.push_back(index);
  }
  return rest;
}

const State* Round::decided(Index index) const {
  const auto found = decided_.find(index);
  return found == decided_.end() ? nullptr : &found->second;
}

}  // namespace onceward
