#include "bench/relay/backlog.h"

#include <fmt/format.h>

#include <algorithm>

#include "bench/floor/outgoing.h"
#include "bench/floor/wire.h"

namespace onceward::bench {
namespace {

std::string stage_sql() {
  return fmt::format(
      "INSERT INTO onceward.outbox (staged_at, aggregate_version, id, type, key, aggregate_type, aggregate_id,"
      " correlation_id, causation_id, payload)"
      " SELECT '{}'::timestamptz, version, id, '{}', account, '{}', account, id, id, payload"
      " FROM (SELECT unnest($1::int8[]) AS version, unnest($2::text[]) AS id, unnest($3::text[]) AS account,"
      " unnest($4::bytea[]) AS payload) AS given",
      staged_time, outgoing_type, aggregate_type);
}

}  // namespace

void stage_backlog(const std::string& url, const Workload& work, std::span<const Index> messages, std::size_t batch) {
  Wire wire(url, Wire::Mode::plain);
  wire.prepare("stage", stage_sql().c_str());
  Array versions(Type::int8), ids(Type::text), accounts(Type::text), payloads(Type::bytea);
  for (; !messages.empty(); messages = messages.subspan(std::min(batch, messages.size()))) {
    for (Array* array : {&versions, &ids, &accounts, &payloads}) array->clear();
    for (const Index index : messages.first(std::min(batch, messages.size()))) {
      const Message& message = work.messages[index];
      versions.add(message.version);
      ids.add(message.id);
      accounts.add(message.account_key);
      payloads.add(message.outgoing);
    }
    wire.execute("stage", {versions.finished(), ids.finished(), accounts.finished(), payloads.finished()});
  }
}

}  // namespace onceward::bench
