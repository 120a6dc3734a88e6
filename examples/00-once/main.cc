#include <onceward/adapter/sqlite.h>

#include <cstdio>

namespace once = onceward;

int main() {
  once::SqliteOptions options;
  options.path = "once.db";
  const auto store = once::open_sqlite(options);  // or open_postgres
  store->migrate();

  once::Declaration payments;
  payments.name = "payments";
  payments.owner = "payments-team";
  const once::Enrolled consumer = store->enroll(payments);

  const auto message = once::read_json_envelope(
      once::Bytes::copy_of(R"({"messageId":"m-1","producer":"checkout","payload":{"invoice":"I-7","amount":250}})"));
  const auto& envelope = std::get<once::Envelope>(message);
  const once::Claimant claimants[] = {std::get<once::Claimant>(once::identify(envelope, payments))};

  for (int delivery = 1; delivery <= 2; ++delivery) {
    const auto answers = once::transact(*store, consumer, {}, [&](once::UnitOfWork& unit) {
      unit.claim(claimants);
      if (!unit.first(0)) return;
      once::Transaction& tx = unit.on(0);
      tx.execute("CREATE TABLE IF NOT EXISTS payment (id TEXT, body TEXT)");
      tx.execute("INSERT INTO payment VALUES ($1, $2)", envelope.message_id(), envelope.payload());
      tx.stage(once::Outgoing{"payment.captured", "I-7", envelope.payload()});
      tx.stage(once::Call{"gateway", "capture/I-7", envelope.payload()});
    });
    std::printf("delivery %d: %s\n", delivery, once::name(answers[0].verdict).data());
  }
}
