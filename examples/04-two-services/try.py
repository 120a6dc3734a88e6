"""Runs the example over both brokers while its processes are killed. Usage: try.py PROGRAM [SEED]"""

import json
import os
import pathlib
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here))
import brokers

ORDERS = 2_000
KILLS = 9
RUNS = 5


class Service:
    """A process that is started again whenever it was killed."""

    def __init__(self, program, verb, config, log):
        self.command, self.log, self.process = [program, verb, config], open(log, "a", encoding="utf-8"), None
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.command, stdout=self.log, stderr=self.log)

    def kill(self):
        assert self.process.poll() is None, f"{self.command} has ended by itself"
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(60)


def write_orders(chance):
    """All of them, and the part that is sent before each kill."""
    lines = []
    for number in range(ORDERS):
        purchase = {"purchase": f"p-{number:05}", "customer": f"c-{chance.randrange(20)}",
                    "amount": f"{chance.randrange(1, 10_000) / 100:.2f}"}
        lines.append(json.dumps({"messageId": f"order-{number}", "producer": "web", "eventType": "order.placed",
                                 "partitionKey": purchase["customer"], "payload": purchase}) + "\n")
    pathlib.Path("orders.ndjson").write_text("".join(lines), encoding="utf-8")
    for part in range(KILLS + 1):
        pathlib.Path(f"orders-{part}.ndjson").write_text("".join(lines[part::KILLS + 1]), encoding="utf-8")


def start_sending(program, broker, part):
    return subprocess.Popen([program, "send", broker.target(), f"orders-{part}.ndjson"], stdout=subprocess.DEVNULL)


def prepare(program, broker):
    for name in ("shop", "billing"):
        text = (here / f"{name}.toml").read_text(encoding="utf-8")
        pathlib.Path(f"{name}.toml").write_text(getattr(broker, name)(text), encoding="utf-8")
        sqlite3.connect(f"{name}.db").executescript((here / f"{name}.sql").read_text(encoding="utf-8"))
        subprocess.run([program, "store", "migrate", "--config", f"{name}.toml"], check=True, stderr=subprocess.DEVNULL)


def invoices():
    return sqlite3.connect("billing.db").execute("SELECT count(DISTINCT purchase) FROM invoice").fetchone()[0]


def is_leaving():
    """Whether the relays have something under way."""
    return sqlite3.connect("shop.db").execute("SELECT EXISTS (SELECT 1 FROM onceward_outbox_pending)").fetchone()[0] == 1


def under_fire(program, broker, chance):
    services = [Service(program, "run", "shop.toml", "shop.log"), Service(program, "relay", "shop.toml", "relay.log"),
                Service(program, "run", "billing.toml", "billing.log")]
    assert start_sending(program, broker, 0).wait(60) == 0, "the orders were not sent"
    brokers.await_until("the first orders are billed", lambda: invoices() > 0)
    for kill in range(KILLS):
        brokers.await_until("all has left", lambda: not is_leaving(), pause=0.02)
        senders = [start_sending(program, broker, kill + 1) for _ in range(2)]  # every order comes twice
        brokers.await_until("something leaves", is_leaving, pause=0.001)
        time.sleep(chance.uniform(0.0, 0.05))
        victim = services[kill % len(services)]
        victim.kill()
        victim.start()
        assert all(sender.wait(60) == 0 for sender in senders), "the orders were not sent"
    brokers.await_until("every order is billed", lambda: invoices() == ORDERS)
    brokers.await_until("nothing is left at the broker", lambda: broker.left() == 0)
    for service in services:
        assert service.stop() == 0, service.command


def over(kind, program, seed):
    chance = random.Random(seed)
    directory = pathlib.Path(f"{kind.__name__.lower()}-{seed}")
    directory.mkdir()
    os.chdir(directory)
    broker = kind(f"two-services-{os.getpid()}-{seed}")
    write_orders(chance)
    prepare(program, broker)
    under_fire(program, broker, chance)
    pathlib.Path("published.ndjson").write_text(broker.published(), encoding="utf-8")
    print(f"{kind.__name__}, seed {seed}:", flush=True)
    assert check() == 0, "see above"
    see_red()
    published = [json.loads(line)["id"] for line in open("published.ndjson", encoding="utf-8")]
    os.chdir("..")
    return len(published) - len(set(published))


def check(**spoiled):
    files = {"sent": "orders.ndjson", "shop": "shop.db", "billing": "billing.db", "published": "published.ndjson"} | spoiled
    output = subprocess.DEVNULL if spoiled else None
    return subprocess.run([sys.executable, here / "check.py", *files.values()], stdout=output).returncode


def see_red():
    """A check that cannot fail proves nothing: each of these copies is spoiled by one thing."""
    for sql in ("DELETE FROM invoice WHERE rowid = (SELECT min(rowid) FROM invoice)",
                "INSERT INTO invoice SELECT * FROM invoice LIMIT 1",
                "UPDATE invoice SET cents = cents + 1 WHERE rowid = (SELECT min(rowid) FROM invoice)"):
        shutil.copy("billing.db", "spoiled.db")
        with sqlite3.connect("spoiled.db") as database:
            database.execute(sql)
        assert check(billing="spoiled.db") == 1, f"nobody has seen: {sql}"
    lines = pathlib.Path("published.ndjson").read_text(encoding="utf-8").splitlines()
    first = json.loads(lines[0])
    other_bytes = json.dumps({"id": first["id"], "body": first["body"] + " "})
    without = [line for line in lines if json.loads(line)["id"] != first["id"]]
    for what, spoiled in (("a message that was never published", without),
                          ("other bytes under the same id", [*lines, other_bytes]),
                          ("a message behind all others of its customer", [*without, lines[0]])):
        pathlib.Path("spoiled.ndjson").write_text("\n".join(spoiled) + "\n", encoding="utf-8")
        assert check(published="spoiled.ndjson") == 1, f"nobody has seen {what}"


if __name__ == "__main__":
    program = str(pathlib.Path(sys.argv[1]).resolve())
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 7
    again = 0
    for seed in range(first, first + RUNS):  # until a kill has met a relay between a confirm and its note of it
        again += sum(over(kind, program, seed) for kind in (brokers.Rabbitmq, brokers.Kafka))
        if again:
            break
    assert again > 0, "no kill has met a relay between a confirm and its note of it: these runs prove little"
