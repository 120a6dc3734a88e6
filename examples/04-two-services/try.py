"""Runs the example over both brokers while its processes are killed. Usage: try.py PROGRAM [SEED]"""

import json
import os
import pathlib
import random
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


def under_fire(program, broker, chance):
    services = [Service(program, "run", "shop.toml", "shop.log"), Service(program, "relay", "shop.toml", "relay.log"),
                Service(program, "run", "billing.toml", "billing.log")]
    assert start_sending(program, broker, 0).wait(60) == 0, "the orders were not sent"
    brokers.await_until("the first orders are billed", lambda: invoices() > 0)
    for kill in range(KILLS):
        senders = [start_sending(program, broker, kill + 1) for _ in range(2)]  # every order comes twice
        time.sleep(chance.uniform(0.0, 0.6))
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
    directory = pathlib.Path(kind.__name__.lower())
    directory.mkdir()
    os.chdir(directory)
    broker = kind(f"two-services-{os.getpid()}")
    write_orders(chance)
    prepare(program, broker)
    under_fire(program, broker, chance)
    pathlib.Path("published.ndjson").write_text(broker.published(), encoding="utf-8")
    print(f"{kind.__name__}, seed {seed}:", flush=True)
    subprocess.run([sys.executable, here / "check.py", "orders.ndjson", "shop.db", "billing.db", "published.ndjson"],
                   check=True)
    os.chdir("..")


if __name__ == "__main__":
    for each in (brokers.Rabbitmq, brokers.Kafka):
        over(each, str(pathlib.Path(sys.argv[1]).resolve()), int(sys.argv[2]) if len(sys.argv) > 2 else 7)
