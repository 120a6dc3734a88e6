"""Collects what each executable said and prints it, one line each."""

import textwrap
import threading


class Report:
    def __init__(self):
        self._lock = threading.Lock()
        self._passed = 0
        self._failed = []

    def add(self, name, passed, failed, seconds, log=None):
        """failed is a list of test names, each with lines after it that say why. A name with neither is not worth a line."""
        if not passed and not failed:
            return
        with self._lock:
            self._passed += passed
            self._failed += [(name, case.split("\n")[0]) for case in failed]
            counts = f"{passed} passed" + (f", {len(failed)} failed" if failed else "")
            print(f"{'FAIL' if failed else 'ok  '}  {name:<32} {counts:<24} {seconds:6.1f} s", flush=True)
            for case in failed:
                print(textwrap.indent(case, " " * 6), flush=True)
            if failed and log:
                print(f"      log: {log}", flush=True)

    def close(self):
        """Prints the end and returns the exit code."""
        if self._failed:
            print("\nFailed:")
            for name, case in self._failed:
                print(f"  {name}: {case}")
        elif not self._passed:
            print("No test has this name.")
        print(f"{self._passed} passed, {len(self._failed)} failed", flush=True)
        return 0 if self._passed and not self._failed else 1
