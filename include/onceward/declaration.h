// The consumer declaration: one value that everything else reads. The worker runs it, doctor and review check it,
// retention and replay are refused by it. What is not declared gets the safe answer, not a guess.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "onceward/endpoint_declaration.h"
#include "onceward/envelope.h"
#include "onceward/log.h"
#include "onceward/retry_budget.h"

namespace onceward {

// Where an identity is read from. Offsets, delivery tags, times, correlation ids, row numbers and payload hashes
// cannot be written here: none of them names a message (docs/concepts/identity.md says why, for each).
struct FromEnvelope {
  enum class Member : std::uint8_t { message_id, event_id, command_id, idempotency_key, business_key };
  Member member = Member::message_id;
  friend bool operator==(const FromEnvelope&, const FromEnvelope&) = default;
};
struct FromHeader {
  std::string name;
  friend bool operator==(const FromHeader&, const FromHeader&) = default;
};
struct FromPayload {
  std::string pointer;  // RFC 6901, to a string or an integer
  friend bool operator==(const FromPayload&, const FromPayload&) = default;
};
struct FromAggregate {  // aggregate type, id and version together
  friend bool operator==(const FromAggregate&, const FromAggregate&) = default;
};
using IdentitySource = std::variant<FromEnvelope, FromHeader, FromPayload, FromAggregate>;

// How the key is made of the id. Stored with the consumer; changing it is refused, since every id would be new.
enum class KeyScheme : std::uint8_t { hash, uuidv7, ulid };

struct OperationPolicy {
  std::string name;  // the operation, e.g. "capture"; part of the key's scope
  IdentitySource key = FromEnvelope{FromEnvelope::Member::idempotency_key};
  friend bool operator==(const OperationPolicy&, const OperationPolicy&) = default;
};

struct HashPolicy {
  bool canonical_json = false;               // else the exact bytes
  std::vector<std::string> volatile_fields;  // JSON pointers left out of the canonical hash
  friend bool operator==(const HashPolicy&, const HashPolicy&) = default;
};

struct IdentityPolicy {
  IdentitySource message_id = FromEnvelope{};
  std::string producer;       // a constant that stands for the message's own; empty: the message must name it
  std::string tenant;         // a constant
  std::string tenant_header;  // or the header that names it; not both
  KeyScheme scheme = KeyScheme::hash;
  HashPolicy hash;
  std::optional<OperationPolicy> operation;
  // A message without an id is identified by its operation key; otherwise it is refused.
  bool missing_id_uses_operation = false;
  friend bool operator==(const IdentityPolicy&, const IdentityPolicy&) = default;
};

struct VersionRange {
  std::int64_t lowest = 0;
  std::int64_t highest = std::numeric_limits<std::int64_t>::max();
  bool required = false;  // a message without a version is refused
  bool holds(std::int64_t version) const { return lowest <= version && version <= highest; }
  friend bool operator==(const VersionRange&, const VersionRange&) = default;
};

enum class FieldType : std::uint8_t { text, int64, boolean, timestamp, uuid, bytes, decimal };
struct FieldDeclaration {
  std::string name;
  std::string pointer;
  FieldType type = FieldType::text;
  int scale = 0;  // of a decimal
  bool optional = false;
  friend bool operator==(const FieldDeclaration&, const FieldDeclaration&) = default;
};

struct EffectDeclaration {
  enum class Kind : std::uint8_t { database, outgoing, call, notification };
  std::string name;
  Kind kind = Kind::database;
  bool irreversible = false;
  friend bool operator==(const EffectDeclaration&, const EffectDeclaration&) = default;
};

enum class Order : std::uint8_t { none, partition, key };
enum class GapPolicy : std::uint8_t { accept_latest, wait, repair, fail };

// How far back a duplicate can come from. Nothing is purged before the longest of these has passed.
struct HorizonInputs {
  using Span = std::optional<std::chrono::seconds>;
  Span broker_retention, longest_retry, parking_age, replay_reach, oldest_backup, producer_retry, operation_lifetime,
      legal;
  friend bool operator==(const HorizonInputs&, const HorizonInputs&) = default;
};
enum class RetentionCategory : std::uint8_t { money, regulatory, notification, projection, telemetry, low_value };

// What says that a message was applied: a row of its id in the inbox, or its stream's position, moved in the transaction of
// its effect. The second trusts the producer: what it publishes twice is applied twice.
enum class Offsets : std::uint8_t { inbox, store };

// Whether the new messages of a batch share a transaction, as the messages of a serial worker share its session, or each
// has its own.
enum class TransactionScope : std::uint8_t { batch, each };

struct Declaration {
  std::string name;
  std::string owner;   // who is told when a message is refused
  std::string source;  // a URL; empty for a consumer in its caller's own transaction
  IdentityPolicy identity;
  VersionRange schema_versions;
  VersionRange event_versions;
  std::vector<FieldDeclaration> fields;
  std::vector<EffectDeclaration> effects;
  std::vector<std::string> sql;  // the handler, if it is SQL: one statement each
  std::vector<CallDeclaration> calls;
  TransactionScope transaction = TransactionScope::batch;
  int workers = 1;           // in each process
  std::size_t batch = 1000;  // the most messages of one transaction
  Order order = Order::none;
  Offsets offsets = Offsets::inbox;
  bool trust_producer = false;  // what Offsets::store asks for
  std::optional<GapPolicy> gap;
  RetryBudget retry;
  bool dead_letters = false;  // what is parked is staged, too, under dead_letter_type(name), and a route takes it
  std::chrono::milliseconds time_bound{30'000};
  std::set<Mode> modes{Mode::live};
  std::optional<RetentionCategory> category;
  HorizonInputs horizon;
  EnvelopeLimits limits;
  friend bool operator==(const Declaration&, const Declaration&) = default;
};

// What routes know the copies of what a consumer has parked by: "onceward.dead_letter." and its name.
std::string dead_letter_type(std::string_view consumer);

// Where staged messages of some types go. The first route that fits is taken.
struct RouteDeclaration {
  std::string name;                // for people, and for those who pause it
  std::vector<std::string> types;  // each exact, or with one '*' at its end
  std::string to;                  // a URL, as `onceward send` takes it
  std::string key;                 // "{key}", "{type}", or a text; empty: what `to` says, else "{key}"
  Order order = Order::none;       // or by key
  friend bool operator==(const RouteDeclaration&, const RouteDeclaration&) = default;
};
struct RelayDeclaration {
  std::string producer;  // the logical producer of every message that leaves
  RetryBudget retry{.attempts = 10,
                    .first_delay = std::chrono::seconds(1),
                    .longest_delay = std::chrono::minutes(5)};  // of a message that its broker refuses
  std::chrono::milliseconds lease{10'000};  // how long others wait for a relay that has fallen silent
  std::chrono::milliseconds poll{500};      // how often the outbox is looked at when nobody tells
  friend bool operator==(const RelayDeclaration&, const RelayDeclaration&) = default;
};

// A mistake, where it is, and what would be right. Of a declaration made in C++ there is no file and no line. No text
// repeats a value that may hold a secret.
struct Mistake {
  std::string file;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::string key;  // what it is about, as TOML names it, e.g. identity.message_id; empty: the file
  std::string message;
  std::string hint;
  friend bool operator==(const Mistake&, const Mistake&) = default;
};
std::string to_string(const Mistake& mistake);  // file:line:column: key: message (hint)
// For people: each with its hint on a line of its own, then their number; nothing for none.
std::string to_string(std::span<const Mistake> mistakes);

struct AdminDeclaration {
  std::string host;  // empty: no admin server
  std::uint16_t port = 0;
  friend bool operator==(const AdminDeclaration&, const AdminDeclaration&) = default;
};
struct LogDeclaration {
  enum class Format : std::uint8_t { automatic, json, text };
  Format format = Format::automatic;  // text on a terminal, else JSON
  LogLevel level = LogLevel::info;
  friend bool operator==(const LogDeclaration&, const LogDeclaration&) = default;
};

struct Application {
  std::string store;  // a URL: postgres://... or sqlite:path; empty: the environment or the command line names it
  std::vector<Declaration> consumers;
  RelayDeclaration relay;
  std::vector<RouteDeclaration> routes;
  std::vector<EndpointDeclaration> endpoints;
  IngressDeclaration ingress;
  AdminDeclaration admin;
  LogDeclaration log;
  std::chrono::milliseconds drain{30'000};  // how long a process that is told to stop finishes what it holds
};

// Reads a file's text. Every mistake is reported, not only the first; unknown keys are mistakes.
std::variant<Application, std::vector<Mistake>> read_application(std::string_view toml, std::string_view file_name);

// The mistakes of a declaration made in C++; the same rules, without lines.
std::vector<Mistake> check(const Declaration& declaration);

}  // namespace onceward
