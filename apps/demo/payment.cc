#include "apps/demo/payment.h"

#include <fmt/format.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

namespace onceward::demo {
namespace {

using std::chrono::milliseconds;

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
  declaration.time_bound = visibility - milliseconds(500);
  declaration.retry = {.attempts = 3, .first_delay = milliseconds(50), .longest_delay = milliseconds(200)};
  return declaration;
}

// The message id is there and the schema version is known: the declaration asks for both.
MessageHandler capture_payments(const Run& run) {
  return
      [sql = Statements(run), endpoint = run.endpoint](const Envelope& message, Transaction& transaction) -> Outcome {
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
        transaction.stage(Call{.endpoint = endpoint,
                               .key = request.id,
                               .body = message.payload(),
                               .type = "capture",
                               .business_key = request.invoice});
        return Done{};
      };
}

EndpointDeclaration gateway(const Run& run) {
  const std::string url = fmt::format("http://127.0.0.1:{}/captures", run.gateway_port);
  EndpointDeclaration declaration;
  declaration.name = run.endpoint;
  declaration.url = url;
  declaration.reference = "/reference";
  declaration.timeout = call_timeout;
  declaration.lease = call_timeout + milliseconds(1'300);
  declaration.concurrency = 64;
  declaration.poll = milliseconds(20);
  declaration.retry = {.attempts = 8, .first_delay = milliseconds(50), .longest_delay = milliseconds(500)};
  declaration.circuit_pause = milliseconds(100);
  LookUpDeclaration& look_up = declaration.look_up.emplace();
  look_up.url = url + "/{key}";
  look_up.reference = "/reference";
  look_up.settle = milliseconds(300);
  look_up.every = milliseconds(150);
  look_up.attempts = 12;
  declaration.list =
      ListDeclaration{.url = url, .items = "/captures", .key = "/key", .reference = "/reference", .next = "/next"};
  return declaration;
}

void charge_naively(const Envelope& message, NaiveClient& client) {
  const auto body = nlohmann::json::parse(message.payload());
  obey(body);
  if (read(body).amount > 0) client.charge(std::string(message.payload()));
}

void apply_naively(const Run& run, const Envelope& message, Transaction& transaction) {
  const Statements sql(run);
  const CaptureRequest request = read(nlohmann::json::parse(message.payload()));
  if (request.amount <= 0) return;
  transaction.execute(sql.insert_capture, message.message_id(), request.id, request.invoice, request.amount,
                      request.currency);
  transaction.execute(sql.update_balance, request.amount, request.currency);
}

}  // namespace onceward::demo
