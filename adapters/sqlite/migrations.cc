// The tables, as numbered steps. A step is never changed once released: the next one changes what it made. Names and
// columns are those of adapters/postgres/migrations.cc, which says what each table is for.
//
// Times are whole microseconds since 1970, keys 16 bytes, hashes 32. The inbox has a rowid of its own: with random keys
// a WITHOUT ROWID table rewrites more pages. Positions of the outbox are never used again (AUTOINCREMENT), so a relay
// that comes late cannot take a new row for the one it has published.
#include "adapters/sqlite/migrations.h"

namespace onceward::sqlite {
namespace {

constexpr std::string_view ground = R"sql(
CREATE TABLE onceward_consumer (
  number      INTEGER PRIMARY KEY AUTOINCREMENT,
  name        TEXT NOT NULL UNIQUE,
  scheme      TEXT NOT NULL,
  identity    TEXT NOT NULL,
  enrolled_at INTEGER NOT NULL
) STRICT;
CREATE TABLE onceward_inbox (
  key          BLOB NOT NULL PRIMARY KEY,
  received_at  INTEGER NOT NULL,
  consumer     INTEGER NOT NULL,
  payload_hash BLOB NOT NULL,
  tenant       TEXT NOT NULL,
  producer     TEXT NOT NULL,
  id           TEXT NOT NULL
) STRICT;
CREATE TABLE onceward_inbox_outcome (
  key             BLOB NOT NULL PRIMARY KEY,
  consumer        INTEGER NOT NULL,
  state           INTEGER NOT NULL,
  code            TEXT NOT NULL,
  result          BLOB NOT NULL,
  original        BLOB,
  next_attempt_at INTEGER,
  recorded_at     INTEGER NOT NULL
) STRICT;
CREATE INDEX onceward_inbox_outcome_waiting ON onceward_inbox_outcome (consumer, next_attempt_at)
  WHERE next_attempt_at IS NOT NULL;
CREATE TABLE onceward_inbox_body (
  key      BLOB NOT NULL PRIMARY KEY,
  envelope TEXT NOT NULL,
  payload  BLOB NOT NULL,
  kept_at  INTEGER NOT NULL
) STRICT;
CREATE TABLE onceward_operation (
  key          BLOB NOT NULL PRIMARY KEY,
  consumer     INTEGER NOT NULL,
  message      BLOB NOT NULL,
  payload_hash BLOB NOT NULL,
  text         TEXT NOT NULL
) STRICT;
CREATE TABLE onceward_outbox (
  position          INTEGER PRIMARY KEY AUTOINCREMENT,
  staged_at         INTEGER NOT NULL,
  consumer          INTEGER NOT NULL,
  cause             BLOB,
  aggregate_version INTEGER,
  event_version     INTEGER,
  id                TEXT NOT NULL,
  type              TEXT NOT NULL,
  key               TEXT NOT NULL,
  tenant            TEXT NOT NULL,
  aggregate_type    TEXT NOT NULL,
  aggregate_id      TEXT NOT NULL,
  correlation_id    TEXT NOT NULL,
  causation_id      TEXT NOT NULL,
  trace_parent      TEXT NOT NULL,
  content_type      TEXT NOT NULL,
  headers           TEXT NOT NULL,
  payload           BLOB NOT NULL
) STRICT;
CREATE TABLE onceward_outbox_fact (
  fact BLOB NOT NULL PRIMARY KEY,
  id   TEXT NOT NULL
) STRICT;
CREATE TABLE onceward_ledger (
  key             BLOB NOT NULL PRIMARY KEY,
  created_at      INTEGER NOT NULL,
  not_before      INTEGER,
  consumer        INTEGER NOT NULL,
  cause           BLOB,
  request_hash    BLOB NOT NULL,
  endpoint        TEXT NOT NULL,
  idempotency_key TEXT NOT NULL,
  type            TEXT NOT NULL,
  business_key    TEXT NOT NULL,
  tenant          TEXT NOT NULL,
  correlation_id  TEXT NOT NULL,
  trace_parent    TEXT NOT NULL,
  body            BLOB NOT NULL
) STRICT;
CREATE TABLE onceward_ledger_attempt (
  key          BLOB NOT NULL,
  number       INTEGER NOT NULL,
  state        TEXT NOT NULL,
  at           INTEGER NOT NULL,
  response     BLOB,
  external_ref TEXT,
  error        TEXT,
  PRIMARY KEY (key, number)
) STRICT;
CREATE TABLE onceward_attempt (
  key    BLOB NOT NULL,
  at     INTEGER NOT NULL,
  kind   TEXT NOT NULL CHECK (kind IN ('start', 'void')),
  worker TEXT NOT NULL
) STRICT;
CREATE INDEX onceward_attempt_key ON onceward_attempt (key);
CREATE TABLE onceward_quarantine (
  number      INTEGER PRIMARY KEY AUTOINCREMENT,
  parked_at   INTEGER NOT NULL,
  consumer    INTEGER NOT NULL,
  fingerprint BLOB NOT NULL UNIQUE,
  reason      TEXT NOT NULL,
  detail      TEXT NOT NULL,
  tenant      TEXT NOT NULL,
  producer    TEXT NOT NULL,
  id          TEXT NOT NULL,
  envelope    TEXT NOT NULL,
  payload     BLOB NOT NULL
) STRICT;
CREATE TABLE onceward_audit (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  at     INTEGER NOT NULL,
  who    TEXT NOT NULL,
  action TEXT NOT NULL,
  object TEXT NOT NULL,
  reason TEXT NOT NULL,
  detail TEXT NOT NULL
) STRICT;
)sql";

constexpr std::string_view worker = R"sql(
ALTER TABLE onceward_attempt RENAME TO onceward_attempt_1;
DROP INDEX onceward_attempt_key;
CREATE TABLE onceward_attempt (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  key    BLOB NOT NULL,
  at     INTEGER NOT NULL,
  kind   TEXT NOT NULL CHECK (kind IN ('start', 'failure', 'void', 'reset')),
  worker TEXT NOT NULL DEFAULT '',
  code   TEXT NOT NULL DEFAULT ''
) STRICT;
INSERT INTO onceward_attempt (key, at, kind, worker) SELECT key, at, kind, worker FROM onceward_attempt_1 ORDER BY rowid;
DROP TABLE onceward_attempt_1;
CREATE INDEX onceward_attempt_key ON onceward_attempt (key);
ALTER TABLE onceward_quarantine ADD COLUMN key BLOB;
ALTER TABLE onceward_quarantine ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0;
ALTER TABLE onceward_quarantine ADD COLUMN state TEXT NOT NULL DEFAULT 'parked'
  CHECK (state IN ('parked', 'retrying', 'resolved', 'discarded'));
ALTER TABLE onceward_quarantine ADD COLUMN retry_at INTEGER;
UPDATE onceward_quarantine AS q SET key = i.key
  FROM onceward_inbox i JOIN onceward_inbox_outcome o ON o.key = i.key
  WHERE o.state = 6 AND o.code = q.reason AND o.code <> 'operation_conflict' AND i.consumer = q.consumer
    AND i.tenant = q.tenant AND i.producer = q.producer AND i.id = q.id;
CREATE INDEX onceward_quarantine_waiting ON onceward_quarantine (consumer, retry_at)
  WHERE state = 'retrying' AND key IS NULL;
CREATE INDEX onceward_quarantine_listed ON onceward_quarantine (consumer, state, number);
CREATE INDEX onceward_quarantine_key ON onceward_quarantine (key) WHERE key IS NOT NULL;
)sql";

constexpr std::string_view position = R"sql(
CREATE TABLE onceward_position (
  consumer INTEGER NOT NULL,
  stream   TEXT NOT NULL,
  epoch    INTEGER NOT NULL,
  begun    INTEGER NOT NULL,
  next     INTEGER,
  PRIMARY KEY (consumer, stream)
) STRICT, WITHOUT ROWID;
)sql";

// One writer at a time: positions are drawn in the order of the commits, so a place is a position, and ticks are not needed.
// The outbox gets the defaults of its PostgreSQL sister, for those who write to it in plain SQL, by whatever SQLite they have; its
// positions go on.
constexpr std::string_view relay = R"sql(
ALTER TABLE onceward_outbox RENAME TO onceward_outbox_1;
CREATE TABLE onceward_outbox (
  position          INTEGER PRIMARY KEY AUTOINCREMENT,
  staged_at         INTEGER NOT NULL DEFAULT (1000 * CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER)),
  consumer          INTEGER NOT NULL DEFAULT 0,
  cause             BLOB,
  aggregate_version INTEGER,
  event_version     INTEGER,
  id                TEXT NOT NULL,
  type              TEXT NOT NULL,
  key               TEXT NOT NULL,
  tenant            TEXT NOT NULL DEFAULT '',
  aggregate_type    TEXT NOT NULL DEFAULT '',
  aggregate_id      TEXT NOT NULL DEFAULT '',
  correlation_id    TEXT NOT NULL DEFAULT '',
  causation_id      TEXT NOT NULL DEFAULT '',
  trace_parent      TEXT NOT NULL DEFAULT '',
  content_type      TEXT NOT NULL DEFAULT 'application/json',
  headers           TEXT NOT NULL DEFAULT '',
  payload           BLOB NOT NULL
) STRICT;
INSERT INTO sqlite_sequence (name, seq) SELECT 'onceward_outbox', seq FROM sqlite_sequence
  WHERE name = 'onceward_outbox_1';
INSERT INTO onceward_outbox SELECT * FROM onceward_outbox_1;
DROP TABLE onceward_outbox_1;
CREATE TABLE onceward_outbox_waiting (
  position          INTEGER PRIMARY KEY,
  staged_at         INTEGER NOT NULL,
  consumer          INTEGER NOT NULL,
  cause             BLOB,
  aggregate_version INTEGER,
  event_version     INTEGER,
  id                TEXT NOT NULL,
  type              TEXT NOT NULL,
  key               TEXT NOT NULL,
  tenant            TEXT NOT NULL,
  aggregate_type    TEXT NOT NULL,
  aggregate_id      TEXT NOT NULL,
  correlation_id    TEXT NOT NULL,
  causation_id      TEXT NOT NULL,
  trace_parent      TEXT NOT NULL,
  content_type      TEXT NOT NULL,
  headers           TEXT NOT NULL,
  payload           BLOB NOT NULL,
  tick              INTEGER NOT NULL,
  slot              INTEGER NOT NULL,
  ordered           INTEGER NOT NULL DEFAULT 0,
  target            TEXT NOT NULL DEFAULT '',
  state             TEXT NOT NULL CHECK (state IN ('waiting', 'behind', 'aside', 'discarded')),
  attempts          INTEGER NOT NULL,
  due_at            INTEGER NOT NULL,
  reason            TEXT NOT NULL,
  detail            TEXT NOT NULL,
  entered_at        INTEGER NOT NULL
) STRICT;
CREATE INDEX onceward_outbox_waiting_due ON onceward_outbox_waiting (target, tick, position)
  WHERE state IN ('waiting', 'behind');
CREATE INDEX onceward_outbox_waiting_stop ON onceward_outbox_waiting (key)
  WHERE ordered = 1 AND state IN ('waiting', 'aside');
CREATE INDEX onceward_outbox_waiting_key ON onceward_outbox_waiting (key, tick, position) WHERE ordered = 1;
CREATE TABLE onceward_relay_slot (
  slot  INTEGER PRIMARY KEY,
  owner TEXT NOT NULL DEFAULT ''
) STRICT;
INSERT INTO onceward_relay_slot (slot) SELECT value FROM json_each('[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15]');
CREATE TABLE onceward_relay_move (
  number   INTEGER PRIMARY KEY AUTOINCREMENT,
  slots    INTEGER NOT NULL,
  tick     INTEGER NOT NULL,
  position INTEGER NOT NULL
) STRICT;
INSERT INTO onceward_relay_move (slots, tick, position) VALUES (65535, 0, 0);
CREATE VIEW onceward_relay_place AS
  SELECT s.slot, m.number, m.tick, m.position FROM onceward_relay_slot s JOIN onceward_relay_move m
    ON m.number = (SELECT max(number) FROM onceward_relay_move WHERE slots & (1 << s.slot) <> 0);
CREATE VIEW onceward_outbox_pending AS
  SELECT * FROM onceward_outbox WHERE position > (SELECT min(position) FROM onceward_relay_place);
CREATE VIEW onceward_outbox_event AS
  SELECT id, CASE aggregate_type WHEN '' THEN type ELSE aggregate_type END AS aggregatetype,
    CASE key WHEN '' THEN id ELSE key END AS aggregateid, type, payload, content_type, headers, tenant, correlation_id,
    causation_id, trace_parent, staged_at, position
  FROM (SELECT id, aggregate_type, key, type, payload, content_type, headers, tenant, correlation_id, causation_id,
          trace_parent, staged_at, position FROM onceward_outbox_pending
        UNION ALL
        SELECT id, aggregate_type, key, type, payload, content_type, headers, tenant, correlation_id, causation_id,
          trace_parent, staged_at, position FROM onceward_outbox_waiting WHERE state IN ('waiting', 'behind')) AS staying;
CREATE TABLE onceward_relay_member (
  owner      TEXT NOT NULL PRIMARY KEY,
  name       TEXT NOT NULL,
  seen_until INTEGER NOT NULL
) STRICT;
CREATE TABLE onceward_relay_paused (
  target TEXT NOT NULL PRIMARY KEY,
  at     INTEGER NOT NULL,
  who    TEXT NOT NULL,
  why    TEXT NOT NULL
) STRICT;
)sql";

constexpr std::string_view dispatch = R"sql(
ALTER TABLE onceward_ledger RENAME TO onceward_ledger_1;
CREATE TABLE onceward_ledger (
  number           INTEGER PRIMARY KEY AUTOINCREMENT,
  key              BLOB NOT NULL UNIQUE,
  created_at       INTEGER NOT NULL,
  not_before       INTEGER,
  consumer         INTEGER NOT NULL,
  cause            BLOB,
  request_hash     BLOB NOT NULL,
  endpoint         TEXT NOT NULL,
  idempotency_key  TEXT NOT NULL,
  type             TEXT NOT NULL,
  business_key     TEXT NOT NULL,
  tenant           TEXT NOT NULL,
  correlation_id   TEXT NOT NULL,
  trace_parent     TEXT NOT NULL,
  body             BLOB NOT NULL,
  state            TEXT NOT NULL DEFAULT 'planned' CHECK (state IN ('planned', 'attempting', 'succeeded', 'failed',
    'unknown', 'waiting', 'approved', 'refused', 'cancelled')),
  due_at           INTEGER DEFAULT 0,
  attempts         INTEGER NOT NULL DEFAULT 0,
  look_ups         INTEGER NOT NULL DEFAULT 0,
  last_attempt     INTEGER NOT NULL DEFAULT 0,
  first_attempt_at INTEGER,
  attempted_at     INTEGER,
  ended_at         INTEGER,
  owner            TEXT NOT NULL DEFAULT '',
  lease_until      INTEGER,
  external_ref     TEXT NOT NULL DEFAULT '',
  response_hash    BLOB,
  code             TEXT NOT NULL DEFAULT '',
  detail           TEXT NOT NULL DEFAULT '',
  requested_by     TEXT NOT NULL DEFAULT '',
  decided_by       TEXT NOT NULL DEFAULT '',
  approved_until   INTEGER
) STRICT;
INSERT INTO onceward_ledger (key, created_at, not_before, consumer, cause, request_hash, endpoint, idempotency_key, type,
    business_key, tenant, correlation_id, trace_parent, body, due_at)
  SELECT key, created_at, not_before, consumer, cause, request_hash, endpoint, idempotency_key, type,
    business_key, tenant, correlation_id, trace_parent, body, max(created_at, coalesce(not_before, 0))
  FROM onceward_ledger_1 ORDER BY created_at;
DROP TABLE onceward_ledger_1;
CREATE INDEX onceward_ledger_due ON onceward_ledger (endpoint, due_at) WHERE due_at IS NOT NULL AND state <> 'waiting';
CREATE INDEX onceward_ledger_listed ON onceward_ledger (state, number);
CREATE INDEX onceward_ledger_owner ON onceward_ledger (owner) WHERE owner <> '';
DROP TABLE onceward_ledger_attempt;
CREATE TABLE onceward_ledger_attempt (
  key           BLOB NOT NULL,
  number        INTEGER NOT NULL,
  kind          TEXT NOT NULL CHECK (kind IN ('call', 'look_up', 'person')),
  who           TEXT NOT NULL,
  began_at      INTEGER NOT NULL,
  ended_at      INTEGER,
  outcome       TEXT NOT NULL DEFAULT '',
  status        INTEGER NOT NULL DEFAULT 0,
  response_hash BLOB,
  external_ref  TEXT NOT NULL DEFAULT '',
  detail        TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (key, number)
) STRICT;
CREATE TABLE onceward_ingress (
  key          BLOB NOT NULL PRIMARY KEY,
  principal    TEXT NOT NULL,
  operation    TEXT NOT NULL,
  text         TEXT NOT NULL,
  request_hash BLOB NOT NULL,
  began_at     INTEGER NOT NULL,
  owner        TEXT NOT NULL,
  lease_until  INTEGER,
  status       INTEGER NOT NULL DEFAULT 0,
  content_type TEXT NOT NULL DEFAULT '',
  body         BLOB,
  expires_at   INTEGER NOT NULL
) STRICT;
CREATE INDEX onceward_ingress_expires ON onceward_ingress (expires_at);
)sql";

constexpr Migration all_steps[] = {
    {1, "ground", ground}, {2, "worker", worker},     {3, "position", position},
    {4, "relay", relay},   {5, "dispatch", dispatch},
};

}  // namespace

std::span<const Migration> migrations() { return all_steps; }

}  // namespace onceward::sqlite
