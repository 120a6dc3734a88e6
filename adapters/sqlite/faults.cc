#include "adapters/sqlite/faults.h"

#include <fmt/format.h>

namespace onceward::sqlite {
namespace {

struct Meaning {
  FaultCode fault;
  Poisons poisons;
  std::string_view text;
};

Meaning meaning_of(int extended_code) {
  if (extended_code == SQLITE_IOERR_NOMEM) return meaning_of(SQLITE_NOMEM);
  if (extended_code == SQLITE_IOERR_SHMSIZE) {  // the file beside the WAL could not grow
    return {FaultCode::store_full, Poisons::connection, "the disk is full; free space and run it again"};
  }
  switch (extended_code & 0xff) {
    case SQLITE_CONSTRAINT:
      return {FaultCode::constraint_violated, Poisons::transaction, "a row breaks a constraint of its table"};
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {FaultCode::busy, Poisons::transaction,
              "another connection holds the database's write lock; look for a transaction that stays open"};
    case SQLITE_FULL:
      return {FaultCode::store_full, Poisons::transaction, "the disk is full; free space and run it again"};
    case SQLITE_NOMEM:
      return {FaultCode::store_full, Poisons::connection, "no memory is left; use smaller batches or more memory"};
    case SQLITE_IOERR:
      return {FaultCode::store_unavailable, Poisons::connection,
              "the file system failed to read or write the database; check the disk and the system's log"};
    case SQLITE_READONLY:
      return {FaultCode::store_read_only, Poisons::connection,
              "the database or its directory cannot be written; check its permissions and mount"};
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return {FaultCode::store_corrupt, Poisons::connection,
              "the file is damaged or is not a SQLite database; restore it from a backup, or name another file"};
    case SQLITE_INTERRUPT:
      return {FaultCode::timed_out, Poisons::transaction, "the statement was interrupted"};
    case SQLITE_CANTOPEN:
      return {FaultCode::store_refused, Poisons::connection,
              "the database file, or the WAL beside it, cannot be opened; check that the directory exists and may be "
              "written"};
    case SQLITE_PERM:
      return {FaultCode::store_refused, Poisons::connection, "permission denied"};
    case SQLITE_AUTH:
      return {FaultCode::statement_failed, Poisons::transaction,
              "a handler cannot begin, end or divide its transaction, attach databases or change settings"};
    case SQLITE_MISMATCH:
      return {FaultCode::statement_failed, Poisons::transaction,
              "a value is not of the type that is wanted: text is UTF-8 without NUL, a row id an integer"};
    case SQLITE_TOOBIG:
      return {FaultCode::statement_failed, Poisons::transaction, "a value or statement is too large for SQLite"};
    default:
      return {FaultCode::statement_failed, Poisons::transaction, "the statement failed"};
  }
}

// SQLite's message names columns or constraints, and no value.
bool names_no_value(int extended_code, During during) {
  switch (extended_code) {
    case SQLITE_CONSTRAINT_UNIQUE:
    case SQLITE_CONSTRAINT_PRIMARYKEY:
    case SQLITE_CONSTRAINT_NOTNULL:
    case SQLITE_CONSTRAINT_CHECK:
    case SQLITE_CONSTRAINT_FOREIGNKEY:
    case SQLITE_CONSTRAINT_DATATYPE:
      return true;
    default:
      return during == During::prepare && (extended_code & 0xff) == SQLITE_ERROR;
  }
}

}  // namespace

Fault fault_of(int extended_code, std::string_view detail) {
  const Meaning meaning = meaning_of(extended_code);
  return {meaning.fault, meaning.poisons,
          fmt::format("SQLite: {}{}{} (result {})", meaning.text, detail.empty() ? "" : ": ", detail, extended_code),
          std::to_string(extended_code)};
}

Fault fault_of(sqlite3* handle, During during) {
  const int code = sqlite3_extended_errcode(handle);
  return fault_of(code, names_no_value(code, during) ? std::string_view(sqlite3_errmsg(handle)) : std::string_view());
}

}  // namespace onceward::sqlite
