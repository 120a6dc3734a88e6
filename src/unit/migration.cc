#include "src/unit/migration.h"

#include <fmt/format.h>

namespace onceward {

SchemaStatus status_of(int version, std::span<const Migration> steps) {
  SchemaStatus status{version, steps.back().number, {}};
  for (const Migration& step : steps) {
    if (step.number > version) status.pending.push_back(fmt::format("{:03} {}", step.number, step.name));
  }
  return status;
}

void refuse_newer(int version, std::span<const Migration> steps) {
  if (version <= steps.back().number) return;
  throw Fault(FaultCode::schema_newer, Poisons::connection,
              fmt::format("Onceward's tables are at version {}, this program knows {}: run a newer onceward", version,
                          steps.back().number));
}

void require_current(int version, std::span<const Migration> steps) {
  refuse_newer(version, steps);
  if (version == steps.back().number) return;
  throw Fault(FaultCode::schema_missing, Poisons::connection,
              fmt::format("Onceward's tables are at version {}, this program needs {}: run `onceward store migrate`",
                          version, steps.back().number));
}

}  // namespace onceward
