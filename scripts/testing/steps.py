"""What ./run test consists of. Each step adds its cases to the report; a filter that matches none of them skips it."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

import gtest
import process

ROOT = pathlib.Path(__file__).resolve().parents[2]
LOGS = ROOT / "build" / "test-logs"
BUILD_TIMEOUT_SECONDS = 3600
FUZZ_SECONDS = 5
FUZZ_RUNS = 200_000

SANITIZERS = {
    "ASAN_OPTIONS": "detect_stack_use_after_return=1:strict_string_checks=1",
    "UBSAN_OPTIONS": "print_stacktrace=1",
    "TSAN_OPTIONS": "halt_on_error=1:second_deadlock_stack=1",
}


# What comes behind it takes only the time that all others leave. Linux weighs sessions against each other, and niceness within one.
ASIDE = ("sh", "-c", 'echo 19 2>/dev/null >/proc/self/autogroup; exec nice -n 19 "$@"', "sh")


def in_parallel(action, items, more=0):
    """As many at once as there are cores, and some more where most of them wait."""
    with ThreadPoolExecutor(max_workers=(os.cpu_count() or 1) + more) as pool:
        list(pool.map(action, items))


def case(name, log, ended, report):
    """A step that is one test case."""
    failed = [f"{name} ({ended.note})"] if ended.code else []
    report.add(name, 0 if failed else 1, failed, ended.seconds, log.relative_to(ROOT))


def build(preset, report, *targets, before=()):
    log = LOGS / f"build-{preset}.log"
    log.unlink(missing_ok=True)
    ended = process.run([*before, ROOT / "run", "build", preset, *targets], log, timeout_seconds=BUILD_TIMEOUT_SECONDS)
    if ended.code:
        sys.stdout.write("".join(log.read_text(encoding="utf-8", errors="replace").splitlines(True)[-40:]))
        case(f"Build.{preset}", log, ended, report)
    else:
        print(f"      built {preset:<50} {ended.seconds:6.1f} s", flush=True)
    return not ended.code


def executables(preset, pattern, environment, report):
    """Every test that CMake knows; those of adapters and tests/ take longest and come last there, so first here."""
    listed = subprocess.run(["ctest", "--test-dir", ROOT / "build" / preset, "--show-only=json-v1"], check=True,
                            capture_output=True, text=True)
    tests = [(test["name"], test["command"][0]) for test in json.loads(listed.stdout)["tests"]]
    environment = {**environment, **SANITIZERS}

    def run(test):
        name, executable = test
        gtest_filter = gtest.pattern_for(name, pattern)
        if not gtest.has_match(executable, gtest_filter, environment):
            return
        log = LOGS / f"{preset}-{name}.log"
        passed, failed, seconds = gtest.run(executable, gtest_filter, environment, ROOT, log)
        label = f"{name}_tests" + ("" if preset == "dev" else f" ({preset})")
        report.add(label, passed, failed, seconds, log.relative_to(ROOT))

    in_parallel(run, reversed(tests), more=1)  # for servers, sessions and leases


def build_threads(pattern, report):
    """Whether there is something to run then."""
    sources = [path for folder in ("src", "adapters", "apps", "tests")
               for path in (ROOT / folder).rglob("*_threads_test.cc")]
    names = [f"{suite}.{test}" for path in sources
             for suite, test in re.findall(r"TEST(?:_F|_P)?\((\w+),\s*(\w+)\)", path.read_text(encoding="utf-8"))]
    return any(pattern in name for name in names) and build("tsan", report, before=ASIDE)


def fuzzers(pattern, environment, report):
    """A short run of each target of tests/fuzz."""
    targets = [path.stem for path in sorted((ROOT / "tests/fuzz").glob("*.cc")) if pattern in f"Fuzz.{path.stem}"]
    in_parallel(lambda target: fuzz(target, environment, report), targets)


def fuzz(target, environment, report):
    log = LOGS / f"fuzz-{target}.log"
    log.unlink(missing_ok=True)
    corpus = ROOT / "tests/fuzz/corpus" / target
    with tempfile.TemporaryDirectory() as scratch:  # what is found goes there, not into the tree
        command = [ROOT / "build/dev/fuzz" / f"fuzz_{target}", f"-max_total_time={FUZZ_SECONDS}",
                   f"-runs={FUZZ_RUNS}", "-timeout=10", "-rss_limit_mb=2048", "-print_final_stats=1",
                   f"-artifact_prefix={LOGS}/fuzz-{target}-", scratch, corpus]
        ended = process.run(command, log, {**environment, **SANITIZERS})
    case(f"Fuzz.{target}", log, ended, report)


def build_examples(pattern, report):
    """What the second compiler makes, and the examples and others that want it installed; none if it makes nothing."""
    programs = sorted({path.parent for folder in ("tests/install", "examples")
                       for name in ("CMakeLists.txt", "try.py") for path in (ROOT / folder).glob(f"*/{name}")})
    programs = [path for path in programs if pattern in f"Install.{path.name}"]
    return programs if programs and build("release", report, "onceward_cli", before=ASIDE) else []


def examples(programs, environment, report):
    """Installs what was made, and builds and runs every program that finds it with find_package, outside of the tree."""
    if not programs:
        return
    with tempfile.TemporaryDirectory(prefix="onceward-install-") as scratch:
        prefix = pathlib.Path(scratch) / "prefix"
        log = LOGS / "install.log"
        log.unlink(missing_ok=True)
        ended = process.run(["cmake", "--install", ROOT / "build/release", "--prefix", prefix], log, environment)
        if ended.code:
            case("Install.library", log, ended, report)
            return
        in_parallel(lambda program: outside(program, prefix, pathlib.Path(scratch), environment, report), programs)


def attempt(program, executable, scratch, log, environment):
    """Runs it by its try.py, which knows what should come out; else alone."""
    place = pathlib.Path(tempfile.mkdtemp(dir=scratch))
    script = program / "try.py"
    command = [sys.executable, script, executable] if script.exists() else [executable]
    return process.run(command, log, environment, place)


def outside(program, prefix, scratch, environment, report):
    log = LOGS / f"install-{program.name}.log"
    log.unlink(missing_ok=True)
    source, binary = scratch / program.name, scratch / f"{program.name}-build"
    shutil.copytree(program, source)
    begin = time.monotonic()
    if not (program / "CMakeLists.txt").exists():  # it needs no program but ours
        ended = attempt(program, prefix / "bin/onceward", scratch, log, environment)
        ended.seconds = time.monotonic() - begin
        case(f"Install.{program.name}", log, ended, report)
        return
    for command in (["cmake", "-G", "Ninja", "-S", source, "-B", binary, f"-DCMAKE_PREFIX_PATH={prefix}",
                     "-DCMAKE_CXX_COMPILER=g++"], ["cmake", "--build", binary]):
        ended = process.run(command, log, environment)
        if ended.code:
            break
    else:
        built = [path for path in sorted(binary.iterdir()) if path.is_file() and os.access(path, os.X_OK)]
        ended = process.Ended(1, 0, "builds no program") if not built else None
        for executable in built:
            ended = attempt(program, executable, scratch, log, environment)
            if ended.code:
                break
    ended.seconds = time.monotonic() - begin
    case(f"Install.{program.name}", log, ended, report)


def tidy(pattern, report):
    """tests/tidy speaks TAP: `ok Name` or `not ok Name`, then indented lines that say why."""
    for script in ("tidy", "self_test"):
        log = LOGS / f"{script}.log"
        log.unlink(missing_ok=True)
        ended = process.run([sys.executable, ROOT / "tests/tidy" / f"{script}.py", pattern], log, directory=ROOT)
        lines = log.read_text(encoding="utf-8").splitlines()
        passed = [line[3:] for line in lines if line.startswith("ok ")]
        failed = [line[7:] for line in lines if line.startswith("not ok ")]
        if ended.code and not failed:
            failed.append(f"{script}.py ({ended.note})")
        report.add(f"tidy/{script}", len(passed), failed, ended.seconds, log.relative_to(ROOT))
