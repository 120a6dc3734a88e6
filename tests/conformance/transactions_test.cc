// What a handler can do with its transaction.
#include <array>

#include "tests/conformance/suite.h"

namespace onceward {
namespace {

using namespace std::chrono_literals;

class Transactions : public OnEveryStore {
 protected:
  // Runs `work` in a unit of its own and commits it.
  template <class Work>
  void in_unit(Work&& work) {
    auto unit = begin();
    work(unit->whole());
    ASSERT_EQ(unit->commit(), Commit::committed);
  }
  template <class Work>
  FaultCode fault_in_unit(Work&& work) {
    auto unit = begin();
    const FaultCode fault = fault_of([&] {
      work(unit->whole());
      unit->commit();
    });
    EXPECT_EQ(unit->commit(), Commit::failed);
    return fault;
  }
};
ONCEWARD_ON_EVERY_STORE(Transactions);

class TypedTransactions : public Transactions {};
INSTANTIATE_TEST_SUITE_P(Store, TypedTransactions,
                         testing::ValuesIn(fixtures::backends_that(&Capabilities::typed_columns)), backend_name);

TEST_P(Transactions, ExecuteCountedSaysHowManyRowsChanged) {
  in_unit([](Transaction& transaction) {
    EXPECT_EQ(transaction.execute_counted("INSERT INTO effect (message) VALUES ($1), ($2), ($3)", "a", "b", "c"), 3);
    EXPECT_EQ(transaction.execute_counted("UPDATE effect SET note = 'x' WHERE message <> $1", "a"), 2);
    EXPECT_EQ(transaction.execute_counted("DELETE FROM effect WHERE message = $1", "nobody"), 0);
  });
  EXPECT_EQ(under_->effects(), 3);
}

TEST_P(Transactions, StatementsRunInTheOrderInWhichTheyWereGiven) {
  in_unit([](Transaction& transaction) {
    transaction.execute("INSERT INTO effect (message, note) VALUES ('a', '1')");
    transaction.execute("UPDATE effect SET note = note || '2'");
    EXPECT_EQ(transaction.execute_counted("UPDATE effect SET note = note || '3'"), 1);
    transaction.execute("UPDATE effect SET note = note || '4'");
    EXPECT_EQ(transaction.query("SELECT note FROM effect"), (Rows{{std::string("1234")}}));
  });
}

TEST_P(Transactions, ValuesComeBackAsTheyWent) {
  under_->reader().run(GetParam().capabilities.typed_columns
                           ? "CREATE TABLE kinds (i bigint, d double precision, t text, b bytea, n text)"
                           : "CREATE TABLE kinds (i integer, d real, t text, b blob, n text)");
  const std::string bytes("\0\xFF\\x\n\0", 6);
  const std::string text = "k\xC3\xA4se \xE2\x82\xAC \xF0\x9F\x90\x8C 'quoted' \\ $1";
  in_unit([&](Transaction& transaction) {
    transaction.execute("INSERT INTO kinds VALUES ($1, $2, $3, $4, $5)", std::numeric_limits<std::int64_t>::min(), -0.1,
                        text, Blob{bytes}, nullptr);
    const Rows rows = transaction.query("SELECT i, d, t, b, n FROM kinds");
    EXPECT_EQ(rows, (Rows{{std::numeric_limits<std::int64_t>::min(), -0.1, text, OwnedBlob{bytes}, std::monostate{}}}));
    transaction.execute("UPDATE kinds SET i = $1, d = $2, t = $3, b = $4, n = $5",
                        std::numeric_limits<std::int64_t>::max(), 1e300, "", Blob{""}, std::optional<std::string>());
    EXPECT_EQ(transaction.query("SELECT i, d, t, b, n FROM kinds"),
              (Rows{{std::numeric_limits<std::int64_t>::max(), 1e300, std::string(), OwnedBlob{}, std::monostate{}}}));
  });
}

TEST_P(Transactions, BooleansAndTimesEqualThemselves) {
  under_->reader().run(GetParam().capabilities.typed_columns
                           ? "CREATE TABLE moments (name text, yes boolean, at timestamptz)"
                           : "CREATE TABLE moments (name text, yes integer, at integer)");
  const Timestamp now{1'700'000'000'123'456us};
  const Timestamp early{-1us};
  in_unit([&](Transaction& transaction) {
    transaction.execute("INSERT INTO moments VALUES ('now', $1, $2), ('early', $3, $4)", true, now, false, early);
    EXPECT_EQ(transaction.query("SELECT name FROM moments WHERE yes = $1 AND at = $2", true, now),
              (Rows{{std::string("now")}}));
    EXPECT_EQ(transaction.query("SELECT name FROM moments WHERE at < $1", now), (Rows{{std::string("early")}}));
  });
}

TEST_P(TypedTransactions, TypedValuesComeBackAsTheyWent) {
  under_->reader().run("CREATE TABLE kinds (yes boolean, at timestamptz, small smallint, f real)");
  const Timestamp now{1'700'000'000'123'456us};
  in_unit([&](Transaction& transaction) {
    transaction.execute("INSERT INTO kinds VALUES ($1, $2, 7, 0.5)", true, now);
    EXPECT_EQ(transaction.query("SELECT yes, NOT yes, at, small, f FROM kinds"),
              (Rows{{true, false, now, std::int64_t{7}, 0.5}}));
  });
}

TEST_P(TypedTransactions, TextTakesTheTypeOfItsColumn) {
  under_->reader().run("CREATE TABLE kinds (u uuid, n numeric(20, 4), j jsonb, d date, i integer)");
  in_unit([&](Transaction& transaction) {
    transaction.execute("INSERT INTO kinds VALUES ($1, $2, $3, $4, $5)", "6e9bca2c-6a31-4d0f-9e29-0f8c0c5ad3a1",
                        "12345678901234.5678", R"({"a": [1, 2]})", "2024-02-29", 7);
    EXPECT_EQ(transaction.query("SELECT u, n, j, d, i FROM kinds"),
              (Rows{{std::string("6e9bca2c-6a31-4d0f-9e29-0f8c0c5ad3a1"), std::string("12345678901234.5678"),
                     std::string(R"({"a": [1, 2]})"), std::string("2024-02-29"), std::int64_t{7}}}));
  });
}

TEST_P(Transactions, InsertOnceSaysWhetherTheRowIsNewAndTheTransactionGoesOn) {
  under_->reader().run("CREATE TABLE once (id text PRIMARY KEY, note text)");
  in_unit([](Transaction& transaction) {
    EXPECT_EQ(transaction.insert_once("INSERT INTO once VALUES ($1, $2)", "a", "first"), Inserted::inserted);
    EXPECT_EQ(transaction.insert_once("INSERT INTO once VALUES ($1, $2)", "a", "second"), Inserted::already);
    EXPECT_EQ(transaction.insert_once("INSERT INTO once (id) SELECT $1", "b"), Inserted::inserted);
    transaction.execute("INSERT INTO effect (message) VALUES ('after')");
  });
  EXPECT_EQ(under_->effects(), 1);
  EXPECT_EQ(under_->reader().value("SELECT note FROM once WHERE id = 'a'"), "first");
}

TEST_P(Transactions, InsertOnceStillReportsWhatIsNotADuplicate) {
  under_->reader().run("CREATE TABLE once (id text PRIMARY KEY, amount integer NOT NULL CHECK (amount > 0))");
  EXPECT_EQ(fault_in_unit(
                [](Transaction& transaction) { transaction.insert_once("INSERT INTO once VALUES ($1, $2)", "a", -1); }),
            FaultCode::constraint_violated);
}

TEST_P(Transactions, ConstraintsOfEveryKindAreReportedAsSuch) {
  under_->reader().run("CREATE TABLE parent (id integer PRIMARY KEY, amount integer NOT NULL CHECK (amount > 0))");
  under_->reader().run("INSERT INTO parent VALUES (1, 1)");
  for (const char* const statement : {"INSERT INTO parent VALUES (1, 1)", "INSERT INTO parent VALUES (2, NULL)",
                                      "INSERT INTO parent VALUES (3, 0)"}) {
    EXPECT_EQ(fault_in_unit([&](Transaction& transaction) { transaction.execute(statement); }),
              FaultCode::constraint_violated)
        << statement;
  }
}

TEST_P(Transactions, FaultOfAConstraintDoesNotShowTheValues) {
  under_->reader().run("CREATE TABLE secrets (id text PRIMARY KEY)");
  auto unit = begin();
  unit->whole().execute("INSERT INTO secrets VALUES ($1)", "4111111111111111");
  unit->whole().execute("INSERT INTO secrets VALUES ($1)", "4111111111111111");
  try {
    unit->commit();
    FAIL() << "the constraint did not hold";
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.fault(), FaultCode::constraint_violated);
    EXPECT_EQ(std::string_view(fault.what()).find("4111111111111111"), std::string_view::npos) << fault.what();
    EXPECT_FALSE(fault.store_code().empty());
  }
}

TEST_P(Transactions, RelationIsReadLikeATable) {
  under_->reader().run(GetParam().capabilities.typed_columns
                           ? "CREATE TABLE copies (i bigint, t text, b bytea, at timestamptz)"
                           : "CREATE TABLE copies (i integer, t text, b blob, at integer)");
  const std::string bytes("\0\xFF", 2);
  const std::array<std::int64_t, 3> integers{1, -2, 3'000'000'000};
  const std::array<std::string_view, 3> texts{"one", "", "thr\xC3\xA9\xC3\xA9"};
  const std::array<Blob, 3> blobs{Blob{bytes}, Blob{""}, Blob{"x"}};
  const std::array<Timestamp, 3> times{Timestamp{0us}, Timestamp{1us}, Timestamp{1'700'000'000'123'456us}};
  const std::array<Column, 4> columns{Column{"i", integers}, Column{"t", texts}, Column{"b", blobs},
                                      Column{"at", times}};
  in_unit([&](Transaction& transaction) {
    transaction.execute_over({"messages", columns}, "INSERT INTO copies SELECT i, t, b, at FROM messages");
    EXPECT_EQ(transaction.query("SELECT i, t, b FROM copies ORDER BY i"),
              (Rows{{std::int64_t{-2}, std::string(), OwnedBlob{}},
                    {std::int64_t{1}, std::string("one"), OwnedBlob{bytes}},
                    {std::int64_t{3'000'000'000}, std::string("thr\xC3\xA9\xC3\xA9"), OwnedBlob{"x"}}}));
    EXPECT_EQ(transaction.query("SELECT i FROM copies WHERE at = $1", times[2]), (Rows{{std::int64_t{3'000'000'000}}}));
  });
}

TEST_P(Transactions, StatementOverARelationMayHaveTablesOfItsOwn) {
  const std::array<std::string_view, 3> texts{"a", "b", "c"};
  const std::array<Column, 1> columns{Column{"t", texts}};
  in_unit([&](Transaction& transaction) {
    transaction.execute_over(
        {"messages", columns},
        "WITH most AS (SELECT t FROM messages WHERE t <> 'b') INSERT INTO effect (message) SELECT t FROM most");
    transaction.execute_over(
        {"messages", columns},
        "  -- said again\n with x(t) AS (SELECT 'd') "
        "INSERT INTO effect (message) SELECT t FROM x UNION ALL SELECT t FROM messages WHERE t = 'b'");
  });
  EXPECT_EQ(under_->effects(), 4);
}

TEST_P(Transactions, RecursionOverARelationIsRefused) {
  const std::array<std::int64_t, 1> integers{1};
  const std::array<Column, 1> columns{Column{"i", integers}};
  auto unit = begin();
  EXPECT_THROW(
      {
        unit->whole().execute_over({"messages", columns},
                                   "WITH RECURSIVE r AS (SELECT 1) INSERT INTO effect (message) SELECT 'x' FROM r");
        unit->flush();
      },
      Fault);
}

TEST_P(Transactions, EmptyRelationHasNoRows) {
  const std::array<Column, 1> columns{Column{"t", std::span<const std::string_view>()}};
  in_unit([&](Transaction& transaction) {
    transaction.execute_over({"messages", columns}, "INSERT INTO effect (message) SELECT t FROM messages");
  });
  EXPECT_EQ(under_->effects(), 0);
}

TEST_P(Transactions, RelationWinsOverATableOfTheSameName) {
  under_->reader().run("CREATE TABLE messages (t text)");
  under_->reader().run("INSERT INTO messages VALUES ('from the table')");
  const std::array<std::string_view, 1> texts{"from the batch"};
  const std::array<Column, 1> columns{Column{"t", texts}};
  in_unit([&](Transaction& transaction) {
    transaction.execute_over({"messages", columns}, "INSERT INTO effect (message) SELECT t FROM messages");
  });
  EXPECT_EQ(under_->reader().value("SELECT message FROM effect"), "from the batch");
}

TEST_P(Transactions, RelationOfTenThousandRowsIsOneStatement) {
  std::vector<std::int64_t> integers(10'000);
  for (std::size_t at = 0; at < integers.size(); ++at) integers[at] = static_cast<std::int64_t>(at);
  const std::array<Column, 1> columns{Column{"i", integers}};
  const std::uint64_t before = store_->counters().round_trips;
  in_unit([&](Transaction& transaction) {
    transaction.execute_over({"numbers", columns}, "INSERT INTO effect (message) SELECT CAST(i AS text) FROM numbers");
  });
  EXPECT_EQ(under_->effects(), 10'000);
  EXPECT_LE(store_->counters().round_trips, before + 1);
}

TEST_P(Transactions, TextThatIsNotTextIsRefused) {
  for (const std::string& text : {std::string("nul\0inside", 10), std::string("\xC3\x28")}) {
    auto unit = begin();
    EXPECT_THROW(
        {
          unit->whole().execute("INSERT INTO effect (message) VALUES ($1)", text);
          unit->commit();
        },
        Fault);
  }
  EXPECT_EQ(under_->effects(), 0);
}

TEST_P(Transactions, StatementSurvivesAChangeOfItsTable) {
  in_unit([](Transaction& transaction) {
    transaction.execute("INSERT INTO effect (message) VALUES ('a')");
    transaction.query("SELECT * FROM effect");
  });
  under_->reader().run("ALTER TABLE effect ADD COLUMN extra text");
  transact(*store_, enrolled_, {},
           [&](UnitOfWork& unit) { EXPECT_EQ(unit.whole().query("SELECT * FROM effect").at(0).size(), 3u); });
}

}  // namespace
}  // namespace onceward
