// Calls that a declaration asks for with every message of an SQL consumer.
#include "tests/delivery/workplace.h"

namespace onceward {
namespace {

class DeclaredCall : public Workplace {
 protected:
  DeclaredCall() {
    under_->reader().run("CREATE TABLE payment (message text NOT NULL, amount numeric NOT NULL)");
    declaration_.source = "embedded:payments.queue";
    declaration_.sql = {
        "INSERT INTO payment SELECT CASE WHEN amount IN (1313, 13.13) THEN NULL ELSE message_id END, amount FROM "
        "messages"};
    declaration_.fields = {{.name = "invoice", .pointer = "/invoice", .type = FieldType::text},
                           {.name = "amount", .pointer = "/amount", .type = FieldType::decimal, .scale = 2}};
    declaration_.calls = {
        {.endpoint = "gateway",
         .key = "capture/{invoice}",
         .type = "capture",
         .business_key = "{invoice}",
         .body = R"({"amount":"{amount}","text":"for {invoice}"})"},
        {.endpoint = "mail", .key = "mail/{message_id}", .type = "", .business_key = "", .body = "{payload}"}};
  }
  static fixtures::Message payment(int id, const std::string& amount, const std::string& invoice = {}) {
    return {.id = std::to_string(id),
            .payload = R"({"invoice":"I)" + (invoice.empty() ? std::to_string(id) : invoice) + R"(","amount":)" +
                       amount + "}"};
  }
  Handler handler() const { return SqlHandler{declaration_.sql}; }
  std::int64_t calls(const std::string& where = "1 = 1") {
    return under_->reader().number("SELECT count(*) FROM " + under_->table("ledger") + " WHERE " + where);
  }
  std::int64_t payments() { return under_->reader().number("SELECT count(*) FROM payment"); }
  std::string body_of(const std::string& key) {
    const std::string text =
        under_->table("ledger").starts_with("onceward.") ? "convert_from(body, 'UTF8')" : "CAST(body AS TEXT)";
    return under_->reader().value("SELECT " + text + " FROM " + under_->table("ledger") + " WHERE idempotency_key = '" +
                                  key + "'");
  }
};
ONCEWARD_AT_EVERY_STORE(DeclaredCall);

TEST_P(DeclaredCall, CommitsWithTheEffectAndIsNotAskedForTwice) {
  std::vector<fixtures::Message> messages;
  for (int id = 0; id < 50; ++id) messages.push_back(payment(id, "1.50"));
  push(messages);
  push(messages);
  work_off(handler());
  EXPECT_EQ(payments(), 50);
  EXPECT_EQ(calls(), 100);
  EXPECT_EQ(calls("endpoint = 'gateway' AND type = 'capture' AND business_key = 'I7' AND cause IS NOT NULL"), 1);
  EXPECT_EQ(body_of("capture/I7"), R"({"amount":1.50,"text":"for I7"})");
  EXPECT_EQ(body_of("mail/7"), R"({"invoice":"I7","amount":1.50})");
}

TEST_P(DeclaredCall, IsNotAskedForWhereTheEffectFails) {
  std::vector<fixtures::Message> messages;
  for (int id = 0; id < 100; ++id) messages.push_back(payment(id, id % 40 == 7 ? "13.13" : "1.50"));
  push(messages);
  work_off(handler());
  EXPECT_EQ(payments(), 97);
  EXPECT_EQ(calls(), 194);
  EXPECT_EQ(calls("idempotency_key IN ('capture/I7', 'capture/I47', 'mail/87')"), 0);
  EXPECT_EQ(parked("constraint_violated"), 3);
}

TEST_P(DeclaredCall, ThatCannotBeMadeIsItsMessagesOwnFailure) {
  push({payment(1, "1.50"), payment(2, "1.50", std::string(300, 'x')), payment(3, "1.50")});
  work_off(handler());
  EXPECT_EQ(payments(), 2);
  EXPECT_EQ(calls(), 4);
  EXPECT_EQ(parked("id_too_long"), 1);
  EXPECT_EQ(tally_.field, 1u);
  EXPECT_EQ(tally_.reruns, 0u);
}

TEST_P(DeclaredCall, UnderOneKeyIsOneCall) {
  declaration_.calls.pop_back();
  push({payment(1, "1.50", "7"), payment(2, "1.50", "7")});
  work_off(handler());
  EXPECT_EQ(payments(), 2);
  EXPECT_EQ(calls(), 1);
}

TEST_P(DeclaredCall, WithOtherContentUnderOneKeyIsAConflict) {
  declaration_.calls.pop_back();
  push({payment(1, "1.50", "7"), payment(2, "2.50", "7")});
  work_off(handler());
  EXPECT_EQ(payments(), 1);
  EXPECT_EQ(calls(), 1);
  EXPECT_EQ(parked("call_conflict"), 1);
}

TEST_P(DeclaredCall, IsRefusedBesideAHandlerInCode) {
  const auto store = under_->open();
  const auto source = queue_.open();
  const Handler handler = MessageHandler([](const Envelope&, Transaction&) -> Outcome { return Done{}; });
  EXPECT_THROW(Worker(declaration_, handler, *store, *source, tally_), std::invalid_argument);
}

}  // namespace
}  // namespace onceward
