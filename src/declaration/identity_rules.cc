#include <fmt/format.h>

#include <set>

#include "src/declaration/no_identity.h"
#include "src/declaration/rules.h"
#include "src/declaration/text.h"

namespace onceward::declaration {
namespace {

using Member = FromEnvelope::Member;

constexpr std::string_view pointer_hint = "a JSON pointer (RFC 6901) into the payload, e.g. /order/id";

bool carries_time(KeyScheme scheme) { return scheme != KeyScheme::hash; }

void refuse(const NoIdentity& kind, std::string_view what, const Path& path, Findings& findings) {
  findings.add(path, fmt::format("{} {}", what, explain(kind)), way_out(kind));
}

void check_header(std::string_view header, const Path& path, Findings& findings) {
  if (const auto wrong = wrong_with_text(header, most_text_bytes))
    findings.add(path, fmt::format("the header's name {}", *wrong), "the name as the message has it, e.g. ce_id");
}

// For every identity: the message's own and the operation's.
void check_source(const IdentitySource& source, const Path& path, Findings& findings) {
  if (const auto* field = std::get_if<FromEnvelope>(&source); field && field->member == Member::business_key)
    refuse(*no_identity_named("business_key"), "the business key", path, findings);
  if (const auto* header = std::get_if<FromHeader>(&source)) {
    check_header(header->name, path / "header", findings);
    if (const auto* kind = no_identity_in_header(header->name))
      refuse(*kind, fmt::format("the header {}", in_quotes(header->name)), path / "header", findings);
  }
  if (const auto* payload = std::get_if<FromPayload>(&source)) {
    if (const auto wrong = wrong_with_pointer(payload->pointer))
      findings.add(path / "pointer", *wrong, std::string(pointer_hint));
    else if (const auto* kind = no_identity_at(payload->pointer))
      refuse(*kind, in_quotes(payload->pointer), path / "pointer", findings);
  }
}

// A constant is held to what an id of a message is held to, or every message would be refused for it.
void check_scope(const IdentityPolicy& identity, std::size_t most_id_bytes, const Path& path, Findings& findings) {
  const auto constant = [&](std::string_view key, const std::string& value) {
    if (value.empty()) return;
    if (const auto wrong = wrong_with_text(value, most_id_bytes))
      findings.add(path / key, *wrong, "it is part of every key, as an id is: limits.id_bytes, no spaces at its ends",
                   {Path("limits") / "id_bytes"});
  };
  constant("producer", identity.producer);
  constant("tenant", identity.tenant);
  if (!identity.tenant_header.empty()) check_header(identity.tenant_header, path / "tenant", findings);
  if (!identity.tenant.empty() && !identity.tenant_header.empty())
    findings.add(path / "tenant", "the tenant is both a constant and a header", "keep one of them");
}

// A volatile field may differ between two deliveries of one message; what names the message or the operation may not.
void check_volatile_covers(const HashPolicy& hash, const IdentitySource& source, std::string_view what,
                           const Path& path, Findings& findings) {
  const auto* payload = std::get_if<FromPayload>(&source);
  if (payload == nullptr) return;
  for (std::size_t i = 0; i < hash.volatile_fields.size(); ++i)
    if (pointer_covers(hash.volatile_fields[i], payload->pointer))
      findings.add(path[i], fmt::format("the volatile field covers {}", what),
                   "leave it in the hash: an identity does not change between deliveries");
}

void check_hash(const IdentityPolicy& identity, const Path& path, Findings& findings) {
  const HashPolicy& hash = identity.hash;
  const Path list = path / "volatile";
  if (!hash.volatile_fields.empty() && !hash.canonical_json)
    findings.add(list, "fields can be left out only of a canonical JSON hash",
                 "add canonical_json = true, or hash the exact bytes", {path / "canonical_json"});
  if (hash.volatile_fields.size() > most_volatile_fields)
    findings.add(list, fmt::format("{} fields, more than {}", hash.volatile_fields.size(), most_volatile_fields),
                 "name the object that holds them");
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < hash.volatile_fields.size(); ++i) {
    if (const auto wrong = wrong_with_pointer(hash.volatile_fields[i]))
      findings.add(list[i], *wrong, std::string(pointer_hint));
    if (!seen.insert(hash.volatile_fields[i]).second) findings.add(list[i], "is named twice", "name each field once");
  }
  check_volatile_covers(hash, identity.message_id, "the message id", list, findings);
  if (identity.operation) check_volatile_covers(hash, identity.operation->key, "the operation key", list, findings);
}

void check_operation(const OperationPolicy& operation, const Path& path, Findings& findings) {
  if (operation.name.empty())
    findings.add(path / "name", "is missing", "the operation is part of its key's scope, e.g. name = \"capture\"");
  else if (const auto wrong = wrong_with_name(operation.name))
    findings.add(path / "name", *wrong, "e.g. capture");
  check_source(operation.key, path / "key", findings);
  if (operation.key == IdentitySource(FromEnvelope{Member::message_id}))
    findings.add(path / "key", "the message id names the message, which is claimed already, and not the operation",
                 "idempotency_key, command_id, or the field that holds the request's own id");
}

void check_missing_id(const IdentityPolicy& identity, const Path& path, Findings& findings) {
  if (!identity.missing_id_uses_operation) return;
  if (!identity.operation)
    return findings.add(path, "no operation is declared that could stand in for a missing id",
                        "add operation = { name = \"...\", key = \"idempotency_key\" }, or missing_id = \"refuse\"",
                        {Path("identity") / "operation"});
  if (identity.operation->key == identity.message_id)
    findings.add(path, "the operation key is read from the place of the missing id",
                 "read them from two places, or say missing_id = \"refuse\"",
                 {Path("identity") / "operation", Path("identity") / "message_id"});
  if (carries_time(identity.scheme))
    findings.add(path, "an operation key carries no time, and the scheme takes its bucket from one",
                 "scheme = \"hash\", or missing_id = \"refuse\"", {Path("identity") / "scheme"});
}

}  // namespace

void check_identity(const IdentityPolicy& identity, std::size_t most_id_bytes, const Path& path, Findings& findings) {
  check_source(identity.message_id, path / "message_id", findings);
  check_scope(identity, most_id_bytes, path, findings);
  if (carries_time(identity.scheme) && std::holds_alternative<FromAggregate>(identity.message_id))
    findings.add(path / "scheme", "an aggregate's version carries no time, and the scheme takes its bucket from one",
                 "scheme = \"hash\"", {path / "message_id"});
  check_hash(identity, path / "hash", findings);
  if (identity.operation) check_operation(*identity.operation, path / "operation", findings);
  check_missing_id(identity, path / "missing_id", findings);
}

}  // namespace onceward::declaration
