#include "src/records/action.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "src/common/json.h"
#include "src/common/stored_text.h"
#include "src/common/timestamp.h"
#include "src/envelope/derived_id.h"
#include "src/records/quarantine_rows.h"

namespace onceward::records {
namespace {

using Numbers = std::vector<std::int64_t>;

void add_member(std::string& json, std::string_view name, std::string_view text) {
  if (text.empty()) return;
  json += json.back() == '{' ? "" : ",";
  append_json_string(json, name);
  json += ':';
  append_json_string(json, text);
}

std::string json_of(const QuarantineFilter& filter) {
  std::string json = "{";
  add_member(json, "consumer", filter.consumer);
  add_member(json, "reason", filter.reason);
  add_member(json, "tenant", filter.tenant.value_or(std::string()));
  add_member(json, "producer", filter.producer);
  add_member(json, "id", filter.id);
  if (filter.since) add_member(json, "since", write_timestamp(*filter.since));
  if (filter.until) add_member(json, "until", write_timestamp(*filter.until));
  return json + "}";
}

std::string wrong_with(std::string_view what, std::string_view text, std::size_t most_bytes) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) return fmt::format("{} is empty", what);
  if (text.size() > most_bytes) return fmt::format("{} has more than {} bytes", what, most_bytes);
  if (const TextFlaw flaw = flaw_of(text); flaw != TextFlaw::none) return fmt::format("{} {}", what, describe(flaw));
  return {};
}

// One command on its way through the quarantine, by rising numbers: no row is met twice.
class Course {
 public:
  Course(Store& store, const Command& command) : store_(store), command_(command) {}

  Progress run(const GoOn& go_on) {
    for (bool more = true; more;) {
      more = step();
      if (more && go_on && !go_on(progress_)) break;
    }
    return progress_;
  }

 private:
  struct Step {
    Numbers numbers;
    std::string detail;  // of its audit row; no other has the same
  };

  // False when nothing is left.
  bool step() {
    for (int attempt = 1;; ++attempt) {
      try {
        if (in_doubt_ && !settle_doubt()) return true;
        return try_step();
      } catch (const Fault& fault) {
        if (!fault.transient() || fault.poisons() == Poisons::process || attempt >= limit_.attempts) throw;
      }
      pause_before(limit_, attempt);
    }
  }

  bool try_step() {
    const auto unit = store_.begin({});
    Transaction& transaction = unit->whole();
    Step step{pick(transaction), {}};
    if (step.numbers.empty()) return false;
    step.detail = detail_of(step.numbers);
    command_.action == Action::retry ? retry(transaction, step.numbers) : discard(transaction, step.numbers);
    audit(transaction, step);
    switch (unit->commit()) {
      case Commit::committed:
        count(step);
        return true;
      case Commit::in_doubt:
        in_doubt_ = std::move(step);
        break;
      case Commit::failed:
        break;
    }
    throw Fault(FaultCode::lost_race, Poisons::transaction, "the step was not committed");
  }

  // A step that was not answered holds its rows until it has ended: once we have them, its audit row is there or will never
  // be. True if the step has to be run again.
  bool settle_doubt() {
    const auto unit = store_.begin({});
    Statement lock(store_.dialect(), "SELECT q.number FROM {quarantine} q WHERE q.number ");
    lock.bind_any(in_doubt_->numbers).add(" {lock}").query(unit->whole());
    Statement find(store_.dialect(), "SELECT count(*) FROM {audit} WHERE detail = ");
    const bool landed = number_in(find.bind(in_doubt_->detail).query(unit->whole()).at(0).at(0)) > 0;
    if (landed) count(*in_doubt_);
    in_doubt_.reset();
    return !landed;
  }

  void count(const Step& step) {
    progress_.changed += static_cast<std::int64_t>(step.numbers.size());
    ++progress_.steps;
    after_ = step.numbers.back();
  }

  // A message that was claimed can be sent again only while its inbox row says quarantined.
  Numbers pick(Transaction& transaction) {
    Statement select(store_.dialect(), "SELECT q.number FROM {quarantine} q");
    Where where(select);
    QuarantineFilter filter = command_.filter;
    filter.state = QuarantineState::parked;
    add_conditions(where, filter);
    where.add("q.number > ").bind(after_);
    where.add("q.number <= ").bind(command_.highest);
    if (command_.action == Action::retry) {
      where.add("(q.key IS NULL OR EXISTS (SELECT 1 FROM {inbox_outcome} o WHERE o.key = q.key AND o.state = ")
          .bind(static_cast<std::int64_t>(State::quarantined))
          .add("))");
    }
    select.add(" ORDER BY q.number LIMIT ").bind(std::int64_t{command_.rows_of_a_step}).add(" {lock}");
    Numbers numbers;
    for (const Row& row : select.query(transaction)) numbers.push_back(number_in(row[0]));
    return numbers;
  }

  void retry(Transaction& transaction, const Numbers& numbers) {
    Statement outcome(store_.dialect(), "UPDATE {inbox_outcome} SET state = ");
    outcome.bind(static_cast<std::int64_t>(State::retryable_failed))
        .add(", next_attempt_at = {now} WHERE key IN ")
        .add("(SELECT q.key FROM {quarantine} q WHERE q.key IS NOT NULL AND q.number ");
    outcome.bind_any(numbers).add(")").run(transaction);

    Statement attempt(store_.dialect(),
                      "INSERT INTO {attempt} (key, at, kind, worker, code) SELECT q.key, {now}, 'reset', ");
    attempt.bind(command_.who).add(", '' FROM {quarantine} q WHERE q.key IS NOT NULL AND q.number ");
    attempt.bind_any(numbers).run(transaction);

    // Those that were never claimed count their attempts here.
    Statement parked(store_.dialect(),
                     "UPDATE {quarantine} SET state = 'retrying', retry_at = CASE WHEN key IS NULL THEN {now} END, "
                     "attempts = CASE WHEN key IS NULL THEN 0 ELSE attempts END WHERE number ");
    parked.bind_any(numbers).run(transaction);
  }

  void discard(Transaction& transaction, const Numbers& numbers) {
    Statement parked(store_.dialect(), "UPDATE {quarantine} SET state = 'discarded' WHERE number ");
    parked.bind_any(numbers).run(transaction);
  }

  std::string detail_of(const Numbers& numbers) const {
    return fmt::format(R"({{"operation":"{}","step":{},"filter":{},"changed":{},"numbers":[{}]}})", operation_,
                       progress_.steps + 1, json_of(command_.filter), numbers.size(), fmt::join(numbers, ","));
  }

  void audit(Transaction& transaction, const Step& step) {
    const Numbers& numbers = step.numbers;
    const std::string object = numbers.size() == 1 ? fmt::format("quarantine/{}", numbers.front())
                                                   : fmt::format("quarantine/{}-{}", numbers.front(), numbers.back());
    Statement insert(store_.dialect(), "INSERT INTO {audit} (at, who, action, object, reason, detail) VALUES ({now}, ");
    insert.bind(command_.who).add(", ").bind(fmt::format("quarantine.{}", name(command_.action))).add(", ");
    insert.bind(object).add(", ").bind(command_.why).add(", ").bind(step.detail).add(")").run(transaction);
  }

  Store& store_;
  const Command& command_;
  const RetryLimit limit_;
  const std::string operation_ = fresh_id();
  std::int64_t after_ = 0;
  std::optional<Step> in_doubt_;
  Progress progress_;
};

}  // namespace

std::string_view name(Action action) { return action == Action::retry ? "retry" : "discard"; }

Preview preview(Store& store, const QuarantineFilter& filter) {
  const auto look = store.look();
  Statement count(store.dialect(),
                  "SELECT count(*), count(CASE WHEN q.state = 'parked' THEN 1 END), "
                  "max(CASE WHEN q.state = 'parked' THEN q.number END) FROM {quarantine} q");
  Where where(count);
  QuarantineFilter any = filter;
  any.state.reset();
  add_conditions(where, any);
  const Row row = count.query(*look).at(0);
  Preview seen{number_in(row[0]), number_in(row[1]), number_in(row[2]), {}};
  any.state = QuarantineState::parked;
  seen.first = read_rows(*look, store.dialect(), any, {.newest_first = false, .limit = 10});
  return seen;
}

std::string wrong_with(const Command& command) {
  if (const std::string who = wrong_with("the name of who does it", command.who, most_who_bytes); !who.empty())
    return who;
  if (const std::string why = wrong_with("the reason why", command.why, most_why_bytes); !why.empty()) return why;
  if (command.filter.numbers.size() > most_numbers) return fmt::format("more than {} numbers", most_numbers);
  if (command.rows_of_a_step < 1 || command.rows_of_a_step > most_rows_of_a_page) return "a step has 1 to 1000 rows";
  return {};
}

Progress carry_out(Store& store, const Command& command, const GoOn& go_on) {
  if (const std::string wrong = wrong_with(command); !wrong.empty()) throw std::invalid_argument(wrong);
  return Course(store, command).run(go_on);
}

}  // namespace onceward::records
