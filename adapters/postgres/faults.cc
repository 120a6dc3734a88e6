#include "adapters/postgres/faults.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "src/common/uuid.h"
#include "src/unit/faults.h"

namespace onceward::postgres {
namespace {

struct Meaning {
  std::string_view prefix;  // of the SQLSTATE; the first that fits counts
  FaultCode fault;
  Poisons poisons;
  std::string_view advice;
};

constexpr std::array meanings{
    Meaning{"40001", FaultCode::lost_race, Poisons::transaction, "it is run again within its limit"},
    Meaning{"40P01", FaultCode::lost_race, Poisons::transaction, "a deadlock; it is run again within its limit"},
    Meaning{"40", FaultCode::lost_race, Poisons::transaction, "it is run again within its limit"},
    Meaning{"55P03", FaultCode::busy, Poisons::transaction,
            "another transaction holds the same key or row; look for one that stays open (pg_stat_activity)"},
    Meaning{"57014", FaultCode::timed_out, Poisons::transaction,
            "the statement passed its deadline; make it cheaper or raise statement_deadline"},
    Meaning{"57P0", FaultCode::store_unavailable, Poisons::connection, "the server is stopping or starting"},
    Meaning{"25P03", FaultCode::timed_out, Poisons::connection, "the transaction stood idle for too long"},
    Meaning{"08", FaultCode::store_unavailable, Poisons::connection, "check that the server is up and reachable"},
    Meaning{"53100", FaultCode::store_full, Poisons::transaction, "the server's disk is full: free space on it"},
    Meaning{"53300", FaultCode::store_full, Poisons::connection,
            "the server has no connection left: raise max_connections or run fewer workers"},
    Meaning{"53", FaultCode::store_full, Poisons::transaction, "the server lacks a resource; see its log"},
    Meaning{"54", FaultCode::statement_failed, Poisons::transaction, "a limit of the server was passed"},
    Meaning{"28", FaultCode::store_refused, Poisons::connection, "check the user, the password and pg_hba.conf"},
    Meaning{"3D000", FaultCode::store_refused, Poisons::connection, "create the database, or correct its name"},
    Meaning{"42501", FaultCode::store_refused, Poisons::transaction, "grant this user what it lacks"},
    Meaning{"25006", FaultCode::store_read_only, Poisons::connection, "connect to the primary, not to a standby"},
    Meaning{"23", FaultCode::constraint_violated, Poisons::transaction, "the row breaks a constraint of its table"},
    Meaning{"25P02", FaultCode::transaction_failed, Poisons::transaction, "an earlier statement had failed"},
    Meaning{"58030", FaultCode::store_unavailable, Poisons::connection, "the server cannot read or write its files"},
    Meaning{"XX00", FaultCode::store_corrupt, Poisons::connection, "see the server's log before anything else"},
};

constexpr Meaning any{"", FaultCode::statement_failed, Poisons::transaction, "correct the statement"};

const Meaning& meaning_of(std::string_view sqlstate) {
  for (const Meaning& meaning : meanings) {
    if (sqlstate.starts_with(meaning.prefix)) return meaning;
  }
  return any;
}

std::string field(const PGresult* result, int code) {
  const char* const text = PQresultErrorField(result, code);
  return text ? text : "";
}

// What the server says of itself, of connections and of a statement's own text. Others (data, constraints, whatever a
// function raises) may quote values in their message; names are enough to find the place.
constexpr std::string_view classes_without_values[] = {"08", "0A", "25", "26", "28", "34", "3D", "3F",
                                                       "40", "42", "53", "54", "55", "57", "58", "XX"};

// A function may raise any code with any text. The server names the source of its procedural language then.
bool raised_by_a_function(const PGresult* result) {
  const std::string source = field(result, PG_DIAG_SOURCE_FILE);
  constexpr std::string_view languages[] = {"pl_exec.c", "plpy_", "plperl.c", "pltcl.c"};
  return std::ranges::any_of(languages, [&](std::string_view language) { return source.starts_with(language); });
}

std::string describe(const PGresult* result, std::string_view sqlstate) {
  const std::string_view kind = sqlstate.substr(0, 2);
  const bool without_values = std::ranges::find(classes_without_values, kind) != std::end(classes_without_values);
  if (without_values && !raised_by_a_function(result)) {
    return field(result, PG_DIAG_MESSAGE_PRIMARY);
  }
  std::string place;
  for (const auto& [what, code] : {std::pair{"constraint", PG_DIAG_CONSTRAINT_NAME},
                                   {"table", PG_DIAG_TABLE_NAME},
                                   {"column", PG_DIAG_COLUMN_NAME}}) {
    if (const std::string name = field(result, code); !name.empty()) place += fmt::format(" {} \"{}\"", what, name);
  }
  if (without_values) return "raised by a function" + place;
  return (kind == "22" ? "a value does not fit its type" : kind == "23" ? "violated" : "raised by a function") + place;
}

// Our own tables are guarded by constraints whose violation has a meaning of its own.
std::optional<Fault> guarded(const PGresult* result, std::string_view sqlstate) {
  if (field(result, PG_DIAG_SCHEMA_NAME) != "onceward") return std::nullopt;
  const std::string table = field(result, PG_DIAG_TABLE_NAME);
  if (table == "ledger" && sqlstate == "23502") return call_conflict(std::string(sqlstate));
  if (table == "outbox_fact" && sqlstate == "23505") return fact_exists(std::string(sqlstate));
  return std::nullopt;
}

// Only the connection's own message has the SQLSTATE of a refused log-in: "FATAL:  28P01: ..." at verbosity VERBOSE.
std::string sqlstate_of_refusal(const std::string& message) {
  constexpr std::string_view before = ":  ", after = ": ";
  constexpr std::size_t length = 5;
  const auto of_a_code = [](char c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z'); };
  for (auto at = message.find(before); at != std::string::npos; at = message.find(before, at + 1)) {
    const std::string_view said = std::string_view(message).substr(at + before.size());
    const std::string_view code = said.substr(0, length);
    if (std::ranges::all_of(code, of_a_code) && said.substr(code.size()).starts_with(after)) return std::string(code);
  }
  return "";
}

// Without libpq's own account of where it connected to: ours stands before it.
std::string reason_of(std::string message) {
  if (const auto end = message.find('\n'); end != std::string::npos) message.resize(end);
  if (const auto said = message.find(" failed: "); said != std::string::npos) message.erase(0, said + 9);
  return message;
}

// What libpq says before it has asked anybody, without the value that it quotes: `invalid sslmode value: "..."`.
std::string refused_option(std::string_view message) {
  constexpr std::string_view begin = "invalid ";
  if (!message.starts_with(begin)) return "";
  std::string_view said = message.substr(0, message.find_first_of(":\"\n"));
  return std::string(said.substr(0, said.find_last_not_of(' ') + 1));
}

}  // namespace

Fault fault_of(const PGresult* result, Whose whose) {
  const std::string sqlstate = field(result, PG_DIAG_SQLSTATE);
  if (sqlstate.empty()) return no_answer("PostgreSQL");
  if (whose == Whose::ours && (sqlstate == "42P01" || sqlstate == "3F000" || sqlstate == "42703")) {
    return {FaultCode::schema_missing, Poisons::transaction,
            "Onceward's tables are not there, or are older than this program: run `onceward store migrate`", sqlstate};
  }
  if (whose == Whose::ours && sqlstate == "22012") {  // as queue_advances() has it; we divide nowhere else
    return {FaultCode::lost_race, Poisons::transaction, "a stream was moved or taken over meanwhile; it is run again",
            sqlstate};
  }
  if (whose == Whose::readers && sqlstate == "25006") return only_reads();
  if (const auto own = guarded(result, sqlstate)) return *own;
  const Meaning& meaning = meaning_of(sqlstate);
  return {meaning.fault, meaning.poisons,
          fmt::format("{} (SQLSTATE {}): {}", describe(result, sqlstate), sqlstate, meaning.advice), sqlstate};
}

// The detail begins with the key in either case: "Key (fact)=(<uuid>) ..." and "Failing row contains (<uuid>, ...".
std::optional<Key> staged_row_of(const PGresult* result) {
  if (!guarded(result, field(result, PG_DIAG_SQLSTATE))) return std::nullopt;
  constexpr std::size_t length = 36;
  const std::string detail = field(result, PG_DIAG_MESSAGE_DETAIL);
  for (auto at = detail.find('('); at != std::string::npos; at = detail.find('(', at + 1)) {
    if (const auto key = read_uuid(std::string_view(detail).substr(at + 1, length))) return Key{*key};
  }
  return std::nullopt;
}

Fault fault_of(PGconn* connection, const std::string& where) {
  const std::string message = PQerrorMessage(connection);
  // Said by libpq itself, before the server could: "fe_sendauth: no password supplied".
  const std::string sqlstate = PQconnectionNeedsPassword(connection) ? "28P01" : sqlstate_of_refusal(message);
  if (const std::string option = refused_option(message); !option.empty()) {
    return {FaultCode::store_refused, Poisons::connection,
            fmt::format("{}: {}: correct it in the store's URL or in the environment (PG...)", where, option)};
  }
  if (sqlstate.empty()) {
    return {FaultCode::store_unavailable, Poisons::connection,
            fmt::format("{}: {}: check that the server is up and reachable", where, reason_of(message))};
  }
  const Meaning& meaning = meaning_of(sqlstate);
  return {meaning.fault, Poisons::connection, fmt::format("{}: {}: {}", where, reason_of(message), meaning.advice),
          sqlstate};
}

Fault no_answer(const std::string& where) {
  return {FaultCode::store_unavailable, Poisons::connection,
          where + ": the connection was lost or gave no answer in time: check the server and the network"};
}

}  // namespace onceward::postgres
