#include "bench/worker/handlers.h"

#include <fmt/format.h>

#include <memory>
#include <stdexcept>

namespace onceward::bench {
namespace {

constexpr std::string_view payments_sql =
    "INSERT INTO payment (account, amount, currency, message) SELECT account, amount, 'EUR', message FROM payments";
// SQLite would read a bare ON as the beginning of a join's condition.
constexpr std::string_view balances_sql =
    "INSERT INTO balance (account, amount, version) SELECT account, amount, version FROM balances WHERE true"
    " ON CONFLICT (account) DO UPDATE SET amount = balance.amount + excluded.amount, version = excluded.version"
    " WHERE balance.version < excluded.version";

constexpr std::string_view payment_sql =
    "INSERT INTO payment (account, amount, currency, message) VALUES ($1, $2, $3, $4)";
constexpr std::string_view balance_sql =
    "INSERT INTO balance (account, amount, version) VALUES ($1, $2, $3)"
    " ON CONFLICT (account) DO UPDATE SET amount = balance.amount + excluded.amount, version = excluded.version"
    " WHERE balance.version < excluded.version";

constexpr const char* payments_of_messages_sql =
    "INSERT INTO payment (account, amount, currency, message)"
    " SELECT account, amount, 'EUR', message_id FROM messages";
constexpr const char* balances_of_messages_sql =
    "INSERT INTO balance (account, amount, version)"
    " SELECT account, sum(amount), max(version) FROM messages WHERE true GROUP BY account"
    " ON CONFLICT (account) DO UPDATE SET amount = balance.amount + excluded.amount, version = excluded.version"
    " WHERE balance.version < excluded.version";

void stage(Transaction& transaction, const Message& message) {
  transaction.stage(Outgoing{.type = outgoing_type,
                             .key = message.account_key,
                             .payload = message.outgoing,
                             .aggregate_type = "account",
                             .aggregate_id = message.account_key,
                             .aggregate_version = message.version});
}

// Set-wise; its memory is kept from batch to batch.
class Batched {
 public:
  explicit Batched(const Workload& work, const Numbers* numbers = nullptr) : work_(work), numbers_(numbers) {}

  void operator()(Messages& messages) {
    accounts_.clear(), amounts_.clear(), ids_.clear();
    folded_.clear();
    for (std::size_t i = 0; i < messages.size(); ++i) {
      const Message& message =
          numbers_ ? work_.messages[numbers_->of(messages[i].message_id().text())] : message_of(work_, messages[i]);
      accounts_.push_back(message.account);
      amounts_.push_back(message.amount);
      ids_.push_back(messages[i].message_id().text());
      folded_.add(message);
      stage(messages.on(i), message);
    }
    folded_.finish();
    const Column payments[] = {{"account", std::span<const std::int64_t>(accounts_)},
                               {"amount", std::span<const std::int64_t>(amounts_)},
                               {"message", std::span<const std::string_view>(ids_)}};
    messages.whole().execute_over({"payments", payments}, payments_sql);
    const Column balances[] = {
        {"account", folded_.accounts()}, {"amount", folded_.amounts()}, {"version", folded_.versions()}};
    messages.whole().execute_over({"balances", balances}, balances_sql);
  }

 private:
  const Workload& work_;
  const Numbers* const numbers_;
  std::vector<std::int64_t> accounts_, amounts_;
  std::vector<std::string_view> ids_;
  Folded folded_;
};

}  // namespace

Envelope envelope_of(const Workload& work, Index message) {
  const Message& from = work.messages[message];
  EnvelopeFields fields;
  fields.producer = Producer(producer_name);
  fields.message_id = MessageId(from.id);
  fields.event_type = EventType("payment.requested");
  fields.event_version = message;
  fields.content_type = "application/json";
  fields.payload = from.payload;
  return {fields, std::make_shared<const Index>(message)};
}

const Message& message_of(const Workload& work, const Envelope& envelope) {
  return work.messages[static_cast<std::size_t>(*envelope.event_version())];
}

Workload with_ill_typed_fields(const Workload& work) {
  Workload made = work;
  for (Index index = 0; index < made.messages.size(); ++index) {
    if (!is_poison(index)) continue;
    Message& message = made.messages[index];
    const std::string amount = fmt::format(R"("amount":{})", message.amount);
    const std::size_t at = message.payload.find(amount);
    message.payload.replace(at, amount.size(), fmt::format(R"("amount":"{}")", message.amount));
    message.payload.erase(message.payload.size() - 4, 2);  // of the note
  }
  return made;
}

Handler batch_handler(const Workload& work) {
  const auto batched = std::make_shared<Batched>(work);
  return BatchHandler([batched](Messages& messages) { (*batched)(messages); });
}

Handler batch_handler_by_id(const Workload& work, const Numbers& numbers) {
  const auto batched = std::make_shared<Batched>(work, &numbers);
  return BatchHandler([batched](Messages& messages) { (*batched)(messages); });
}

Handler message_handler(const Workload& work, Poison poison) {
  return MessageHandler([&work, poison](const Envelope& envelope, Transaction& transaction) -> Outcome {
    const Message& message = message_of(work, envelope);
    const bool bad = poison != Poison::none && is_poison(static_cast<Index>(*envelope.event_version()));
    if (bad && poison == Poison::throws) throw std::runtime_error("this message always fails");
    const Value given_currency = bad ? Value(nullptr) : Value(currency);
    transaction.execute(payment_sql, message.account, message.amount, given_currency, envelope.message_id());
    transaction.execute(balance_sql, message.account, message.amount, message.version);
    stage(transaction, message);
    return Done{};
  });
}

Handler sql_handler(const Workload&) { return SqlHandler{{payments_of_messages_sql, balances_of_messages_sql}}; }

std::vector<FieldDeclaration> declared_fields() {
  return {{.name = "account", .pointer = "/account", .type = FieldType::int64},
          {.name = "amount", .pointer = "/amount", .type = FieldType::int64},
          {.name = "version", .pointer = "/version", .type = FieldType::int64}};
}

}  // namespace onceward::bench
