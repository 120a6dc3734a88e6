// Consumers whose handler is SQL.
#include "tests/delivery/workplace.h"

namespace onceward {
namespace {

class Sql : public Workplace {
 protected:
  Sql() {
    under_->reader().run(
        "CREATE TABLE payment (message text NOT NULL, account text NOT NULL, amount numeric NOT NULL)");
    declaration_.fields = {{.name = "account", .pointer = "/account", .type = FieldType::text},
                           {.name = "amount", .pointer = "/amount", .type = FieldType::decimal, .scale = 2}};
  }
  static fixtures::Message payment(int id, const std::string& amount) {
    return {.id = std::to_string(id),
            .payload = R"({"account":"A)" + std::to_string(id % 3) + R"(","amount":)" + amount + "}"};
  }
  Handler insert() { return SqlHandler{{"INSERT INTO payment SELECT message_id, account, amount FROM messages"}}; }
  std::int64_t payments(const std::string& where = "1 = 1") {
    return under_->reader().number("SELECT count(*) FROM payment WHERE " + where);
  }
};
ONCEWARD_AT_EVERY_STORE(Sql);

TEST_P(Sql, WritesABatchWithOneStatement) {
  std::vector<fixtures::Message> messages;
  for (int id = 0; id < 1200; ++id) messages.push_back(payment(id, "1.50"));
  push(messages);
  push(messages);
  work_off(insert());
  EXPECT_EQ(payments(), 1200);
  EXPECT_EQ(payments("account = 'A1'"), 400);
  EXPECT_EQ(tally_.duplicate, 1200u);
}

TEST_P(Sql, RunsStatementsInOrder) {
  push({payment(1, "1.50"), payment(4, "2.50")});
  work_off(
      SqlHandler{{"INSERT INTO payment SELECT message_id, account, amount FROM messages",
                  "UPDATE payment SET message = message || '!' WHERE message IN (SELECT message_id FROM messages)"}});
  EXPECT_EQ(payments("message IN ('1!', '4!')"), 2);
}

TEST_P(Sql, TakesOutAMessageWithABadFieldBeforeAnyStatementRuns) {
  push({payment(1, "1.50"),
        payment(2, "\"much\""),
        payment(3, "1.505"),
        {.id = "4", .payload = R"({"amount":1})"},
        {.id = "5", .payload = "no json"},
        payment(6, "\"2.50\"")});
  work_off(insert());
  EXPECT_EQ(payments(), 2);
  EXPECT_EQ(under_->rows_in("quarantine"), 4);
  EXPECT_EQ(parked("missing_field"), 1);
  EXPECT_EQ(parked("malformed_json"), 1);
  EXPECT_EQ(tally_.field, 4u);
  EXPECT_EQ(tally_.reruns, 0u);
}

TEST_P(Sql, FindsTheMessagesThatAStatementFailsFor) {
  std::vector<fixtures::Message> messages;
  for (int id = 0; id < 300; ++id) messages.push_back(payment(id, id % 120 == 7 ? "13.13" : "1.50"));
  push(messages);
  // 13.13 is what the table does not take; in minor units where the store has no decimals.
  work_off(
      SqlHandler{{"INSERT INTO payment SELECT CASE WHEN amount IN (1313, 13.13) THEN NULL ELSE message_id END, account,"
                  " amount FROM messages"}});
  EXPECT_EQ(payments(), 297);
  EXPECT_EQ(parked("constraint_violated"), 3);
  EXPECT_EQ(tally_.statement, 9u);
}

}  // namespace
}  // namespace onceward
