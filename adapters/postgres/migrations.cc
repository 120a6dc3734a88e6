// The tables, as numbered steps. A step is never changed once released: the next one changes what it made.
//
//   consumer        who reads here, and the key scheme it was enrolled with
//   inbox           one row for each identity ever applied or held; insert-only and narrow. No outcome row beside it
//                   means processed
//   inbox_outcome   what became of a message, where that is not plain done
//   inbox_body      the bytes, only while somebody may still need them
//   operation       the operation keys that are taken, and by which message
//   outbox          messages to publish; outbox_fact: facts that may be staged only once
//   ledger          calls to external systems; ledger_attempt: every attempt at one
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

constexpr Migration steps[] = {
    {1, "ground", ground},
    {2, "worker", worker},
    {3, "position", position},
};

}  // namespace

std::span<const Migration> migrations() { return steps; }

}  // namespace onceward::postgres
