#include "apps/cli/commands/quarantine/rows.h"

#include "apps/cli/commands/inbox/rows.h"
#include "apps/cli/options.h"

namespace onceward::cli {

nlohmann::ordered_json json_of(const records::QuarantineRow& row) {
  return {{"number", row.number},
          {"parked_at", json_of(std::optional(row.parked_at))},
          {"consumer", row.consumer},
          {"reason", row.reason},
          {"state", name(row.state)},
          {"tenant", row.tenant},
          {"producer", row.producer},
          {"id", row.id},
          {"attempts", row.attempts},
          {"detail", row.detail},
          {"key", json_of(row.key)},
          {"retry_at", json_of(row.retry_at)},
          {"payload_bytes", row.payload_bytes}};
}

std::vector<nlohmann::ordered_json> json_of(const std::vector<records::QuarantineRow>& rows) {
  std::vector<nlohmann::ordered_json> all;
  for (const records::QuarantineRow& row : rows) all.push_back(json_of(row));
  return all;
}

void add_filter_options(CLI::App& command, records::QuarantineFilter& filter) {
  command.add_option("--consumer", filter.consumer, "Only of this consumer");
  command.add_option("--reason", filter.reason, "Only for this reason, e.g. conflict");
  add_text_option(command, "--tenant", filter.tenant, "Only of this tenant; \"\" for none");
  command.add_option("--producer", filter.producer, "Only of this producer");
  command.add_option("--id", filter.id, "Only with this message id");
  add_time_option(command, "--since", filter.since, "Parked then or later");
  add_time_option(command, "--until", filter.until, "Parked before");
}

}  // namespace onceward::cli
