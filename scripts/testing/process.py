"""Runs one program with a time bound and a log, and leaves none of its process group behind."""

import os
import signal
import subprocess
import time

TIMEOUT_SECONDS = int(os.environ.get("ONCEWARD_TEST_TIMEOUT", "600"))


class Ended:
    def __init__(self, code, seconds, note):
        self.code, self.seconds, self.note = code, seconds, note


def run(command, log, environment=None, directory=None, timeout_seconds=TIMEOUT_SECONDS):
    begin = time.monotonic()
    with open(log, "ab") as out:
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
                                 env=environment, cwd=directory, start_new_session=True)
        try:
            code = child.wait(timeout=timeout_seconds)
            note = describe(code)
        except subprocess.TimeoutExpired:
            code, note = -signal.SIGKILL, f"not done after {timeout_seconds} s"
        finally:
            try:
                os.killpg(child.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            child.wait()
    return Ended(code, time.monotonic() - begin, note)


def describe(code):
    if code < 0:
        return f"ended by {signal.Signals(-code).name}"
    return f"exit code {code}" if code else ""
