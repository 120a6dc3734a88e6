#include "src/records/steps.h"

#include <fmt/format.h>

#include <optional>

#include "onceward/port/transact.h"
#include "src/envelope/derived_id.h"
#include "src/records/inbox.h"
#include "src/records/statement.h"

namespace onceward::records {
namespace {

// One deed on its way through its table.
class Course {
 public:
  Course(Store& store, const Deed& deed) : store_(store), deed_(deed) {}

  Progress run(const GoOn& go_on) {
    for (bool more = true; more;) {
      more = try_again([&] { return in_doubt_ && !settle_doubt() ? true : try_step(); });
      if (more && go_on && !go_on(progress_)) break;
    }
    return progress_;
  }

 private:
  struct Step {
    Numbers numbers;
    std::string detail;  // of its audit row
  };

  // False when nothing is left.
  bool try_step() {
    const auto unit = store_.begin({});
    Transaction& transaction = unit->whole();
    Step step{deed_.pick(transaction, after_), {}};
    if (step.numbers.empty()) return false;
    step.detail = detail_of(step.numbers);
    deed_.change(transaction, step.numbers);
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
    Statement lock(store_.dialect(), "SELECT ");
    lock.add(deed_.number).add(" FROM ").add(deed_.from).add(" WHERE ").add(deed_.number).add(" ");
    lock.bind_any(in_doubt_->numbers).add(" {lock}").query(unit->whole());
    const bool landed = is_audited(unit->whole(), store_.dialect(), in_doubt_->detail);
    if (landed) count(*in_doubt_);
    in_doubt_.reset();
    return !landed;
  }

  void count(const Step& step) {
    progress_.changed += static_cast<std::int64_t>(step.numbers.size());
    ++progress_.steps;
    after_ = step.numbers.back();
  }

  std::string detail_of(const Numbers& numbers) const {
    return fmt::format(R"({{"operation":"{}","step":{},"filter":{},"changed":{},"numbers":[{}]}})", operation_,
                       progress_.steps + 1, deed_.filter, numbers.size(), fmt::join(numbers, ","));
  }

  void audit(Transaction& transaction, const Step& step) {
    const Numbers& numbers = step.numbers;
    const std::string object = numbers.size() == 1
                                   ? fmt::format("{}/{}", deed_.noun, numbers.front())
                                   : fmt::format("{}/{}-{}", deed_.noun, numbers.front(), numbers.back());
    write_audit(transaction, store_.dialect(),
                {deed_.who, deed_.why, fmt::format("{}.{}", deed_.noun, name(deed_.action)), object, step.detail});
  }

  Store& store_;
  const Deed& deed_;
  const std::string operation_ = fresh_id();
  std::int64_t after_ = 0;
  std::optional<Step> in_doubt_;
  Progress progress_;
};

}  // namespace

std::string_view name(Action action) {
  switch (action) {
    case Action::retry:
      return "retry";
    case Action::discard:
      return "discard";
    case Action::cancel:
      return "cancel";
  }
  return "";
}

Progress do_in_steps(Store& store, const Deed& deed, const GoOn& go_on) { return Course(store, deed).run(go_on); }

std::string wrong_with(std::string_view who, std::string_view why, const Numbers& numbers, int rows_of_a_step) {
  if (const std::string wrong = wrong_with(who, why); !wrong.empty()) return wrong;
  if (numbers.size() > most_numbers) return fmt::format("more than {} numbers", most_numbers);
  if (rows_of_a_step < 1 || rows_of_a_step > most_rows_of_a_page) return "a step has 1 to 1000 rows";
  return {};
}

bool try_again(const std::function<bool()>& attempt) {
  const RetryLimit limit;
  for (int attempts = 1;; ++attempts) {
    try {
      return attempt();
    } catch (const Fault& fault) {
      if (!fault.transient() || fault.poisons() == Poisons::process || attempts >= limit.attempts) throw;
    }
    pause_before(limit, attempts);
  }
}

}  // namespace onceward::records
