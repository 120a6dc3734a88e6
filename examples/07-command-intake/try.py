"""Asks at the front door while the daemon is killed, and looks at what is left. Usage: try.py PROGRAM"""

import http.client
import json
import pathlib
import random
import socket
import sqlite3
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

here = pathlib.Path(__file__).resolve().parent
program = sys.argv[1]
COMMANDS = 30
DEADLINE = time.monotonic() + 120


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def ask(key, body):
    """The status, the answer, and whether it was given before."""
    request = urllib.request.Request(f"http://127.0.0.1:{port}/ingress/captures", json.dumps(body).encode(), {
        "Idempotency-Key": key, "Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.status, answer.read(), answer.headers["Idempotency-Replayed"] == "true"
    except urllib.error.HTTPError as answer:
        return answer.code, answer.read(), False


def ask_until_accepted(key, body):
    """As a client must: again while nothing was answered, or later was."""
    while True:
        try:
            status, answer, _ = ask(key, body)
            if status == 202:
                return answer
            assert status in (409, 503), (status, answer)
        except (OSError, http.client.HTTPException):
            pass
        assert time.monotonic() < DEADLINE, "waited in vain for an answer"
        time.sleep(0.02)


def let_leases_pass():
    """Nobody wants to wait a minute for the leases of a daemon that was killed: on the request, and on the message."""
    for path, change in (("shop.db", "UPDATE onceward_ingress SET lease_until = 1 WHERE status = 0"),
                         ("queue.db", "UPDATE delivery SET due_at = 0")):
        database = sqlite3.connect(path, timeout=20)
        with database:
            database.execute(change)
        database.close()


def start():
    """Returns when it listens."""
    started = subprocess.Popen([program, "run", config])
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return started
        except OSError:
            assert started.poll() is None and time.monotonic() < DEADLINE, "it does not listen"
            time.sleep(0.02)


port = free_port()
config = pathlib.Path("app.toml")
config.write_text((here / "app.toml").read_text(encoding="utf-8").replace("9090", str(port)), encoding="utf-8")
shop = sqlite3.connect("shop.db", timeout=20)
shop.executescript((here / "schema.sql").read_text(encoding="utf-8"))
subprocess.run([program, "store", "migrate", "--config", config], check=True)
daemon = start()
try:
    answers = {}
    for number in range(COMMANDS):
        key, body = f"order-{number}", {"invoice": f"I-{number}", "amount": "2.50"}
        if number % 5 < 4:
            answers[key] = ask_until_accepted(key, body)
            continue
        asking = threading.Thread(target=lambda: answers.update({key: ask_until_accepted(key, body)}))
        asking.start()
        time.sleep(random.uniform(0, 0.01))
        daemon.kill()
        daemon.wait()
        let_leases_pass()
        daemon = start()
        asking.join()
    for number in range(COMMANDS):
        key = f"order-{number}"
        assert ask(key, {"invoice": f"I-{number}", "amount": "2.50"}) == (202, answers[key], True)
        assert ask(key, {"invoice": f"I-{number}", "amount": "9.99"})[0] == 422
    while shop.execute("SELECT count(*) FROM capture").fetchone()[0] < COMMANDS:
        assert time.monotonic() < DEADLINE, "waited in vain for the captures"
        time.sleep(0.05)
    daemon.terminate()
    assert daemon.wait(60) == 0, "SIGTERM drains"
finally:
    daemon.kill()
captures = shop.execute("SELECT invoice, amount, message FROM capture").fetchall()
expected = {(f"I-{number}", 250, json.loads(answers[f"order-{number}"])["messageId"]) for number in range(COMMANDS)}
assert len(captures) == COMMANDS and set(captures) == expected, captures
