"""What the try.py of an example needs: runs the consumer as its README says, in the current directory."""

import json
import pathlib
import signal
import sqlite3
import subprocess
import time


def consumer(program, here, set_aside):
    """Runs it until so many messages are set aside. Returns the shop and the reasons by message id."""
    config = pathlib.Path(here) / "app.toml"

    def onceward(*arguments):
        return subprocess.run([program, *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout

    def quarantine():
        rows = json.loads(onceward("quarantine", "ls", "--config", config, "-o", "json"))
        return {row["id"]: row["reason"] for row in rows}

    shop = sqlite3.connect("shop.db")
    shop.executescript((config.parent / "schema.sql").read_text())
    onceward("store", "migrate", "--config", config)
    onceward("send", "embedded:queue.db", config.parent / "messages.ndjson")
    daemon = subprocess.Popen([program, "run", config])
    try:
        deadline = time.monotonic() + 60
        while len(quarantine()) < set_aside:
            assert time.monotonic() < deadline, "waited in vain until messages are set aside"
            time.sleep(0.05)
        daemon.send_signal(signal.SIGTERM)
        assert daemon.wait(60) == 0, "SIGTERM drains"
    finally:
        daemon.kill()
    return shop, quarantine()
