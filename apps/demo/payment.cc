#include "apps/demo/payment.h"

#include <fmt/format.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

namespace onceward::demo {
namespace {

struct Statements {
  explicit Statements(const Run& run)
      : insert_capture(fmt::format("INSERT INTO {} (message_id, capture_request_id, invoice, amount, currency) "
                                   "VALUES ($1, $2, $3, $4, $5)",
                                   run.capture_table)),
        update_balance(fmt::format("UPDATE {} SET amount = amount + $1 WHERE currency = $2", run.balance_table)) {}
  std::string insert_capture, update_balance;
};

struct CaptureRequest {
  std::string id, invoice, currency;
  std::int64_t amount = 0;
};

// Throws where a field is missing or of another type.
CaptureRequest read(const nlohmann::json& body) {
  return {body.at("captureRequestId").get<std::string>(), body.at("invoice").get<std::string>(),
          body.at("currency").get<std::string>(), body.at("amount").get<std::int64_t>()};
}

void obey(const nlohmann::json& body) {
  if (body.value("instruction", "") == "abort") std::abort();  // a bug that takes the process with it
}

}  // namespace

Declaration payments(const Run& run) {
  Declaration declaration;
  declaration.name = run.consumer;
  declaration.owner = "payments-team";
  declaration.schema_versions = {.lowest = 1, .highest = 1, .required = true};
  declaration.batch = batch;
  declaration.time_bound = visibility - std::chrono::milliseconds(500);
  declaration.retry = {
      .attempts = 3, .first_delay = std::chrono::milliseconds(50), .longest_delay = std::chrono::milliseconds(200)};
  return declaration;
}

// The message id is there and the schema version is known: the declaration asks for both.
MessageHandler capture_payments(const Run& run) {
  return [sql = Statements(run)](const Envelope& message, Transaction& transaction) -> Outcome {
    if (message.correlation_id().empty()) return Failed{"missing_correlation_id"};
    const auto body = nlohmann::json::parse(message.payload());
    if (!body.contains("captureRequestId")) return Failed{"missing_capture_request_id"};
    obey(body);
    const CaptureRequest request = read(body);
    if (request.amount <= 0) return Rejected{"amount_not_positive"};
    transaction.execute(sql.insert_capture, message.message_id(), request.id, request.invoice, request.amount,
                        request.currency);
    transaction.execute(sql.update_balance, request.amount, request.currency);
    transaction.stage(Outgoing{"payment.capturing", request.invoice, message.payload()});
    transaction.stage(Call{"gateway", "capture/" + request.id, message.payload()});
    return Done{};
  };
}

void apply_naively(const Run& run, const Envelope& message, Transaction& transaction) {
  const Statements sql(run);
  const auto body = nlohmann::json::parse(message.payload());
  obey(body);
  const CaptureRequest request = read(body);
  if (request.amount <= 0) return;
  transaction.execute(sql.insert_capture, message.message_id(), request.id, request.invoice, request.amount,
                      request.currency);
  transaction.execute(sql.update_balance, request.amount, request.currency);
}

}  // namespace onceward::demo
