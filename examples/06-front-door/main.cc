// The front door of a service of your own: whatever HTTP server you have hands over what it has read, and writes what it is told.
// A client that heard nothing asks again; the capture is made once, and both are given the same answer.
#include <onceward/adapter/sqlite.h>
#include <onceward/ingress.h>

#include <cstdio>
#include <string>

namespace once = onceward;

namespace {

// What your server does for POST /captures. The transaction also keeps the answer.
once::IngressAnswer capture(const once::IngressRequest& request, once::Transaction& transaction) {
  transaction.execute("INSERT INTO capture (body) VALUES ($1)", request.body);
  transaction.stage(once::Outgoing{"capture.requested", request.key, request.body});
  return {.status = 201, .body = R"({"capture":"accepted"})"};
}

// From your server's request to its response, once a connection of the store is at hand.
once::IngressAnswer serve(once::Ingress& ingress, const std::string& user, const std::string& key,
                          const std::string& body) {
  return ingress.serve({.principal = user, .operation = "POST /captures", .key = key, .body = body}, capture);
}

void show(const char* what, const once::IngressAnswer& answer) {
  std::printf("%s: %u%s %s\n", what, answer.status, answer.repeated ? " (again)" : "", answer.body.c_str());
}

}  // namespace

int main() {
  const char* const path = "front-door.db";
  std::remove(path);
  once::SqliteOptions options;
  options.path = path;
  const auto store = once::open_sqlite(options);
  store->migrate();
  {
    const auto unit = store->begin({});
    unit->whole().execute("CREATE TABLE capture (body TEXT)");
    if (unit->commit() != once::Commit::committed) return 1;
  }

  once::IngressTally tally;
  once::Ingress ingress(*store, tally);
  const auto first = serve(ingress, "shop", "order-17", R"({"amount":250})");
  const auto again = serve(ingress, "shop", "order-17", R"({"amount":250})");
  const auto other = serve(ingress, "shop", "order-17", R"({"amount":900})");
  show("first", first);
  show("again", again);
  show("other", other);

  const once::Rows rows = store->look()->query("SELECT count(*) FROM capture");
  const bool once_only = std::get<std::int64_t>(rows[0][0]) == 1;
  std::printf("captures: %s\n", once_only ? "1" : "not 1");
  return once_only && again.repeated && again.body == first.body && other.status == 422 ? 0 : 1;
}
