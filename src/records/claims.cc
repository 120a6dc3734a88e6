#include "src/records/claims.h"

#include "src/records/statement.h"

namespace onceward::records {
namespace {

bool is_known_otherwise(Transaction& transaction, Statement& select, const Key& key, const PayloadHash& hash) {
  select.bind(key).add(" AND payload_hash <> ");
  select.bind(Blob{{reinterpret_cast<const char*>(hash.bytes.data()), hash.bytes.size()}});
  return !select.query(transaction).empty();
}

}  // namespace

bool is_conflict(Transaction& transaction, Dialect dialect, const Claim& claim) {
  Statement inbox(dialect, "SELECT 1 FROM {inbox} WHERE key = ");
  if (is_known_otherwise(transaction, inbox, claim.message, claim.payload_hash)) return true;
  if (!claim.operation) return false;
  Statement operation(dialect, "SELECT 1 FROM {operation} WHERE key = ");
  return is_known_otherwise(transaction, operation, *claim.operation, claim.payload_hash);
}

}  // namespace onceward::records
