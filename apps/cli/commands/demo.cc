// The smallest true thing: one payment delivered three times, once with other content, and one row to show for it. What
// happened is read back with plain SQL, by another connection.
#include <fmt/format.h>
#include <sqlite3.h>

#include <array>
#include <cstdlib>
#include <filesystem>

#include "apps/cli/command.h"
#include "onceward/adapter/sqlite.h"

namespace onceward::cli {
namespace {

Declaration payments() {
  Declaration declaration;
  declaration.name = "payments";
  declaration.owner = "payments-team";
  return declaration;
}

Envelope payment(std::string_view payload) {
  EnvelopeFields fields;
  fields.producer = Producer("checkout");
  fields.message_id = MessageId("b5f2c6de-6d14-4a6e-9f8e-0c1d2e3f4a5b");
  fields.event_type = EventType("PaymentCaptureRequested");
  fields.payload = payload;
  return Envelope::copy_of(fields);
}

void deliver(Store& store, const Declaration& declaration, const Enrolled& consumer, const Envelope& message) {
  const std::array claimants{std::get<Claimant>(identify(message, declaration))};
  const auto answers = transact(store, consumer, RetryLimit{}, [&](UnitOfWork& unit) {
    unit.claim(claimants);
    if (unit.first(0)) {
      unit.on(0).execute("INSERT INTO payment (id, body) VALUES ($1, $2)", message.message_id(), message.payload());
      unit.on(0).stage(Outgoing{"payment.captured", "invoice-7", message.payload()});
    } else if (unit.answers()[0].verdict == Verdict::conflict) {
      unit.park(claimants[0], "conflict", "same id, other content");
    }
  });
  fmt::print("  delivered {}  ->  {}\n", message.payload(), name(answers[0].verdict));
}

int count(sqlite3* database, const char* table) {
  sqlite3_stmt* statement = nullptr;
  sqlite3_prepare_v2(database, fmt::format("SELECT count(*) FROM {}", table).c_str(), -1, &statement, nullptr);
  const int rows = sqlite3_step(statement) == SQLITE_ROW ? sqlite3_column_int(statement, 0) : -1;
  sqlite3_finalize(statement);
  return rows;
}

bool prove(const std::string& path) {
  sqlite3* database = nullptr;
  sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READONLY, nullptr);
  bool holds = true;
  fmt::print("\nPROOF\n");
  for (const auto& [what, table] : {std::pair{"payments applied", "payment"},
                                    {"messages remembered", "onceward_inbox"},
                                    {"messages to publish", "onceward_outbox"},
                                    {"conflicts set aside", "onceward_quarantine"}}) {
    const int rows = count(database, table);
    fmt::print("  {:<20} {:>2}  expected 1  {}\n", what, rows, rows == 1 ? "ok" : "WRONG");
    holds = holds && rows == 1;
  }
  sqlite3_close(database);
  return holds;
}

void demo(Session& session) {
  std::string folder = (std::filesystem::temp_directory_path() / "onceward-demo-XXXXXX").string();
  if (!mkdtemp(folder.data())) throw std::runtime_error("no temporary directory can be made in " + folder);
  SqliteOptions options;
  options.path = folder + "/demo.db";
  {
    const auto store = open_sqlite(options);
    store->migrate();
    const Declaration declaration = payments();
    const Enrolled consumer = store->enroll(declaration);
    transact(*store, consumer, RetryLimit{}, [](UnitOfWork& unit) {
      unit.whole().execute("CREATE TABLE payment (id TEXT NOT NULL, body TEXT NOT NULL)");
    });
    fmt::print("One message, delivered three times, the last time with other content:\n\n");
    for (const char* body : {R"({"amount":250})", R"({"amount":250})", R"({"amount":999})"}) {
      deliver(*store, declaration, consumer, payment(body));
    }
  }
  if (!prove(options.path)) session.ending = Exit::error;
  std::filesystem::remove_all(folder);
}

}  // namespace

void add_demo(CLI::App& parent, Session& session) {
  add_command(parent, "demo", "Delivers one message three times and shows that it was applied once", "onceward demo")
      ->callback([&session] { demo(session); });
}

}  // namespace onceward::cli
