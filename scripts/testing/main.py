"""The order of ./run test, its servers, and its last line."""

import os
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import process
import steps
from report import Report


def services(verb, environment):
    subprocess.run([str(steps.ROOT / "run"), "services", verb], env=environment, check=True, stdout=subprocess.DEVNULL)


def start_services(directory):
    """Servers of this run alone: two runs at once do not meet, and what we stop is what we started."""
    environment = dict(os.environ, ONCEWARD_SERVICES_DIR=directory)
    services("up", environment)
    for line in open(os.path.join(directory, "env"), encoding="utf-8"):
        name, value = line.removeprefix("export ").strip().split("=", 1)
        environment[name] = value
    return environment


def run(pattern, report):
    steps.LOGS.mkdir(parents=True, exist_ok=True)
    steps.tidy(pattern, report)
    directory = tempfile.mkdtemp(prefix="onceward-test-", dir="/tmp")
    environment = dict(os.environ, ONCEWARD_SERVICES_DIR=directory)
    try:
        with ThreadPoolExecutor(max_workers=1) as pool:  # the servers start while the build runs
            started = pool.submit(start_services, directory)
            built = steps.build("dev", report)
            environment = started.result()
        if built:
            all_tests(pattern, environment, report)
    finally:
        services("down", environment)
        subprocess.run(["rm", "-rf", directory], check=True)


def all_tests(pattern, environment, report):
    with ThreadPoolExecutor(max_workers=1) as pool:  # what is to be built for the last two, in the time that the others leave
        programs = pool.submit(steps.build_examples, pattern, report)
        threads = pool.submit(steps.build_threads, pattern, report)
        steps.executables("dev", pattern, environment, report)
        steps.fuzzers(pattern, environment, report)
        steps.examples(programs.result(), environment, report)
        if threads.result():
            steps.executables("tsan", pattern, environment, report)


def interrupted(number, _frame):
    """Ends by an exception, so that the servers are stopped then, too."""
    process.stop()
    sys.exit(128 + number)


def main():
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, interrupted)
    report = Report()
    try:
        run(sys.argv[1] if len(sys.argv) > 1 else "", report)
    except (subprocess.CalledProcessError, OSError) as error:
        report.add("run", 0, [f"Run.Completes: {error}"], 0)
    return report.close()


if __name__ == "__main__":
    sys.exit(main())
