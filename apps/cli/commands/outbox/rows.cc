#include "apps/cli/commands/outbox/rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "apps/cli/commands/inbox/rows.h"
#include "apps/cli/options.h"
#include "src/quarantine/dead_letter.h"
#include "src/records/backlogs.h"

namespace onceward::cli {
namespace {

nlohmann::ordered_json number_or_none(const std::optional<std::int64_t>& number) {
  if (!number) return nullptr;
  return *number;
}

// Of a dead letter without the message's own: those are as secret as its payload, and stand in the quarantine.
std::string shown_headers(const records::OutboxRow& row) {
  if (row.content_type != dead_letter_content_type) return row.headers;
  auto headers = nlohmann::ordered_json::parse(row.headers, nullptr, false);
  if (!headers.is_object()) return "";
  headers.erase(std::string(dead_letter_envelope_header));
  return headers.dump();
}

}  // namespace

nlohmann::ordered_json json_of(const records::OutboxRow& row) {
  return {{"number", row.number},
          {"staged_at", json_of(std::optional(row.staged_at))},
          {"state", name(row.state)},
          {"type", row.type},
          {"key", row.key},
          {"id", row.id},
          {"attempts", row.attempts},
          {"due_at", json_of(row.due_at)},
          {"reason", row.reason},
          {"detail", row.detail},
          {"entered_at", json_of(row.entered_at)},
          {"tenant", row.tenant},
          {"aggregate_type", row.aggregate_type},
          {"aggregate_id", row.aggregate_id},
          {"aggregate_version", number_or_none(row.aggregate_version)},
          {"event_version", number_or_none(row.event_version)},
          {"correlation_id", row.correlation_id},
          {"causation_id", row.causation_id},
          {"trace_parent", row.trace_parent},
          {"content_type", row.content_type},
          {"headers", shown_headers(row)},
          {"consumer", row.consumer},
          {"cause", json_of(row.cause)},
          {"payload_bytes", row.payload_bytes}};
}

std::vector<nlohmann::ordered_json> json_of(const std::vector<records::OutboxRow>& rows) {
  std::vector<nlohmann::ordered_json> all;
  for (const records::OutboxRow& row : rows) all.push_back(json_of(row));
  return all;
}

void add_filter_options(CLI::App& command, records::OutboxFilter& filter,
                        const std::vector<records::OutboxState>& states) {
  std::vector<std::string_view> names;
  for (const records::OutboxState state : states) names.push_back(name(state));
  const std::string choice = fmt::format("{}", fmt::join(names, ", "));
  command.add_option_function<std::string>(
      "--state",
      [&filter, states, choice](const std::string& text) {
        const auto state = records::outbox_state_named(text);
        if (!state || std::ranges::find(states, *state) == states.end()) {
          throw CLI::ValidationError("--state", "is one of " + choice);
        }
        filter.states = {*state};
      },
      "Only in this state: " + choice);
  command.add_option("--type", filter.type, "Only of this type, or of types that begin with this");
  add_text_option(command, "--key", filter.key, "Only with this key; \"\" for none");
  command.add_option("--id", filter.id, "Only with this message id");
  add_time_option(command, "--since", filter.since, "Staged then or later");
  add_time_option(command, "--until", filter.until, "Staged before");
}

std::string counted(Store& store, const records::OutboxFilter& filter) {
  const std::int64_t count = records::count_outbox(store, filter, records::most_counted);
  return count < records::most_counted ? fmt::format("{}", count)
                                       : fmt::format("more than {}", records::most_counted - 1);
}

}  // namespace onceward::cli
