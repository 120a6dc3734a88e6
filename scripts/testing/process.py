"""Runs one program with a time bound and a log, and leaves none of its process group behind."""

import os
import signal
import subprocess
import time

TIMEOUT_SECONDS = int(os.environ.get("ONCEWARD_TEST_TIMEOUT", "600"))

_running = set()
_stopped = False


class Ended:
    def __init__(self, code, seconds, note):
        self.code, self.seconds, self.note = code, seconds, note


def stop():
    """Kills what runs and lets nothing start any more: for the end of the whole run by a signal."""
    global _stopped
    _stopped = True
    for child in list(_running):
        kill_group(child)


def kill_group(child):
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def run(command, log, environment=None, directory=None, timeout_seconds=TIMEOUT_SECONDS):
    if _stopped:
        return Ended(1, 0, "not started")
    begin = time.monotonic()
    with open(log, "ab") as out:
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
                                 env=environment, cwd=directory, start_new_session=True)
        _running.add(child)
        try:
            code = child.wait(timeout=timeout_seconds)
            note = describe(code)
        except subprocess.TimeoutExpired:
            code, note = -signal.SIGKILL, f"not done after {timeout_seconds} s"
        finally:
            _running.discard(child)
            kill_group(child)
            child.wait()
    return Ended(code, time.monotonic() - begin, note)


def describe(code):
    if code < 0:
        return f"ended by {signal.Signals(-code).name}"
    return f"exit code {code}" if code else ""
