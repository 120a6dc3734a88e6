-- The same from a service in any other language: its own row, and one in the outbox, in one transaction.
-- On PostgreSQL: BEGIN; onceward.outbox; and '{...}'::bytea in the place of the CAST.
BEGIN IMMEDIATE;
INSERT INTO purchase (id, cents) VALUES ('p-3', 1250);
INSERT INTO onceward_outbox (id, type, key, payload)
VALUES ('placed-p-3', 'order.placed', 'p-3', CAST('{"purchase":"p-3","cents":1250}' AS BLOB));
COMMIT;
