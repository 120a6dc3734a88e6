// Debezium in the place of our relay, with what docs/how-to/debezium.md says: its event router gets the outbox from PostgreSQL's
// log, and the view with its default names from a snapshot.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "onceward/adapter/postgres.h"
#include "tests/debezium/engine.h"

namespace onceward::debezium {
namespace {

using testing::ElementsAreArray;
using testing::UnorderedElementsAre;

struct Sent {
  std::string id;
  std::string type = "order.paid";
  std::string key = "order-7";
  std::string payload = R"({ "amount": 1.50, "name": "ä" })";
  std::string aggregate_type = "";
  std::string content_type = "application/json";
  std::string trace_parent = "";
};

void stage(Transaction& transaction, const Sent& sent) {
  transaction.stage(Outgoing{.type = sent.type,
                             .key = sent.key,
                             .payload = sent.payload,
                             .id = sent.id,
                             .aggregate_type = sent.aggregate_type,
                             .content_type = sent.content_type});
}

// As another language writes it: docs/reference/outbox.md.
std::string insert(const Sent& sent) {
  return fmt::format(
      "INSERT INTO onceward.outbox (id, type, key, payload, trace_parent) VALUES ('{}', '{}', '{}', '{}'::bytea, '{}')",
      sent.id, sent.type, sent.key, sent.payload, sent.trace_parent);
}

// What the settings of the page make of it.
std::vector<Relayed> by_the_page(const std::vector<Sent>& all) {
  std::vector<Relayed> relayed;
  for (const Sent& sent : all)
    relayed.push_back({"events." + sent.type,
                       sent.key,
                       sent.payload,
                       {"id=" + sent.id, "type=" + sent.type, "content-type=" + sent.content_type,
                        "traceparent=" + sent.trace_parent, "headers="}});
  return relayed;
}

class Debezium : public testing::Test {
 protected:
  Debezium() {
    store_->migrate();
    run(blocks_of_the_page("sql").at(0));
  }
  void run(const std::string& block) {
    for (const std::string& statement : statements_in(block)) reader_->run(statement);
  }
  void send(const std::vector<Sent>& all) {
    const auto unit = store_->begin({});
    for (const Sent& sent : all) stage(unit->whole(), sent);
    ASSERT_EQ(unit->commit(), Commit::committed);
  }

  faults::Server server_;
  std::unique_ptr<fixtures::Reader> reader_ = server_.read();
  std::unique_ptr<Store> store_ = open_postgres({.url = server_.url()});
  const std::string streaming_ = blocks_of_the_page("properties").at(0);
  const std::string emptying_ = blocks_of_the_page("sql").at(1);
};

TEST_F(Debezium, RelaysWhatWasCommittedInTheOrderOfTheCommits) {
  const std::string bytes("\0\xFF{ \"a\" :1}\t\n", 13);
  const Sent open{.id = "open for long", .trace_parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"};
  const std::vector<Sent> beside{{.id = "text"},
                                 {.id = "bytes", .payload = bytes, .content_type = "application/x"},
                                 {.id = "nothing", .key = "", .payload = ""},
                                 {.id = "large", .type = "order.shipped", .payload = std::string(300'000, 'x')}};
  const Sent after{.id = "after"};

  const auto writer = server_.read();
  writer->run("BEGIN");
  writer->run(insert(open));
  send(beside);
  {
    const auto unit = store_->begin({});
    stage(unit->whole(), {.id = "abandoned"});
    unit->flush();
    const Rows seen = unit->whole().query("SELECT count(*) FROM onceward.outbox");
    ASSERT_EQ(std::get<std::int64_t>(seen.at(0).at(0)), std::ssize(beside) + 1) << "it stands there until then";
  }
  run("BEGIN;" + insert({.id = "rolled back"}) + ";ROLLBACK");

  Engine engine(server_, {.settings = streaming_, .messages = beside.size() + 2});
  engine.await(beside.size());
  writer->run("COMMIT");
  reader_->run(insert(after));
  std::vector<Sent> expected = beside;
  expected.push_back(open);
  expected.push_back(after);
  EXPECT_THAT(engine.finish(), ElementsAreArray(by_the_page(expected)));
}

TEST_F(Debezium, RowsThatWereEmptiedOutBeforeItCameLeaveToo) {
  const fixtures::TemporaryDirectory directory;
  const Engine::Options options{.settings = streaming_, .messages = 1, .offsets = directory.path() + "/offsets"};
  for (const Sent& sent : {Sent{.id = "before it was ever there"}, Sent{.id = "while it was away"}}) {
    send({sent});
    run(emptying_);
    ASSERT_EQ(reader_->number("SELECT count(*) FROM onceward.outbox"), 0);
    EXPECT_THAT(Engine(server_, options).finish(), ElementsAreArray(by_the_page({sent})));
  }
}

TEST_F(Debezium, RouterWithItsDefaultsReadsTheViewInASnapshot) {
  run(blocks_of_the_page("sql").at(2));
  send({{.id = "of an aggregate", .aggregate_type = "order"}, {.id = "of none", .key = "", .payload = ""}});
  Engine engine(server_, {.settings = blocks_of_the_page("properties").at(1), .messages = 2});
  EXPECT_THAT(engine.finish(),
              UnorderedElementsAre(Relayed{"outbox.event.order", "order-7", Sent{}.payload, {"id=of an aggregate"}},
                                   Relayed{"outbox.event.order.paid", "of none", "", {"id=of none"}}));
}

// Debezium makes such a publication where it is left to itself. PostgreSQL then refuses to change rows that it cannot name.
TEST_F(Debezium, PublicationOfAllTablesLeavesOurTablesUsable) {
  reader_->run("CREATE PUBLICATION everything FOR ALL TABLES");
  reader_->run("UPDATE onceward.relay_idle SET idle = true");
  send({{.id = "wakes the relays"}});
  EXPECT_EQ(reader_->value("SELECT idle FROM onceward.relay_idle"), "f");
  EXPECT_THAT(
      reader_->read("SELECT relname FROM pg_class c WHERE relnamespace = 'onceward'::regnamespace AND relkind IN "
                    "('r', 'p') AND relreplident = 'd' AND NOT EXISTS (SELECT FROM pg_index i WHERE i.indrelid = "
                    "c.oid AND i.indisprimary)"),
      testing::IsEmpty());
}

}  // namespace
}  // namespace onceward::debezium
