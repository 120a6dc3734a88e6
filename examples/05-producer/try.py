"""Runs the example and looks at what has arrived. Usage: try.py PROGRAM"""

import json
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

here = pathlib.Path(__file__).resolve().parent
program = sys.argv[1]


def run(*arguments, code=0):
    ran = subprocess.run([program, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert ran.returncode == code, (arguments, ran.returncode, ran.stderr)
    return ran.stdout


def arrived():
    """What stands in the queue, first come first; each once, as whoever receives it would take it."""
    messages = {}
    for line in run("tail", "embedded:orders.db", "-n", "100", "--wait", "1ms").splitlines():
        message = json.loads(line)
        assert messages.setdefault(message["messageId"], message) == message, "again, and another one"
    return list(messages.values())


def relay_until(count):
    """With one that is killed on the way."""
    for last in (False, True):
        relay = subprocess.Popen([program, "relay", "app.toml"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            assert any('"relaying"' in line for line in relay.stderr), "the relay does not begin"
            deadline = time.monotonic() + 60
            while len(arrived()) < (count if last else 1):
                assert time.monotonic() < deadline, "waited in vain until messages have arrived"
                time.sleep(0.05)
            relay.send_signal(signal.SIGTERM if last else signal.SIGKILL)
            assert relay.wait(60) == (0 if last else -signal.SIGKILL)
        finally:
            relay.kill()


shutil.copy(here / "app.toml", ".")
shop = sqlite3.connect("shop.db")
shop.executescript((here / "schema.sql").read_text())
run("store", "migrate", "--config", "app.toml")
run("place", "p-1", "1000")
run("place", "p-2", "250")
run("place", "p-0", "-5", code=1)  # the purchase is refused, and nobody hears of it
run("place", "p-2", "9", code=1)
shop.executescript((here / "stage.sql").read_text())
assert shop.execute("SELECT count(*) FROM onceward_outbox").fetchone() == (3,)

relay_until(3)
found = arrived()
assert [message["messageId"] for message in found] == ["placed-p-1", "placed-p-2", "placed-p-3"], found
assert [message["payload"] for message in found] == [
    {"purchase": "p-1", "cents": 1000}, {"purchase": "p-2", "cents": 250}, {"purchase": "p-3", "cents": 1250}], found
assert {(message["producer"], message["eventType"]) for message in found} == {("shop", "order.placed")}, found
assert shop.execute("SELECT count(*) FROM onceward_outbox_pending").fetchone() == (0,)
