// The algebra of a batch under every ending that a transaction can have, and redelivery until all is settled.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <ostream>

#include "src/inbox/batch_model.h"

namespace onceward::model {
namespace {

enum class Ending { committed, failed, in_doubt_and_landed, in_doubt_and_lost, crash_before, crash_after };

std::ostream& operator<<(std::ostream& out, Ending ending) { return out << "ending " << static_cast<int>(ending); }

constexpr bool lands(Ending ending) {
  return ending == Ending::committed || ending == Ending::in_doubt_and_landed || ending == Ending::crash_after;
}

struct Step {
  std::vector<std::size_t> delivered;  // of the messages that exist, repeats included
  Ending ending = Ending::committed;
  bool by_key = false;
};

std::ostream& operator<<(std::ostream& out, const Step& step) {
  out << step.ending << " of";
  for (const std::size_t index : step.delivered) out << " " << index;
  return out;
}

// A broker that delivers until it is told, and a database that keeps only what was committed.
class World {
 public:
  explicit World(Specs messages) : messages_(std::move(messages)), settled_(messages_.size()) {}

  void run(const Step& step) {
    Specs specs;
    for (const std::size_t index : step.delivered) specs.push_back(messages_[index]);
    const Claimants claimants(specs);
    Tables inside = tables_;  // the transaction's own view
    std::vector<std::size_t> effects = effects_;
    SetWise store(inside, claimants, step.by_key);
    Batch& batch = store.claim();
    for (Batch::Index index = 0; index < specs.size(); ++index) {
      if (batch.first(index)) effects.push_back(step.delivered[index]);
    }
    store.write_outcomes();
    const std::vector<Answer> answers = batch.answers();
    if (!lands(step.ending)) return;
    tables_ = std::move(inside);
    effects_ = std::move(effects);
    if (step.ending != Ending::committed) return;  // it landed, and nobody here knows
    for (std::size_t at = 0; at < answers.size(); ++at) settle(step.delivered[at], answers[at]);
  }

  void deliver_until_settled() {
    for (int rounds = 0; rounds < 2; ++rounds) {
      Step step;
      for (std::size_t index = 0; index < messages_.size(); ++index) step.delivered.push_back(index);
      run(step);
    }
  }

  void check() const {
    std::map<int, int> by_identity;
    std::map<int, int> by_operation;
    for (const std::size_t index : effects_) {
      const Spec& spec = messages_[index];
      RC_ASSERT(++by_identity[spec.key] == 1);
      if (spec.operation >= 0) RC_ASSERT(++by_operation[spec.operation] == 1);
    }
    for (std::size_t index = 0; index < messages_.size(); ++index) check_one(index);
  }

 private:
  // Once applied, always applied; once refused, never applied.
  void settle(std::size_t index, const Answer& answer) {
    RC_ASSERT(!(answer.verdict == Verdict::first && settled_[index]));
    settled_[index] = true;
  }

  void check_one(std::size_t index) const {
    const Spec& spec = messages_[index];
    RC_ASSERT(settled_[index]);
    const auto applied = [&](auto same) {
      return std::count_if(effects_.begin(), effects_.end(), [&](std::size_t other) { return same(messages_[other]); });
    };
    const auto& row = tables_.inbox.at(key_of(spec.key, 0));
    if (!(row == Tables::Inbox{spec.readable, spec.content})) {
      // Another message came first under this key: this one must never have been applied.
      RC_ASSERT(applied([&](const Spec& other) {
                  return other.key == spec.key && (other.readable != spec.readable || other.content != spec.content);
                }) <= 1);
      RC_ASSERT(applied([&](const Spec& other) {
                  return other.key == spec.key && other.readable == spec.readable && other.content == spec.content;
                }) == 0);
      return;
    }
    const Recorded recorded = tables_.recorded_of(key_of(spec.key, 0));
    const bool lost = recorded.state == State::duplicate || recorded.code == "operation_conflict";
    RC_ASSERT(applied([&](const Spec& other) { return other.key == spec.key; }) == (lost ? 0 : 1));
    if (recorded.original) RC_ASSERT(tables_.inbox.contains(*recorded.original));
  }

  Specs messages_;
  std::vector<bool> settled_;
  Tables tables_;
  std::vector<std::size_t> effects_;  // committed, by index of the message that was applied
};

rc::Gen<Step> any_step(std::size_t messages) {
  return rc::gen::build<Step>(
      rc::gen::set(&Step::delivered,
                   rc::gen::container<std::vector<std::size_t>>(rc::gen::inRange<std::size_t>(0, messages))),
      rc::gen::set(&Step::ending,
                   rc::gen::element(Ending::committed, Ending::failed, Ending::in_doubt_and_landed,
                                    Ending::in_doubt_and_lost, Ending::crash_before, Ending::crash_after)),
      rc::gen::set(&Step::by_key));
}

RC_GTEST_PROP(Batch, EveryEndingAndRedeliveryAppliesEachMessageOnce, ()) {
  const auto messages = *rc::gen::nonEmpty(rc::gen::container<Specs>(any_spec()));
  World world(messages);
  for (const Step& step : *rc::gen::container<std::vector<Step>>(any_step(messages.size()))) world.run(step);
  world.deliver_until_settled();
  world.check();
}

}  // namespace
}  // namespace onceward::model
