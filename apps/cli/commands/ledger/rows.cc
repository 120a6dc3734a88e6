#include "apps/cli/commands/ledger/rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "apps/cli/commands/inbox/rows.h"
#include "apps/cli/options.h"
#include "src/common/hex.h"

namespace onceward::cli {
namespace {

using Json = nlohmann::ordered_json;

Json hash_or_none(const std::string& bytes) {
  if (bytes.empty()) return nullptr;
  return to_hex({reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()});
}

Json attempt_json(const records::CallAttempt& attempt) {
  return {{"number", attempt.number},
          {"kind", attempt.kind},
          {"who", attempt.who},
          {"began_at", json_of(std::optional(attempt.began_at))},
          {"ended_at", json_of(attempt.ended_at)},
          {"outcome", attempt.outcome},
          {"status", attempt.status},
          {"response_hash", hash_or_none(attempt.response_hash)},
          {"external_ref", attempt.external_ref},
          {"detail", attempt.detail}};
}

Json audit_json(const records::CallAudit& audit) {
  Json detail = Json::parse(audit.detail, nullptr, false);
  return {{"at", json_of(std::optional(audit.at))},
          {"who", audit.who},
          {"action", audit.action},
          {"why", audit.why},
          {"detail", detail.is_discarded() ? Json(audit.detail) : std::move(detail)}};
}

}  // namespace

Json json_of(const records::LedgerRow& row) {
  return {{"number", row.number},
          {"created_at", json_of(std::optional(row.created_at))},
          {"state", name(row.state)},
          {"endpoint", row.endpoint},
          {"key", row.key},
          {"attempts", row.attempts},
          {"due_at", json_of(row.due_at)},
          {"code", row.code},
          {"external_ref", row.external_ref},
          {"detail", row.detail},
          {"type", row.type},
          {"business_key", row.business_key},
          {"not_before", json_of(row.not_before)},
          {"look_ups", row.look_ups},
          {"first_attempt_at", json_of(row.first_attempt_at)},
          {"attempted_at", json_of(row.attempted_at)},
          {"ended_at", json_of(row.ended_at)},
          {"response_hash", hash_or_none(row.response_hash)},
          {"requested_by", requester(row)},
          {"decided_by", row.decided_by},
          {"approved_until", json_of(row.approved_until)},
          {"owner", row.owner},
          {"tenant", row.tenant},
          {"correlation_id", row.correlation_id},
          {"trace_parent", row.trace_parent},
          {"consumer", row.consumer},
          {"cause", json_of(row.cause)},
          {"body_bytes", row.body_bytes}};
}

std::vector<Json> json_of(const std::vector<records::LedgerRow>& rows) {
  std::vector<Json> all;
  for (const records::LedgerRow& row : rows) all.push_back(json_of(row));
  return all;
}

Json json_of(const records::LedgerCall& call) {
  Json record = json_of(call.row);
  record["cause_producer"] = call.cause ? Json(call.cause->producer) : Json(nullptr);
  record["cause_id"] = call.cause ? Json(call.cause->id) : Json(nullptr);
  record["history"] = Json::array();
  for (const records::CallAttempt& attempt : call.attempts) record["history"].push_back(attempt_json(attempt));
  record["audit"] = Json::array();
  for (const records::CallAudit& audit : call.audit) record["audit"].push_back(audit_json(audit));
  return record;
}

void add_filter_options(CLI::App& command, records::LedgerFilter& filter,
                        const std::vector<records::CallState>& states) {
  std::vector<std::string_view> names;
  for (const records::CallState state : states) names.push_back(name(state));
  const std::string choice = fmt::format("{}", fmt::join(names, ", "));
  command.add_option_function<std::string>(
      "--state",
      [&filter, states, choice](const std::string& text) {
        const auto state = records::call_state_named(text);
        if (!state || std::ranges::find(states, *state) == states.end()) {
          throw CLI::ValidationError("--state", "is one of " + choice);
        }
        filter.states = {*state};
      },
      "Only in this state: " + choice);
  command.add_option("--endpoint", filter.endpoint, "Only to this endpoint");
  command.add_option("--key", filter.key, "Only under this idempotency key");
  command.add_option("--business-key", filter.business_key, "Only with this business key");
  add_time_option(command, "--since", filter.since, "Asked for then or later");
  add_time_option(command, "--until", filter.until, "Asked for before");
}

}  // namespace onceward::cli
