#include <fmt/format.h>

#include "src/declaration/consumer.h"
#include "src/declaration/no_identity.h"
#include "src/declaration/suggestion.h"
#include "src/declaration/text.h"

namespace onceward::declaration {

// Static and not in an unnamed namespace, where into<>() would not find an overload of read().

constexpr std::string_view identity_hint =
    "message_id, event_id, command_id, idempotency_key, aggregate_version, { header = \"...\" } or { pointer = \"/...\" }";

struct Locator {
  std::optional<std::string> header;
  std::optional<std::string> pointer;
};

static void read(Reading& reading, const Item& item, std::optional<std::string>& value) {
  read(reading, item, value.emplace());
}

constexpr Key<Locator> locator_keys[] = {{"header", into<&Locator::header>}, {"pointer", into<&Locator::pointer>}};

static void read_word(Reading& reading, const Item& item, std::string_view word, IdentitySource& source) {
  if (word == "aggregate_version") {
    source = FromAggregate{};
  } else if (const auto member = choice_named<FromEnvelope::Member>(word)) {
    source = FromEnvelope{*member};
  } else if (const auto* kind = no_identity_named(word)) {
    reading.mistake(item, fmt::format("{} {}", in_quotes(word), explain(*kind)), way_out(*kind));
  } else {
    std::vector<std::string_view> known = words<FromEnvelope::Member>();
    known.push_back("aggregate_version");
    const auto meant = nearest(word, known);
    reading.mistake(item, fmt::format("{} is no identity that a message has", in_quotes(word)),
                    meant ? suggest(word, known) : std::string(identity_hint));
  }
}

static void read(Reading& reading, const Item& item, IdentitySource& source) {
  if (const auto* word = std::get_if<std::string>(&item.node.value)) return read_word(reading, item, *word, source);
  const auto* table = std::get_if<Table>(&item.node.value);
  if (table == nullptr) return reading.wrong_kind(item, "one identity", identity_hint);
  Locator locator;
  read_table(reading, item, locator_keys, locator);
  if (table->entries.empty() || (locator.header && locator.pointer))
    reading.mistake(item, "not exactly one of header and pointer", std::string(identity_hint));
  else if (locator.header)
    source = FromHeader{*locator.header};
  else if (locator.pointer)
    source = FromPayload{*locator.pointer};
}

constexpr Key<HashPolicy> hash_keys[] = {{"canonical_json", into<&HashPolicy::canonical_json>},
                                         {"volatile", into<&HashPolicy::volatile_fields>}};

static void read(Reading& reading, const Item& item, HashPolicy& hash) {
  constexpr std::string_view hint = "\"bytes\" or { canonical_json = true, volatile = [\"/sentAt\"] }";
  if (const auto* word = std::get_if<std::string>(&item.node.value)) {
    if (*word != "bytes") reading.mistake(item, fmt::format("{} is no hash", in_quotes(*word)), std::string(hint));
    return;
  }
  read_table(reading, item, hash_keys, hash);
}

constexpr Key<OperationPolicy> operation_keys[] = {{"name", into<&OperationPolicy::name>},
                                                   {"key", into<&OperationPolicy::key>}};

static void read(Reading& reading, const Item& item, std::optional<OperationPolicy>& operation) {
  read_table(reading, item, operation_keys, operation.emplace());
}

static void read_tenant(Reading& reading, const Item& item, IdentityPolicy& identity) {
  constexpr Key<IdentityPolicy> tenant_keys[] = {{"header", into<&IdentityPolicy::tenant_header>}};
  if (std::holds_alternative<std::string>(item.node.value)) return read(reading, item, identity.tenant);
  read_table(reading, item, tenant_keys, identity);
  if (const auto* table = std::get_if<Table>(&item.node.value); table && table->entries.empty())
    reading.mistake(item, "names no header", "a constant, or { header = \"tenant\" }");
}

static void read_missing_id(Reading& reading, const Item& item, IdentityPolicy& identity) {
  constexpr std::string_view known[] = {"refuse", "operation_key"};
  const std::string* word = string_in(reading, item, "\"refuse\" or \"operation_key\"");
  if (word == nullptr) return;
  identity.missing_id_uses_operation = *word == known[1];
  if (*word != known[0] && *word != known[1]) no_such_choice(reading, item, *word, "answer to a missing id", known);
}

constexpr Key<IdentityPolicy> identity_keys[] = {
    {"message_id", into<&IdentityPolicy::message_id>},
    {"producer", into<&IdentityPolicy::producer>},
    {"tenant", read_tenant},
    {"scheme", into<&IdentityPolicy::scheme>},
    {"hash", into<&IdentityPolicy::hash>},
    {"operation", into<&IdentityPolicy::operation>},
    {"missing_id", read_missing_id},
};

void read(Reading& reading, const Item& item, IdentityPolicy& identity) {
  read_table(reading, item, identity_keys, identity);
}

}  // namespace onceward::declaration
