// What a consumer must be for the store to keep its offsets.
#include "src/declaration/rules.h"

namespace onceward::declaration {

void check_offsets(const Declaration& declaration, Findings& findings) {
  const Path path("offsets");
  if (declaration.offsets != Offsets::store) {
    if (declaration.trust_producer)
      findings.add(Path("trust_producer"), "nothing rests on it: ids are checked",
                   "leave it out, or declare offsets = \"store\" too", {path});
    return;
  }
  if (!declaration.trust_producer)
    findings.add(path, "with \"store\" no id is checked: what is published twice is applied twice",
                 "declare trust_producer = true if that never happens or does no harm, else leave offsets out",
                 {Path("trust_producer")});
  if (declaration.order != Order::partition)
    findings.add(path, "a position passes whatever lies before it, so messages must be applied in their order",
                 "declare order = \"partition\" too", {Path("order")});
  if (!declaration.source.empty() && !declaration.source.starts_with("kafka://"))
    findings.add(path, "the source has no positions", "only kafka:// has; leave offsets out", {Path("source")});
  if (declaration.identity.operation)
    findings.add(path, "an operation key is checked in the inbox, which \"store\" does without",
                 "leave out identity.operation, or offsets", {Path("identity")});
  if (declaration.identity.scheme != KeyScheme::hash)
    findings.add(path, "keys are made of positions, which carry no time", "leave out identity.scheme, or offsets",
                 {Path("identity")});
}

}  // namespace onceward::declaration
