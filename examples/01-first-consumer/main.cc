#include <onceward/run.h>

#include <nlohmann/json.hpp>

namespace once = onceward;

once::Outcome capture(const once::Envelope& message, once::Transaction& tx) {
  const auto request = nlohmann::json::parse(message.payload());
  const std::int64_t amount = request.at("amount");
  if (amount <= 0) return once::Rejected{"amount_not_positive"};

  const std::string invoice = request.at("invoice");
  tx.execute("INSERT INTO capture (invoice, amount, message) VALUES ($1, $2, $3)", invoice, amount,
             message.message_id());
  tx.execute("UPDATE invoice SET captured = captured + $1 WHERE id = $2", amount, invoice);
  tx.stage(once::Outgoing{"payment.capturing", invoice, message.payload()});
  return once::Done{};
}

int main(int argc, char** argv) { return once::run(argc, argv, {{"captures", capture}}); }
