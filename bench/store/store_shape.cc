#include "bench/store/store_shape.h"

#include <algorithm>
#include <stdexcept>
#include <variant>
#include <vector>

#include "onceward/claim.h"
#include "onceward/envelope.h"

namespace onceward::bench {
namespace {

constexpr std::string_view payment_sql =
    "INSERT INTO payment (account, amount, currency, message) SELECT account, amount, 'EUR', message FROM payments";
// SQLite would read a bare ON as the beginning of a join's condition.
constexpr std::string_view balance_sql =
    "INSERT INTO balance (account, amount, version) SELECT account, amount, version FROM balances WHERE true"
    " ON CONFLICT (account) DO UPDATE SET amount = balance.amount + excluded.amount, version = excluded.version"
    " WHERE balance.version < excluded.version";

EnvelopeFields fields_of(const Message& message) {
  EnvelopeFields fields;
  fields.producer = Producer(producer_name);
  fields.message_id = MessageId(message.id);
  fields.event_type = EventType("payment.requested");
  fields.content_type = "application/json";
  fields.payload = message.payload;
  return fields;
}

class StoreShape final : public Shape {
 public:
  StoreShape(std::unique_ptr<Store> store, const Workload& work, From from)
      : store_(std::move(store)),
        work_(work),
        from_(from),
        declaration_(declaration_of(work.ids)),
        consumer_(store_->enroll(declaration_)) {
    before_ = store_->counters();
  }

  double run(std::span<const Index> deliveries, std::size_t batch) override {
    return run_in_batches(
        deliveries, batch, [this](auto arriving) { arrive(arriving); }, [this](auto mine) { run_batch(mine); });
  }

  Effort effort() const override {
    const StoreCounters now = store_->counters();
    return {now.round_trips - before_.round_trips, now.statements - before_.statements};
  }

 private:
  void arrive(std::span<const Index> deliveries) {
    envelopes_.clear();
    bytes_.clear();
    for (const Index index : deliveries) {
      const EnvelopeFields fields = fields_of(work_.messages[index]);
      if (from_ == From::envelopes) {
        envelopes_.push_back(Envelope::copy_of(fields));
      } else {
        bytes_.push_back(Bytes::copy_of(write_json_envelope(Envelope(fields, nullptr))));
      }
    }
    touch(work_, deliveries);
  }

  void run_batch(std::span<const Index> deliveries) {
    identify_all();
    const auto unit = store_->begin(consumer_);
    unit->claim(claimants_);
    accounts_.clear(), amounts_.clear(), ids_.clear();
    folded_.clear();
    for (std::size_t i = 0; i < deliveries.size(); ++i) {
      if (unit->first(i)) process(unit->on(i), work_.messages[deliveries[i]]);
    }
    if (!accounts_.empty()) write_effects(unit->whole());
    if (unit->commit() != Commit::committed) throw std::runtime_error("the commit was not confirmed");
    for (const Answer& answer : unit->answers()) {
      if (answer.verdict == Verdict::conflict) throw std::runtime_error("a conflict in a work without any");
    }
  }

  void identify_all() {
    for (const Bytes& bytes : bytes_) envelopes_.push_back(std::get<Envelope>(read_json_envelope(bytes)));
    claimants_.clear();
    for (const Envelope& envelope : envelopes_) {
      claimants_.push_back(std::get<Claimant>(identify(envelope, declaration_)));
    }
  }

  void process(Transaction& transaction, const Message& message) {
    accounts_.push_back(message.account);
    amounts_.push_back(message.amount);
    ids_.push_back(message.id);
    folded_.add(message);
    transaction.stage(Outgoing{.type = outgoing_type,
                               .key = message.account_key,
                               .payload = message.outgoing,
                               .aggregate_type = "account",
                               .aggregate_id = message.account_key,
                               .aggregate_version = message.version});
  }

  void write_effects(Transaction& transaction) {
    const Column payments[] = {{"account", std::span<const std::int64_t>(accounts_)},
                               {"amount", std::span<const std::int64_t>(amounts_)},
                               {"message", std::span<const std::string_view>(ids_)}};
    transaction.execute_over({"payments", payments}, payment_sql);
    folded_.finish();
    const Column balances[] = {
        {"account", folded_.accounts()}, {"amount", folded_.amounts()}, {"version", folded_.versions()}};
    transaction.execute_over({"balances", balances}, balance_sql);
  }

  std::unique_ptr<Store> store_;
  const Workload& work_;
  From from_;
  Declaration declaration_;
  Enrolled consumer_;
  StoreCounters before_;

  // Of one batch.
  std::vector<Bytes> bytes_;
  std::vector<Envelope> envelopes_;
  std::vector<Claimant> claimants_;
  std::vector<std::int64_t> accounts_, amounts_;
  std::vector<std::string_view> ids_;
  Folded folded_;
};

}  // namespace

Declaration declaration_of(Ids ids) {
  Declaration declaration;
  declaration.name = std::string(consumer_name);
  declaration.owner = "bench";
  declaration.identity.producer = std::string(producer_name);
  declaration.identity.scheme = ids == Ids::random ? KeyScheme::hash : KeyScheme::uuidv7;
  return declaration;
}

std::unique_ptr<Shape> store_shape(std::unique_ptr<Store> store, const Workload& work, From from) {
  return std::make_unique<StoreShape>(std::move(store), work, from);
}

}  // namespace onceward::bench
