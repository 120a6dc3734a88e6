#include "src/worker/handling.h"

#include <chrono>
#include <stdexcept>
#include <utility>

#include "src/effect/declared_calls.h"
#include "src/effect/sql_effect.h"

namespace onceward {
namespace {

bool is_plain(const Outcome& outcome) {
  const auto* const done = std::get_if<Done>(&outcome);
  return done && done->result.empty();
}

class MessageHandling final : public Handling {
 public:
  MessageHandling(MessageHandler handler, Watchdog& watchdog) : handler_(std::move(handler)), watchdog_(watchdog) {}

  bool one_by_one() const override { return true; }
  Ran run(UnitOfWork& unit, Round& round, Part part) override {
    for (const Index index : part) {
      if (!run_one(unit, round, index)) return Ran::again;
    }
    return Ran::all;
  }

 private:
  bool run_one(UnitOfWork& unit, Round& round, Index index) {
    try {
      Outcome outcome = call(*round.item(index).envelope, unit.on(index));
      if (is_plain(outcome)) return true;
      if (auto failure = failure_in(outcome)) return round.take_out(unit, index, std::move(*failure));
      round.finish(unit, index, std::move(outcome));
      return true;
    } catch (const Fault& fault) {
      if (is_outage(fault)) throw;
      return round.take_out(unit, index, failure_of(fault));
    } catch (const std::exception& thrown) {
      return round.take_out(unit, index, failure_of(thrown));
    } catch (...) {
      return round.take_out(unit, index, failure_of_something_thrown());
    }
  }

  Outcome call(const Envelope& envelope, Transaction& transaction) {
    const Watched watched(watchdog_);
    return handler_(envelope, transaction);
  }

  const MessageHandler handler_;
  Watchdog& watchdog_;
};

// What a batch handler sees of the unit.
class PartOfRound final : public Messages {
 public:
  PartOfRound(UnitOfWork& unit, Round& round, Part part) : unit_(unit), round_(round), part_(part) {}

  std::size_t size() const override { return part_.size(); }
  const Envelope& operator[](std::size_t index) const override { return *round_.item(part_[index]).envelope; }
  Transaction& on(std::size_t index) override { return unit_.on(part_[index]); }
  Transaction& whole() override { return unit_.whole(); }
  void finish(std::size_t index, Outcome outcome) override {
    if (auto failure = failure_in(outcome)) {
      if (!round_.take_out(unit_, part_[index], std::move(*failure))) ran_ = Ran::again;
    } else if (!is_plain(outcome)) {
      round_.finish(unit_, part_[index], std::move(outcome));
    }
  }

  Ran ran() const { return ran_; }

 private:
  UnitOfWork& unit_;
  Round& round_;
  Part part_;
  Ran ran_ = Ran::all;
};

class BatchHandling final : public Handling {
 public:
  BatchHandling(BatchHandler handler, Watchdog& watchdog) : handler_(std::move(handler)), watchdog_(watchdog) {}

  Ran run(UnitOfWork& unit, Round& round, Part part) override {
    if (part.empty()) return Ran::all;
    PartOfRound messages(unit, round, part);
    const std::size_t failed_before = round.failures();
    {
      const Watched watched(watchdog_);
      handler_(messages);
    }
    // What it wrote set-wise may hold those that it has given up: it runs again without them.
    return round.failures() > failed_before ? Ran::again : messages.ran();
  }

 private:
  const BatchHandler handler_;
  Watchdog& watchdog_;
};

class SqlHandling final : public Handling {
 public:
  SqlHandling(std::vector<std::string> statements, const Declaration& declaration, Watchdog& watchdog)
      : statements_(std::move(statements)),
        effect_(statements_, declaration),
        calls_(declaration),
        watchdog_(watchdog) {}

  void begin(const Round& round) override {
    const auto now = std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
    effect_.begin(round.claimants(), now);
    taken_.assign(round.size(), false);
  }

  Ran run(UnitOfWork& unit, Round& round, Part part) override {
    sound_.clear();
    for (const Index index : part) {
      if (take(unit, round, index) && stage_calls(unit, round, index)) sound_.push_back(index);
    }
    const Watched watched(watchdog_);
    effect_.run(unit.whole(), sound_);
    return Ran::all;
  }

 private:
  // A field that is missing or ill-typed is its message's own failure, before any SQL runs.
  bool take(UnitOfWork& unit, Round& round, Index index) {
    if (taken_[index]) return true;
    if (const auto refusal = effect_.take(index)) return refuse(unit, round, index, *refusal);
    taken_[index] = true;
    return true;
  }

  // In every run anew: a rollback takes back what was staged.
  bool stage_calls(UnitOfWork& unit, Round& round, Index index) {
    if (calls_.empty()) return true;
    if (const auto refusal = calls_.make(round.claimants()[index])) return refuse(unit, round, index, *refusal);
    for (const Call& call : calls_.calls()) unit.on(index).stage(call);
    return true;
  }

  static bool refuse(UnitOfWork& unit, Round& round, Index index, const Refusal& refusal) {
    round.take_out(unit, index,
                   {.code = std::string(code(refusal.reason)),
                    .detail = refusal.detail,
                    .permanent = true,
                    .by = Failure::By::field});
    return false;
  }

  const std::vector<std::string> statements_;
  SqlEffect effect_;
  DeclaredCalls calls_;
  Watchdog& watchdog_;

  // Of the round in hand.
  std::vector<bool> taken_;
  std::vector<Index> sound_;
};

}  // namespace

std::unique_ptr<Handling> handling_of(Handler handler, const Declaration& declaration, Watchdog& watchdog) {
  if (!declaration.calls.empty() && !std::holds_alternative<SqlHandler>(handler)) {
    throw std::invalid_argument("calls are declared, and the handler is no SQL: let it stage its own");
  }
  if (auto* message = std::get_if<MessageHandler>(&handler)) {
    return std::make_unique<MessageHandling>(std::move(*message), watchdog);
  }
  if (auto* batch = std::get_if<BatchHandler>(&handler)) {
    return std::make_unique<BatchHandling>(std::move(*batch), watchdog);
  }
  return std::make_unique<SqlHandling>(std::move(std::get<SqlHandler>(handler).statements), declaration, watchdog);
}

}  // namespace onceward
