// The tables, as numbered steps. A step is never changed once released: the next one changes what it made.
//
//   consumer        who reads here, and the key scheme it was enrolled with
//   inbox           one row for each identity ever applied or held; insert-only and narrow. No outcome row beside it
//                   means processed
//   inbox_outcome   what became of a message, where that is not plain done
//   inbox_body      the bytes, only while somebody may still need them
//   operation       the operation keys that are taken, and by which message
//   outbox          messages to publish, only ever inserted; its four parts are emptied whole, when all in one has left.
//                   The transaction's number stands first, so that it is given before the position is drawn
//                   (src/relay/pages.h); outbox_fact: facts that may be staged only once
//   outbox_waiting  what could not leave when its turn came, or stands behind such a one; aside: for a person
//   outbox_pending  the rows of the outbox that have not left yet, for people and metrics; outbox_event: what has yet to leave,
//                   in the names that Debezium's event router has by default
//   relay_slot      which relay tends which share of the keys; relay_member: the relays that live; relay_move: how far the
//                   messages of some slots have left, a row for each time they moved, so that no snapshot which somebody
//                   holds makes it slow; relay_place: how far each slot has come by that; relay_tick: moments between which committed rows are found; relay_idle: whether
//                   they wait to be told; relay_paused: targets that a person has stopped
//   ledger          calls to external systems, and what became of each; ledger_attempt: every attempt at one, every time it was
//                   looked up, and what people decided
//   ingress         requests that came with an idempotency key, and their answers
//   attempt         starts and voids of a message that runs alone, failures of one that ran among others; a reset is a
//                   person who sent it again
//   quarantine      what was refused or ran out of attempts, with its bytes; `key` where the message has an inbox row of
//                   its own, and then waits for its retry in inbox_outcome; `attempts` counts for those that have none
//   position        how far each stream has come, for consumers with offsets = "store": the first offset that was not passed,
//                   the epoch of whoever has taken it over, and that in which it began anew
//   audit           what people did, and why
//
// The key begins with a bit that tells time-carrying ids from others (src/envelope/key.h), so inbox can become a table
// partitioned by ranges of its key: those of time-carrying ids can be dropped whole, the rest is purged in steps.
#include "adapters/postgres/migrations.h"

namespace onceward::postgres {
namespace {

constexpr std::string_view ground = R"sql(
CREATE TABLE onceward.consumer (
  number      integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name        text NOT NULL UNIQUE,
  scheme      text NOT NULL,
  identity    text NOT NULL,
  enrolled_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE TABLE onceward.inbox (
  key          uuid NOT NULL PRIMARY KEY,
  received_at  timestamptz NOT NULL DEFAULT now(),
  consumer     integer NOT NULL,
  payload_hash bytea NOT NULL,
  tenant       text NOT NULL,
  producer     text NOT NULL,
  id           text NOT NULL
);
CREATE TABLE onceward.inbox_outcome (
  key             uuid NOT NULL PRIMARY KEY,
  consumer        integer NOT NULL,
  state           smallint NOT NULL,
  code            text NOT NULL,
  result          bytea NOT NULL,
  original        uuid,
  next_attempt_at timestamptz,
  recorded_at     timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX inbox_outcome_waiting ON onceward.inbox_outcome (consumer, next_attempt_at)
  WHERE next_attempt_at IS NOT NULL;
CREATE TABLE onceward.inbox_body (
  key      uuid NOT NULL PRIMARY KEY,
  envelope text NOT NULL,
  payload  bytea NOT NULL,
  kept_at  timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE onceward.operation (
  key          uuid NOT NULL PRIMARY KEY,
  consumer     integer NOT NULL,
  message      uuid NOT NULL,
  payload_hash bytea NOT NULL,
  text         text NOT NULL
);
CREATE TABLE onceward.outbox (
  position          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  staged_at         timestamptz NOT NULL DEFAULT now(),
  consumer          integer NOT NULL,
  cause             uuid,
  aggregate_version bigint,
  event_version     bigint,
  id                text NOT NULL,
  type              text NOT NULL,
  key               text NOT NULL,
  tenant            text NOT NULL,
  aggregate_type    text NOT NULL,
  aggregate_id      text NOT NULL,
  correlation_id    text NOT NULL,
  causation_id      text NOT NULL,
  trace_parent      text NOT NULL,
  content_type      text NOT NULL,
  headers           text NOT NULL,
  payload           bytea NOT NULL
);
CREATE TABLE onceward.outbox_fact (
  fact uuid NOT NULL PRIMARY KEY,
  id   text NOT NULL
);
CREATE TABLE onceward.ledger (
  key             uuid NOT NULL PRIMARY KEY,
  created_at      timestamptz NOT NULL DEFAULT now(),
  not_before      timestamptz,
  consumer        integer NOT NULL,
  cause           uuid,
  request_hash    bytea NOT NULL,
  endpoint        text NOT NULL,
  idempotency_key text NOT NULL,
  type            text NOT NULL,
  business_key    text NOT NULL,
  tenant          text NOT NULL,
  correlation_id  text NOT NULL,
  trace_parent    text NOT NULL,
  body            bytea NOT NULL
);
CREATE TABLE onceward.ledger_attempt (
  key          uuid NOT NULL,
  number       integer NOT NULL,
  state        text NOT NULL,
  at           timestamptz NOT NULL DEFAULT now(),
  response     bytea,
  external_ref text,
  error        text,
  PRIMARY KEY (key, number)
);
CREATE TABLE onceward.attempt (
  key    uuid NOT NULL,
  at     timestamptz NOT NULL DEFAULT now(),
  kind   text NOT NULL CHECK (kind IN ('start', 'void')),
  worker text NOT NULL
);
CREATE INDEX attempt_key ON onceward.attempt (key);
CREATE TABLE onceward.quarantine (
  number       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  parked_at    timestamptz NOT NULL DEFAULT now(),
  consumer     integer NOT NULL,
  fingerprint  uuid NOT NULL UNIQUE,
  reason       text NOT NULL,
  detail       text NOT NULL,
  tenant       text NOT NULL,
  producer     text NOT NULL,
  id           text NOT NULL,
  envelope     text NOT NULL,
  payload      bytea NOT NULL
);
CREATE TABLE onceward.audit (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at     timestamptz NOT NULL DEFAULT now(),
  who    text NOT NULL,
  action text NOT NULL,
  object text NOT NULL,
  reason text NOT NULL,
  detail text NOT NULL
);
)sql";

// What failed for good has its inbox row beside it; what was refused in any other way has none, or another's.
constexpr std::string_view worker = R"sql(
ALTER TABLE onceward.attempt
  ADD COLUMN number bigint GENERATED ALWAYS AS IDENTITY,
  ADD COLUMN code text NOT NULL DEFAULT '',
  ALTER COLUMN worker SET DEFAULT '',
  DROP CONSTRAINT attempt_kind_check,
  ADD CONSTRAINT attempt_kind_check CHECK (kind IN ('start', 'failure', 'void', 'reset'));
ALTER TABLE onceward.quarantine
  ADD COLUMN key uuid,
  ADD COLUMN attempts integer NOT NULL DEFAULT 0,
  ADD COLUMN state text NOT NULL DEFAULT 'parked'
    CONSTRAINT quarantine_state_check CHECK (state IN ('parked', 'retrying', 'resolved', 'discarded')),
  ADD COLUMN retry_at timestamptz;
UPDATE onceward.quarantine q SET key = i.key
  FROM onceward.inbox i JOIN onceward.inbox_outcome o USING (key)
  WHERE o.state = 6 AND o.code = q.reason AND o.code <> 'operation_conflict' AND i.consumer = q.consumer
    AND i.tenant = q.tenant AND i.producer = q.producer AND i.id = q.id;
CREATE INDEX quarantine_waiting ON onceward.quarantine (consumer, retry_at) WHERE state = 'retrying' AND key IS NULL;
CREATE INDEX quarantine_listed ON onceward.quarantine (consumer, state, number);
CREATE INDEX quarantine_key ON onceward.quarantine (key) WHERE key IS NOT NULL;
)sql";

// One row for each stream and consumer, changed by every commit: room beside it keeps the changes in its page.
constexpr std::string_view position = R"sql(
CREATE TABLE onceward.position (
  consumer integer NOT NULL,
  stream   text NOT NULL,
  epoch    bigint NOT NULL,
  begun    bigint NOT NULL,
  next     bigint,
  PRIMARY KEY (consumer, stream)
) WITH (fillfactor = 20);
)sql";

// Rows that wait are numbered anew, in their order.
//
// next_ticks: the ticks after one, the first of which is made where something may have been committed since. Each of its
// statements sees its own moment, and `drawn` is read before the transaction has a number. Numbers that were given by
// another server say nothing here, and everything in the outbox is found again: after a restore a tick was not inserted by
// the transaction that made it, or rows are seen whose transactions have yet to come. (The first tick is made by nobody.)
// Nobody moves a place meanwhile. A tick that is gone was lost in a failover: who has read from it starts over.
//
// wake_relay: the first to stage something since the relays fell idle tells them when it commits; the others pass by. In a
// stricter isolation the row could end the transaction that stages, so the relays are left to look by themselves.
//
// Tables without a primary key get a replica identity: in a publication for all tables (some tools make one) PostgreSQL would
// refuse to change their rows. Inserted rows cost nothing more by it.
constexpr std::string_view relay = R"sql(
ALTER TABLE onceward.outbox RENAME TO outbox_1;
CREATE TABLE onceward.outbox (
  tx                xid8 NOT NULL DEFAULT pg_current_xact_id(),
  position          bigint GENERATED ALWAYS AS IDENTITY (SEQUENCE NAME onceward.outbox_order),
  staged_at         timestamptz NOT NULL DEFAULT now(),
  consumer          integer NOT NULL DEFAULT 0,
  cause             uuid,
  aggregate_version bigint,
  event_version     bigint,
  id                text NOT NULL,
  type              text NOT NULL,
  key               text NOT NULL,
  tenant            text NOT NULL DEFAULT '',
  aggregate_type    text NOT NULL DEFAULT '',
  aggregate_id      text NOT NULL DEFAULT '',
  correlation_id    text NOT NULL DEFAULT '',
  causation_id      text NOT NULL DEFAULT '',
  trace_parent      text NOT NULL DEFAULT '',
  content_type      text NOT NULL DEFAULT 'application/json',
  headers           text NOT NULL DEFAULT '',
  payload           bytea NOT NULL
) PARTITION BY LIST (((position >> 17) & 3));
CREATE TABLE onceward.outbox_part_0 PARTITION OF onceward.outbox FOR VALUES IN (0);
CREATE TABLE onceward.outbox_part_1 PARTITION OF onceward.outbox FOR VALUES IN (1);
CREATE TABLE onceward.outbox_part_2 PARTITION OF onceward.outbox FOR VALUES IN (2);
CREATE TABLE onceward.outbox_part_3 PARTITION OF onceward.outbox FOR VALUES IN (3);
CREATE INDEX outbox_by_position ON onceward.outbox (position);
CREATE INDEX outbox_by_tx ON onceward.outbox (tx, position);
INSERT INTO onceward.outbox (staged_at, consumer, cause, aggregate_version, event_version, id, type, key, tenant,
    aggregate_type, aggregate_id, correlation_id, causation_id, trace_parent, content_type, headers, payload)
  SELECT staged_at, consumer, cause, aggregate_version, event_version, id, type, key, tenant,
    aggregate_type, aggregate_id, correlation_id, causation_id, trace_parent, content_type, headers, payload
  FROM onceward.outbox_1 ORDER BY position;
DROP TABLE onceward.outbox_1;
CREATE TABLE onceward.outbox_waiting (
  position          bigint NOT NULL PRIMARY KEY,
  staged_at         timestamptz NOT NULL,
  consumer          integer NOT NULL,
  cause             uuid,
  aggregate_version bigint,
  event_version     bigint,
  id                text NOT NULL,
  type              text NOT NULL,
  key               text NOT NULL,
  tenant            text NOT NULL,
  aggregate_type    text NOT NULL,
  aggregate_id      text NOT NULL,
  correlation_id    text NOT NULL,
  causation_id      text NOT NULL,
  trace_parent      text NOT NULL,
  content_type      text NOT NULL,
  headers           text NOT NULL,
  payload           bytea NOT NULL,
  tick              bigint NOT NULL,
  slot              integer NOT NULL,
  ordered           integer NOT NULL DEFAULT 0,
  target            text NOT NULL DEFAULT '',
  state             text NOT NULL CHECK (state IN ('waiting', 'behind', 'aside', 'discarded')),
  attempts          integer NOT NULL,
  due_at            timestamptz NOT NULL,
  reason            text NOT NULL,
  detail            text NOT NULL,
  entered_at        timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX outbox_waiting_due ON onceward.outbox_waiting (target, tick, position)
  WHERE state IN ('waiting', 'behind');
CREATE INDEX outbox_waiting_stop ON onceward.outbox_waiting (key)
  WHERE ordered = 1 AND state IN ('waiting', 'aside');
CREATE INDEX outbox_waiting_key ON onceward.outbox_waiting (key, tick, position) WHERE ordered = 1;
CREATE TABLE onceward.relay_slot (
  slot  integer NOT NULL PRIMARY KEY,
  owner text NOT NULL DEFAULT ''
);
INSERT INTO onceward.relay_slot (slot) SELECT generate_series(0, 15);
CREATE TABLE onceward.relay_member (
  owner      text NOT NULL PRIMARY KEY,
  name       text NOT NULL,
  seen_until timestamptz NOT NULL
) WITH (fillfactor = 20);
CREATE TABLE onceward.relay_move (
  number   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  slots    integer NOT NULL,
  tick     bigint NOT NULL,
  position bigint NOT NULL
);
INSERT INTO onceward.relay_move (slots, tick, position) VALUES (65535, 2, 0);
CREATE VIEW onceward.relay_place AS
  SELECT s.slot, m.number, m.tick, m.position FROM onceward.relay_slot s JOIN onceward.relay_move m
    ON m.number = (SELECT max(number) FROM onceward.relay_move WHERE slots & (1 << s.slot) <> 0);
CREATE TABLE onceward.relay_tick (
  number   bigint NOT NULL PRIMARY KEY,
  made_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
  snapshot pg_snapshot NOT NULL,
  maker    xid8 NOT NULL,
  low      bigint NOT NULL,
  high     bigint NOT NULL,
  token    uuid NOT NULL DEFAULT gen_random_uuid()
);
INSERT INTO onceward.relay_tick (number, snapshot, maker, low, high) VALUES (1, '3:3:', '3', 0, 0);
CREATE FUNCTION onceward.open_at(snapshot pg_snapshot, maker xid8) RETURNS SETOF xid8 LANGUAGE sql IMMUTABLE AS $$
  SELECT pg_snapshot_xip(snapshot) UNION ALL
  SELECT number::text::xid8 FROM generate_series(pg_snapshot_xmax(snapshot)::text::bigint, maker::text::bigint - 1) AS number
$$;
CREATE FUNCTION onceward.next_ticks(after bigint) RETURNS SETOF onceward.relay_tick LANGUAGE plpgsql AS $$
DECLARE
  newest onceward.relay_tick;
  drawn bigint;
BEGIN
  SELECT * INTO newest FROM onceward.relay_tick ORDER BY number DESC LIMIT 1;
  IF newest.number < after THEN
    RAISE EXCEPTION 'tick % is gone', after USING ERRCODE = 'serialization_failure';
  END IF;
  SELECT CASE WHEN is_called THEN last_value ELSE 0 END INTO drawn FROM onceward.outbox_order;
  IF newest.number = after AND (drawn > newest.low OR EXISTS (
      SELECT FROM onceward.open_at(newest.snapshot, newest.maker) AS open (tx) JOIN onceward.outbox USING (tx))) THEN
    PERFORM pg_advisory_xact_lock(7954877705826332258), pg_current_xact_id();
    IF EXISTS (SELECT FROM onceward.relay_tick t
               WHERE t.number = newest.number AND t.maker <> '3' AND t.maker::xid <> t.xmin)
        OR EXISTS (SELECT FROM onceward.outbox WHERE tx >= pg_snapshot_xmax(pg_current_snapshot())) THEN
      PERFORM FROM onceward.relay_slot ORDER BY slot FOR UPDATE;
      UPDATE onceward.outbox SET tx = DEFAULT;
      DELETE FROM onceward.relay_tick;
      INSERT INTO onceward.relay_tick (number, snapshot, maker, low, high) VALUES (after + 1, '3:3:', '3', 0, 0);
      INSERT INTO onceward.relay_move (slots, tick, position) VALUES (65535, after + 2, 0);
    END IF;
    INSERT INTO onceward.relay_tick (number, snapshot, maker, low, high)
      SELECT after + 1, pg_current_snapshot(), pg_current_xact_id(), drawn, last_value FROM onceward.outbox_order
      WHERE after = (SELECT max(number) FROM onceward.relay_tick);
  END IF;
  RETURN QUERY SELECT * FROM onceward.relay_tick WHERE number > after ORDER BY number;
END $$;
CREATE VIEW onceward.outbox_pending AS
  SELECT o.* FROM onceward.outbox o
    JOIN onceward.relay_place s ON s.slot = hashtextextended(CASE o.key WHEN '' THEN o.id ELSE o.key END, 0) & 15
    JOIN onceward.relay_tick before ON before.number = s.tick - 1
    LEFT JOIN onceward.relay_tick now ON now.number = s.tick
  WHERE o.tx >= pg_snapshot_xmin(before.snapshot) AND NOT pg_visible_in_snapshot(o.tx, before.snapshot)
    AND (now.number IS NULL OR o.position > s.position OR NOT pg_visible_in_snapshot(o.tx, now.snapshot));
CREATE VIEW onceward.outbox_event AS
  SELECT id, CASE aggregate_type WHEN '' THEN type ELSE aggregate_type END AS aggregatetype,
    CASE key WHEN '' THEN id ELSE key END AS aggregateid, type, payload, content_type, headers, tenant, correlation_id,
    causation_id, trace_parent, staged_at, position
  FROM (SELECT id, aggregate_type, key, type, payload, content_type, headers, tenant, correlation_id, causation_id,
          trace_parent, staged_at, position FROM onceward.outbox_pending
        UNION ALL
        SELECT id, aggregate_type, key, type, payload, content_type, headers, tenant, correlation_id, causation_id,
          trace_parent, staged_at, position FROM onceward.outbox_waiting WHERE state IN ('waiting', 'behind')) AS staying;
CREATE TABLE onceward.relay_idle (
  idle boolean NOT NULL
) WITH (fillfactor = 10);
INSERT INTO onceward.relay_idle VALUES (false);
CREATE FUNCTION onceward.wake_relay() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    RETURN NULL;
  END IF;
  PERFORM FROM onceward.relay_idle WHERE idle FOR UPDATE SKIP LOCKED;
  IF FOUND THEN
    UPDATE onceward.relay_idle SET idle = false;
    NOTIFY onceward_outbox;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER wake_relay AFTER INSERT ON onceward.outbox FOR EACH STATEMENT EXECUTE FUNCTION onceward.wake_relay();
CREATE TABLE onceward.relay_paused (
  target text NOT NULL PRIMARY KEY,
  at     timestamptz NOT NULL DEFAULT now(),
  who    text NOT NULL,
  why    text NOT NULL
);
ALTER TABLE onceward.attempt REPLICA IDENTITY FULL;
ALTER TABLE onceward.outbox REPLICA IDENTITY FULL;
ALTER TABLE onceward.outbox_part_0 REPLICA IDENTITY FULL;
ALTER TABLE onceward.outbox_part_1 REPLICA IDENTITY FULL;
ALTER TABLE onceward.outbox_part_2 REPLICA IDENTITY FULL;
ALTER TABLE onceward.outbox_part_3 REPLICA IDENTITY FULL;
ALTER TABLE onceward.relay_idle REPLICA IDENTITY FULL;
)sql";

// Calls that were staged before anybody could make them are planned. due_at: when to look at it next; only open rows have one.
// A request of ingress is in flight while its status is 0.
constexpr std::string_view dispatch = R"sql(
ALTER TABLE onceward.ledger
  ADD COLUMN number bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
  ADD COLUMN state text NOT NULL DEFAULT 'planned' CHECK (state IN ('planned', 'attempting', 'succeeded', 'failed',
    'unknown', 'waiting', 'approved', 'refused', 'cancelled')),
  ADD COLUMN due_at timestamptz DEFAULT now(),
  ADD COLUMN attempts integer NOT NULL DEFAULT 0,
  ADD COLUMN look_ups integer NOT NULL DEFAULT 0,
  ADD COLUMN last_attempt integer NOT NULL DEFAULT 0,
  ADD COLUMN first_attempt_at timestamptz,
  ADD COLUMN attempted_at timestamptz,
  ADD COLUMN ended_at timestamptz,
  ADD COLUMN owner text NOT NULL DEFAULT '',
  ADD COLUMN lease_until timestamptz,
  ADD COLUMN external_ref text NOT NULL DEFAULT '',
  ADD COLUMN response_hash bytea,
  ADD COLUMN code text NOT NULL DEFAULT '',
  ADD COLUMN detail text NOT NULL DEFAULT '',
  ADD COLUMN requested_by text NOT NULL DEFAULT '',
  ADD COLUMN decided_by text NOT NULL DEFAULT '',
  ADD COLUMN approved_until timestamptz;
UPDATE onceward.ledger SET due_at = greatest(due_at, not_before) WHERE not_before IS NOT NULL;
ALTER TABLE onceward.ledger SET (fillfactor = 70);
CREATE INDEX ledger_due ON onceward.ledger (endpoint, due_at) WHERE due_at IS NOT NULL AND state <> 'waiting';
CREATE INDEX ledger_listed ON onceward.ledger (state, number);
CREATE INDEX ledger_owner ON onceward.ledger (owner) WHERE owner <> '';
DROP TABLE onceward.ledger_attempt;
CREATE TABLE onceward.ledger_attempt (
  key           uuid NOT NULL,
  number        integer NOT NULL,
  kind          text NOT NULL CHECK (kind IN ('call', 'look_up', 'person')),
  who           text NOT NULL,
  began_at      timestamptz NOT NULL DEFAULT now(),
  ended_at      timestamptz,
  outcome       text NOT NULL DEFAULT '',
  status        integer NOT NULL DEFAULT 0,
  response_hash bytea,
  external_ref  text NOT NULL DEFAULT '',
  detail        text NOT NULL DEFAULT '',
  PRIMARY KEY (key, number)
) WITH (fillfactor = 80);
CREATE TABLE onceward.ingress (
  key          uuid NOT NULL PRIMARY KEY,
  principal    text NOT NULL,
  operation    text NOT NULL,
  text         text NOT NULL,
  request_hash bytea NOT NULL,
  began_at     timestamptz NOT NULL DEFAULT now(),
  owner        text NOT NULL,
  lease_until  timestamptz,
  status       integer NOT NULL DEFAULT 0,
  content_type text NOT NULL DEFAULT '',
  body         bytea,
  expires_at   timestamptz NOT NULL
);
CREATE INDEX ingress_expires ON onceward.ingress (expires_at);
)sql";

constexpr Migration all_steps[] = {
    {1, "ground", ground}, {2, "worker", worker},     {3, "position", position},
    {4, "relay", relay},   {5, "dispatch", dispatch},
};

}  // namespace

std::span<const Migration> migrations() { return all_steps; }

}  // namespace onceward::postgres
