#include "src/declaration/rules.h"

#include <fmt/format.h>

#include <limits>
#include <set>
#include <utility>

#include "src/declaration/address.h"
#include "src/declaration/duration.h"
#include "src/declaration/text.h"

namespace onceward::declaration {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

void check_name_and_owner(const Declaration& declaration, Findings& findings) {
  const std::string& name = declaration.name;
  if (name.empty())
    findings.add(Path("name"), "is missing", "the name is part of every key: choose it once, e.g. name = \"payments\"");
  else if (const auto wrong = wrong_with_name(name))
    findings.add(Path("name"), *wrong, "it stands in keys, metrics and commands, e.g. payment-capture");
  if (declaration.owner.empty())
    findings.add(Path("owner"), "is missing",
                 "somebody is told when a message is refused, e.g. owner = \"payments-team@example.com\"");
  else if (const auto wrong = wrong_with_text(declaration.owner, most_text_bytes))
    findings.add(Path("owner"), *wrong, "a person, a team or an address");
}

void check_versions(const VersionRange& range, const Path& path, Findings& findings) {
  if (range.lowest < 0) findings.add(path, "the lowest version is negative", "versions are counted from 0", {path});
  if (range.lowest > range.highest)
    findings.add(path, fmt::format("the lowest version {} is above the highest {}", range.lowest, range.highest),
                 "write [lowest, highest]", {path});
}

void check_effect(const EffectDeclaration& effect, const Path& path, Findings& findings) {
  using Kind = EffectDeclaration::Kind;
  if (effect.name.empty())
    findings.add(path / "name", "is missing", "what the effect is called, e.g. name = \"payment-capture\"");
  else if (const auto wrong = wrong_with_name(effect.name))
    findings.add(path / "name", *wrong, "it stands in keys, metrics and commands, e.g. payment-capture");
  if (effect.kind == Kind::database && effect.irreversible)
    findings.add(path / "irreversible",
                 "an effect in the database is not irreversible: it commits or rolls back with the message",
                 "irreversible is what leaves the database: a call, a notification or an outgoing message",
                 {path / "kind"});
  if (effect.kind == Kind::notification && !effect.irreversible)
    findings.add(path / "irreversible", "nobody can take a notification back", "declare it irreversible = true",
                 {path / "kind"});
}

void check_effects(const std::vector<EffectDeclaration>& effects, const Path& path, Findings& findings) {
  if (effects.size() > most_effects)
    findings.add(path, fmt::format("{} effects, more than {}", effects.size(), most_effects),
                 "a consumer that does so much is several consumers");
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < effects.size(); ++i) {
    check_effect(effects[i], path[i], findings);
    if (!effects[i].name.empty() && !names.insert(effects[i].name).second)
      findings.add(path[i] / "name", fmt::format("{} is declared twice", in_quotes(effects[i].name)),
                   "give each effect a name of its own");
  }
}

void check_modes(const std::set<Mode>& modes, Findings& findings) {
  if (modes.empty())
    findings.add(Path("modes"), "the consumer accepts no mode", "modes = [\"live\"] is what most consumers want");
  if (modes.contains(Mode::rebuild) && modes.size() > 1)
    findings.add(
        Path("modes"), "rebuild stands beside other modes",
        "a rebuild fills a table of its own under a consumer of its own: declare that one with modes = [\"rebuild\"]",
        {Path("modes")});
}

void check_work(const Declaration& declaration, Findings& findings) {
  if (!declaration.sql.empty() && declaration.source.empty())
    findings.add_about_key(Path("sql"), "there is no source whose messages it could read",
                           "name the source too, e.g. source = \"embedded:payments.queue\"", {Path("source")});
  if (declaration.order == Order::key)
    findings.add(Path("order"), "order by key is not there yet", "leave it out, or take \"partition\"");
  if (declaration.gap) findings.add(Path("gap"), "gap policies are not there yet", "leave it out");
  findings.within(Path("workers"), declaration.workers, 1, 64,
                  "each has a connection of its own to the store and to the source");
  findings.within(Path("batch"),
                  std::in_range<std::int64_t>(declaration.batch) ? static_cast<std::int64_t>(declaration.batch)
                                                                 : std::numeric_limits<std::int64_t>::max(),
                  1, 10'000, "past a few thousand, more messages in one transaction bring no more speed");
}

void check_limits(const EnvelopeLimits& limits, const Path& path, Findings& findings) {
  const auto within = [&](std::string_view key, std::size_t value, std::int64_t least, std::int64_t most,
                          std::string_view reason) {
    findings.within(path / key,
                    std::in_range<std::int64_t>(value) ? static_cast<std::int64_t>(value)
                                                       : std::numeric_limits<std::int64_t>::max(),
                    least, most, reason);
  };
  within("message_bytes", limits.message_bytes, 1, 256 << 20,
         "larger bodies belong in object storage, their address in the message");
  within("id_bytes", limits.id_bytes, 16, 1024, "shorter cuts off UUIDs, longer does not fit an index");
  within("header_count", limits.header_count, 0, 1024, "headers are kept in memory for each message");
  within("header_bytes", limits.header_bytes, 0, 1 << 20, "headers are kept in memory for each message");
  within("depth", limits.depth, 1, 256, "each level costs the parser some stack");
}

}  // namespace

void Findings::within(const Path& path, std::int64_t value, std::int64_t least, std::int64_t most,
                      std::string_view reason) {
  if (least <= value && value <= most) return;
  add(path, fmt::format("{} is outside {} to {}", value, least, most), std::string(reason));
}

std::vector<Finding> find_in(const Declaration& declaration) {
  Findings findings;
  check_name_and_owner(declaration, findings);
  check_source_url(declaration.source, Path("source"), findings);
  check_identity(declaration.identity, declaration.limits.id_bytes, Path("identity"), findings);
  check_versions(declaration.schema_versions, Path("versions") / "schema", findings);
  check_versions(declaration.event_versions, Path("versions") / "event", findings);
  check_fields(declaration.fields, Path("fields"), findings);
  check_effects(declaration.effects, Path("effect"), findings);
  check_sql(declaration.sql, Path("sql"), findings);
  check_calls(declaration, Path("call"), findings);
  check_work(declaration, findings);
  check_offsets(declaration, findings);
  check_retry(declaration.retry, Path("retry"), findings);
  check_duration(Path("time_bound"), declaration.time_bound, milliseconds(1), hours(1),
                 "longer work does not belong in one transaction, and without a bound a loop would hold it", findings);
  check_modes(declaration.modes, findings);
  check_horizon(declaration.horizon, declaration.retry, Path("retention"), findings);
  check_limits(declaration.limits, Path("limits"), findings);
  return findings.all();
}

void check_duration(const Path& path, milliseconds value, milliseconds least, milliseconds most,
                    std::string_view reason, Findings& findings) {
  if (least <= value && value <= most) return;
  findings.add(
      path, fmt::format("{} is outside {} to {}", write_duration(value), write_duration(least), write_duration(most)),
      std::string(reason));
}

void check_retry(const RetryBudget& retry, const Path& path, Findings& findings) {
  findings.within(path / "attempts", retry.attempts, 1, 100,
                  "the first try counts; what has failed a hundred times belongs in quarantine");
  check_duration(path / "first_delay", retry.first_delay, milliseconds(1), hours(24),
                 "a retry at once meets the same trouble again", findings);
  check_duration(path / "longest_delay", retry.longest_delay, milliseconds(1), hours(24 * 7),
                 "what waits for more than a week belongs in quarantine", findings);
  if (retry.first_delay > retry.longest_delay)
    findings.add(path / "longest_delay",
                 fmt::format("{} is shorter than first_delay = {}", write_duration(retry.longest_delay),
                             write_duration(retry.first_delay)),
                 "delays grow from the first to the longest", {path / "first_delay"});
}

std::vector<Finding> find_in_admin(const AdminDeclaration& admin) {
  Findings findings;
  const Path path = Path("admin") / "listen";
  if (admin.host.empty()) findings.add(path, "is missing", std::string(listen_hint));
  return findings.all();
}

std::vector<Finding> find_in_shutdown(milliseconds drain) {
  Findings findings;
  check_duration(Path("shutdown") / "drain", drain, milliseconds(0), hours(1),
                 "who stops a process does not wait longer for it", findings);
  return findings.all();
}

std::vector<Finding> find_in_store(std::string_view url) {
  Findings findings;
  check_store_url(url, Path("store") / "url", findings);
  return findings.all();
}

}  // namespace onceward::declaration
