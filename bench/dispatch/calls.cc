#include "bench/dispatch/calls.h"

#include <algorithm>
#include <stdexcept>

namespace onceward::bench {
namespace {

constexpr std::string_view endpoint_name = "bench";

std::uint64_t number_in(const Row& row, std::size_t at) {
  return static_cast<std::uint64_t>(std::get<std::int64_t>(row.at(at)));
}

}  // namespace

EndpointDeclaration declared(const CallOptions& options) {
  EndpointDeclaration declaration;
  declaration.name = endpoint_name;
  declaration.url = options.url;
  declaration.concurrency = options.concurrency;
  declaration.idempotent = options.kind == CalledKind::idempotent;
  if (declaration.idempotent) declaration.key_lifetime = std::chrono::hours(24);
  if (options.kind == CalledKind::fresh) declaration.look_up = LookUpDeclaration{.url = options.url + "/{key}"};
  return declaration;
}

void stage_calls(Store& store, const Workload& work, std::span<const Index> messages, std::size_t batch) {
  for (; !messages.empty(); messages = messages.subspan(std::min(batch, messages.size()))) {
    const auto unit = store.begin({});
    for (const Index index : messages.first(std::min(batch, messages.size()))) {
      const Message& message = work.messages[index];
      unit->whole().stage(Call{.endpoint = endpoint_name, .key = message.id, .body = message.outgoing});
    }
    if (unit->commit() != Commit::committed) throw std::runtime_error("the calls could not be staged");
  }
}

LedgerCount count_ledger(Store& store) {
  const bool postgres = store.dialect() == Dialect::postgres;
  const auto look = store.look();
  const Rows rows =
      look->query(postgres ? "SELECT (SELECT count(*) FROM onceward.ledger),"
                             " (SELECT count(*) FROM onceward.ledger WHERE state = 'succeeded'),"
                             " (SELECT count(*) FROM onceward.ledger_attempt),"
                             " (SELECT count(*) FROM onceward.ledger_attempt WHERE outcome = 'succeeded')"
                           : "SELECT (SELECT count(*) FROM onceward_ledger),"
                             " (SELECT count(*) FROM onceward_ledger WHERE state = 'succeeded'),"
                             " (SELECT count(*) FROM onceward_ledger_attempt),"
                             " (SELECT count(*) FROM onceward_ledger_attempt WHERE outcome = 'succeeded')");
  const Row& row = rows.at(0);
  return {number_in(row, 0), number_in(row, 1), number_in(row, 2), number_in(row, 3)};
}

}  // namespace onceward::bench
