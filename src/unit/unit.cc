#include "src/unit/unit.h"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "src/inbox/recorded.h"
#include "src/quarantine/dead_letter.h"
#include "src/unit/faults.h"

namespace onceward {
namespace {

// On a line of its own, behind whatever comment the statement may end with.
std::string or_nothing(std::string_view insert_sql) {
  const std::size_t end = insert_sql.find_last_not_of("; \t\r\n");
  return std::string(insert_sql.substr(0, end + 1)) + "\nON CONFLICT DO NOTHING";
}

}  // namespace

Unit::Unit(std::unique_ptr<Session> session, const Enrolled& consumer, Owner owner, std::function<void()> committed,
           Store::RepeatedCalls repeated)
    : session_(std::move(session)),
      consumer_(consumer),
      owner_(owner),
      exceptions_at_start_(std::uncaught_exceptions()),
      committed_(std::move(committed)),
      repeated_(std::move(repeated)) {}

Unit::~Unit() {
  if (owner_ == Owner::us) {
    if (!ending_) session_->roll_back();
  } else if (!failed_ && std::uncaught_exceptions() <= exceptions_at_start_ && session_->in_transaction() &&
             unwritten()) {
    std::fputs("onceward: an enlistment ended with work that was not written: call flush() before COMMIT\n", stderr);
    std::abort();
  }
}

void Unit::require_open() const {
  if (failed_ || ending_) {
    throw Fault(FaultCode::transaction_failed, Poisons::transaction,
                "the transaction has ended or failed before: begin a new one");
  }
}

// What is refused before anything is sent spoils only its message: forget() takes that one out, and without that a
// handler which swallowed the refusal would commit the half of its effect that was accepted.
template <class Work>
void Unit::buffered(std::uint32_t message, Work&& work) {
  require_open();
  try {
    work();
  } catch (...) {
    spoiled_.insert(message);
    culprit_.reset();
    if (message != Statements::no_message) culprit_ = message;
    throw;
  }
}

void Unit::claim(std::span<const Claimant> batch) {
  guarded([&] {
    if (batch_) throw refused("a unit claims once: put all messages into one batch");
    if (mark_) throw refused("claim before the first mark: going back to it would undo the claim");
    batch_.emplace(batch, by_position() ? Batch::By::position : Batch::By::identity);
    sent_.resize(batch.size());
    if (batch.empty()) return;
    if (by_position()) {
      advances_ = pass(*batch_, streams_for(batch));
    } else {
      session_->claim(*batch_);
    }
  });
}

// As they were left, where that makes every message the next one: a trip saved, and the commit makes sure. Else they are held.
Streams Unit::streams_for(std::span<const Claimant> batch) {
  const std::vector<std::string_view> names = streams_of(batch);
  auto streams = session_->remembered(names);
  believed_ = streams && all_come_next(batch, *streams);
  return believed_ ? std::move(*streams) : session_->hold(names);
}

bool Unit::first(std::size_t index) const {
  return batch_ && index < batch_->claimants().size() && batch_->first(static_cast<Batch::Index>(index));
}

std::span<const Answer> Unit::answers() {
  if (!batch_) return {};
  if (ending_ && *ending_ != Commit::committed) {
    throw Fault(FaultCode::transaction_failed, Poisons::transaction, "the unit did not commit: claim again to know");
  }
  if (!batch_->resolved() && !ending_) guarded([&] { session_->look_up(*batch_); });
  // A row that stood in the way and is gone now was purged in between: nothing is known of that message.
  if (!batch_->resolved()) {
    throw Fault(FaultCode::lost_race, Poisons::transaction, "a known message vanished while it was looked up");
  }
  answers_ = batch_->answers();
  return answers_;
}

Transaction& Unit::on(std::size_t index) {
  require_open();
  if (!first(index)) throw refused("only a message that is first has an effect");
  const Claimant& claimant = batch_->claimants()[index];
  const auto message = static_cast<std::uint32_t>(index);
  scope_.cause = {message, consumer_.name, &claimant};
  if (mark_) {
    undone_.erase(message);
    ran_since_.push_back(message);
  }
  return scope_;
}

Transaction& Unit::whole() {
  scope_.cause = Cause{};
  return scope_;
}

bool Unit::forget(std::size_t index) {
  const auto message = static_cast<std::uint32_t>(index);
  if (index < sent_.size() && sent_[index]) {
    failed_ = true;
    return false;
  }
  statements_.forget(message);
  staging_.forget(message);
  spoiled_.erase(message);
  forgotten_.insert(message);
  return true;
}

Unit::Ending Unit::ending_of(Batch::Index index) const {
  const auto found = endings_.find(index);
  return found == endings_.end() ? Ending{} : found->second;
}

void Unit::set_outcome(Batch::Index index, Recorded recorded, Ending ending) {
  if (ending.retry_after || !ending.detail.empty()) {
    endings_[index] = std::move(ending);
  } else {
    endings_.erase(index);
  }
  batch_->finish(index, std::move(recorded));
}

void Unit::finish(std::size_t index, Outcome outcome) {
  require_open();
  if (!first(index)) throw refused("only a message that is first has an outcome");
  if (outcomes_written_) throw refused("the outcomes of this unit were flushed: finish messages before flush()");
  const auto message = static_cast<Batch::Index>(index);
  forgotten_.erase(message);
  if (mark_) {
    undone_.erase(message);
    finished_since_.push_back({message, batch_->finished(message), ending_of(message)});
  }
  Ending ending;
  if (const auto* const retry = std::get_if<Retry>(&outcome)) ending.retry_after = retry->after;
  std::visit(
      [&](auto& any) {
        if constexpr (requires { any.detail; }) ending.detail = std::move(any.detail);
      },
      outcome);
  set_outcome(message, recorded_of(std::move(outcome)), std::move(ending));
}

void Unit::park(const Envelope& envelope, std::string_view reason, std::string_view detail) {
  require_open();
  parked_.push_back(parked(envelope, consumer_.number, reason, detail));
}

void Unit::park(const Claimant& claimant, std::string_view reason, std::string_view detail) {
  require_open();
  parked_.push_back(parked(claimant, consumer_.number, reason, detail));
}

bool Unit::unwritten() const {
  return !statements_.empty() || !staging_.empty() || parked_.size() > parked_written_ ||
         (batch_ && !outcomes_written_ && (!batch_->records().empty() || !advances_.empty()));
}

void Unit::mark_sent(std::uint32_t message) {
  if (message < sent_.size()) sent_[message] = true;
}

void Unit::mark_staged_sent() {
  for (const StagedOutgoing& row : staging_.outgoing()) mark_sent(row.cause);
  for (const StagedCall& row : staging_.calls()) mark_sent(row.cause);
}

void Unit::run_statements() {
  for (const BufferedStatement& statement : statements_.all()) mark_sent(statement.message);
  session_->run(statements_.all());
  statements_.clear();
}

std::vector<OutcomeRow> Unit::outcomes() {
  std::vector<OutcomeRow> rows;
  if (!batch_ || outcomes_written_) return rows;
  outcomes_written_ = true;
  if (resumed_) {
    for (const Batch::Index index : batch_->to_claim()) {
      if (!batch_->first(index)) continue;
      rows.push_back({&batch_->claimants()[index], batch_->finished(index), ending_of(index).retry_after, true});
    }
    return rows;
  }
  for (auto& [index, recorded] : batch_->records()) {
    rows.push_back({&batch_->claimants()[index], std::move(recorded), ending_of(index).retry_after});
    rows.back().unseen = by_position();
  }
  return rows;
}

// A message that failed for good is parked as well, so that one list holds all that waits for a person. One whose
// operation belongs to another has no key there: sent again, it must be claimed again and never run.
std::vector<Parked> Unit::failures(std::span<const OutcomeRow> outcomes) const {
  std::vector<Parked> rows;
  for (const OutcomeRow& row : outcomes) {
    if (row.recorded.state != State::quarantined) continue;
    const auto index = static_cast<Batch::Index>(row.claimant - batch_->claimants().data());
    rows.push_back(parked(*row.claimant, consumer_.number, row.recorded.code, ending_of(index).detail,
                          by_position() ? Told::by_key : Told::by_content));
    if (batch_->first(index)) rows.back().key = row.claimant->key;
  }
  return rows;
}

// A message that was taken out would else be remembered as done without having done anything.
const char* Unit::unsettled() const {
  if (!spoiled_.empty()) return "a message asked for what cannot be done: forget() and finish() it, or roll back";
  if (!forgotten_.empty()) return "a message was taken out and has no outcome: finish() it, or roll back";
  if (!undone_.empty()) return "a message was undone and has not run again: run or finish() it, or roll back";
  return nullptr;
}

void Unit::write_all() {
  run_statements();
  mark_staged_sent();
  const bool moves = batch_ && !outcomes_written_;
  const std::vector<OutcomeRow> rows = outcomes();
  const std::vector<Parked> failed = failures(rows);
  std::vector<const Parked*> to_park;
  for (std::size_t at = parked_written_; at < parked_.size(); ++at) to_park.push_back(&parked_[at]);
  for (const Parked& row : failed) to_park.push_back(&row);
  std::optional<DeadLetters> dead;
  if (consumer_.dead_letters && !to_park.empty()) dead.emplace(staging_.outgoing(), to_park, consumer_.name);
  session_->write({std::span(counted_).subspan(counted_written_), rows, std::span(resolved_).subspan(resolved_written_),
                   to_park, dead ? dead->with_staged() : staging_.outgoing(), staging_.calls(),
                   moves ? std::span<const Advance>(advances_) : std::span<const Advance>(), believed_});
  parked_written_ = parked_.size();
  counted_written_ = counted_.size();
  resolved_written_ = resolved_.size();
  staging_.written();
}

void Unit::flush() {
  guarded([&] {
    if (const char* const why = unsettled()) throw refused(why);
    write_all();
    session_->flush(batch());
    take_repeats();
  });
}

// Only what was staged: the rest of the unit is not yet known.
void Unit::write_staged() {
  run_statements();
  if (staging_.empty()) return;
  mark_staged_sent();
  session_->write({.attempts = {},
                   .outcomes = {},
                   .resolved = {},
                   .parked = {},
                   .outgoing = staging_.outgoing(),
                   .calls = staging_.calls(),
                   .advances = {}});
  session_->flush(nullptr);
  staging_.written();
  take_repeats();
}

void Unit::take_repeats() {
  for (Repeats& repeats : session_->repeats()) repeats_.push_back(std::move(repeats));
}

void Unit::tell_repeats() const {
  if (!repeated_) return;
  for (const Repeats& repeats : repeats_) repeated_(repeats.endpoint, Store::Repeat::same, repeats.times);
}

void Unit::tell_conflict(const Fault& fault) const {
  if (fault.fault() != FaultCode::call_conflict || !repeated_) return;
  const std::optional<Key> row = session_->refused().row;
  repeated_(row ? staging_.endpoint_of(*row) : staging_.endpoint_of_other_content(), Store::Repeat::conflict, 1);
}

Commit Unit::commit() {
  if (ending_) return *ending_;
  Commit ending = Commit::failed;
  try {
    if (!failed_ && !unsettled()) {
      ending = guarded([&] {
        write_all();
        return session_->commit(batch());
      });
    }
  } catch (...) {
    // Until it is left for good, the way back to a mark stays open.
    if (!mark_ || !session_->in_transaction()) {
      session_->roll_back();
      ending_ = Commit::failed;
    }
    throw;
  }
  if (ending == Commit::failed) session_->roll_back();
  ending_ = ending;
  if (ending != Commit::committed) return ending;
  take_repeats();
  tell_repeats();
  if (committed_) committed_();
  return ending;
}

void Unit::Scope::execute_values(std::string_view sql, std::span<const Value> values) {
  unit_.buffered(cause.index, [&] {
    check_statement(sql);
    unit_.statements_.add(cause.index, sql, values);
  });
}

template <class Ask>
auto Unit::Scope::at_once(std::string_view sql, std::span<const Value> values, Ask&& ask) {
  execute_values(sql, values);
  return unit_.guarded([&] {
    for (const BufferedStatement& statement : unit_.statements_.all()) unit_.mark_sent(statement.message);
    const auto all = unit_.statements_.all();
    auto answer = ask(all.first(all.size() - 1), all.back());
    unit_.statements_.clear();
    return answer;
  });
}

std::int64_t Unit::Scope::execute_counted_values(std::string_view sql, std::span<const Value> values) {
  return at_once(sql, values, [&](auto before, const auto& asked) { return unit_.session_->count(before, asked); });
}

Rows Unit::Scope::query_values(std::string_view sql, std::span<const Value> values) {
  return at_once(sql, values, [&](auto before, const auto& asked) { return unit_.session_->query(before, asked); });
}

Inserted Unit::Scope::insert_once_values(std::string_view insert_sql, std::span<const Value> values) {
  return execute_counted_values(or_nothing(insert_sql), values) > 0 ? Inserted::inserted : Inserted::already;
}

void Unit::Scope::execute_over(const Relation& relation, std::string_view sql) {
  unit_.buffered(cause.index, [&] { check_statement(sql); });
  unit_.guarded([&] {
    unit_.run_statements();
    unit_.mark_sent(cause.index);
    unit_.session_->run_over(relation, sql);
  });
}

void Unit::Scope::stage(const Outgoing& outgoing) {
  unit_.buffered(cause.index, [&] { unit_.staging_.add(cause, outgoing); });
}

void Unit::Scope::stage(const Call& call) {
  unit_.buffered(cause.index, [&] { unit_.staging_.add(cause, call, unit_.consumer_.name); });
}

Cancelled Unit::Scope::cancel(std::string_view endpoint, std::string_view key) {
  unit_.buffered(cause.index, [&] { check_call_name(endpoint, key); });
  const std::string_view tenant = cause.claimant == nullptr ? std::string_view() : cause.claimant->tenant.text();
  return unit_.guarded([&] {
    unit_.write_staged();
    unit_.mark_sent(cause.index);
    return unit_.session_->cancel_call(call_key(tenant, endpoint, key), unit_.consumer_.name);
  });
}

}  // namespace onceward
