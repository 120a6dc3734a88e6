"""What a GoogleTest executable contains and what came of it."""

import json
import re
import subprocess

import process

WHY_LINES = 12


def pattern_for(name, pattern):
    """The gtest filter for one executable; its own name selects all of it."""
    return "*" if not pattern or pattern in (name, f"{name}_tests") else f"*{pattern}*"


def has_match(executable, gtest_filter, environment):
    listed = subprocess.run([executable, "--gtest_list_tests", f"--gtest_filter={gtest_filter}"], env=environment,
                            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)
    # An executable that cannot even list its tests is run, so that its failure is seen.
    return listed.returncode != 0 or bool(re.search(r"^  \S", listed.stdout, re.MULTILINE))


def run(executable, gtest_filter, environment, directory, log):
    """Returns (passed, [failed names], seconds). What failed is the name of a test, and in the lines after it, why."""
    result = log.with_suffix(".json")
    for stale in (log, result):
        stale.unlink(missing_ok=True)
    ended = process.run([executable, f"--gtest_filter={gtest_filter}", f"--gtest_output=json:{result}"], log,
                        environment, directory)
    passed, failed = from_json(result) if result.exists() else from_log(log, ended.note)
    if ended.code and not failed:
        failed = [f"all tests passed, but: {ended.note}"]  # e.g. a leak found at exit
    return passed, failed, ended.seconds


def from_json(path):
    passed, failed = 0, []
    for suite in json.loads(path.read_text(encoding="utf-8"))["testsuites"]:
        for case in suite["testsuite"]:
            name = f"{suite['name']}.{case['name']}"
            if failures := case.get("failures"):
                failed.append("\n".join([name, *failures[0]["failure"].splitlines()[:WHY_LINES]]))
            elif case["result"] == "SKIPPED":
                failed.append(f"{name} (skipped)")
            else:
                passed += 1
    return passed, failed


def from_log(path, note):
    """For an executable that did not reach its end: the test that was running has failed."""
    passed, failed, running = 0, [], ""
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        if match := re.search(r"\[ RUN      \] (\S+)", line):
            running = match[1]
        elif "[       OK ]" in line and running:
            passed, running = passed + 1, ""
        elif "[  FAILED  ]" in line and running:
            failed.append(running)
            running = ""
    failed.append(f"{running or 'outside of any test'} ({note})")
    return passed, failed
