// Places in a unit to which it can go back, and whose fault it was that it must. What is undone in the store is undone in
// what the unit has buffered, except what was parked: refusals stay true.
#include "src/unit/faults.h"
#include "src/unit/unit.h"

namespace onceward {
namespace {

// PostgreSQL slows every session down once one of them has more than 64.
constexpr int most_marks = 32;

// Whether a message may have brought it about. A lost connection or race, a full disk or a missing table of ours is
// nobody's.
bool may_be_a_messages(const Fault& fault) {
  switch (fault.fault()) {
    case FaultCode::constraint_violated:
    case FaultCode::statement_failed:
    case FaultCode::fact_exists:
    case FaultCode::call_conflict:
    case FaultCode::timed_out:
      return true;
    default:
      return false;
  }
}

}  // namespace

std::optional<std::size_t> Unit::culprit() const { return culprit_; }

std::optional<std::size_t> Unit::culprit_of(const Fault& fault) const {
  if (!may_be_a_messages(fault)) return std::nullopt;
  const RefusedWork refused = session_->refused();
  std::uint32_t message = refused.message;
  if (refused.row) message = staging_.cause_of(*refused.row);
  if (!refused.row && fault.fault() == FaultCode::call_conflict) message = staging_.cause_of_other_content();
  if (message == Statements::no_message) return std::nullopt;
  return message;
}

void Unit::mark() {
  require_open();
  if (marks_ == most_marks) throw refused("a unit has at most 32 marks");
  if (!spoiled_.empty()) throw refused(unsettled());
  guarded([&] {
    run_statements();
    session_->mark();
    ++marks_;
    mark_staged_sent();
    mark_ = Mark{staging_.place(),
                 counted_.size(),
                 counted_written_,
                 resolved_.size(),
                 resolved_written_,
                 parked_written_,
                 repeats_.size(),
                 outcomes_written_,
                 sent_,
                 forgotten_,
                 undone_};
    finished_since_.clear();
    ran_since_.clear();
  });
}

void Unit::back_to_mark() {
  if (ending_) require_open();
  if (!mark_) throw refused("there is no mark to go back to");
  try {
    session_->back_to_mark();
  } catch (...) {
    failed_ = true;
    throw;
  }
  forget_all_since_mark();
  failed_ = false;
  culprit_.reset();
}

void Unit::forget_all_since_mark() {
  statements_.clear();
  staging_.back_to(mark_->staging);
  counted_.resize(mark_->counted, AttemptRow{});
  counted_written_ = mark_->counted_written;
  resolved_.resize(mark_->resolved);
  resolved_written_ = mark_->resolved_written;
  parked_written_ = mark_->parked_written;
  repeats_.resize(mark_->repeats);
  outcomes_written_ = mark_->outcomes_written;
  sent_ = mark_->sent;
  spoiled_.clear();
  forgotten_ = mark_->forgotten;
  // Nothing is left of what these did, and without a second run they would be remembered as done.
  undone_ = mark_->undone;
  undone_.insert(ran_since_.begin(), ran_since_.end());
  for (auto finish = finished_since_.rbegin(); finish != finished_since_.rend(); ++finish) {
    undone_.insert(finish->index);
    set_outcome(finish->index, std::move(finish->recorded), std::move(finish->ending));
  }
  finished_since_.clear();
  ran_since_.clear();
}

}  // namespace onceward
