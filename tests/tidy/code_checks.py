"""What the code promises about itself. Each check returns its problems as lines; none means that it holds."""

import os
import pathlib
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor

from functions import functions_of
from tree import CODE, is_data

FUNCTION_LINES = 70
FILE_LINES = 500

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
ROOTS = ("src/", "adapters/", "apps/", "tests/", "bench/", "onceward/")


# The embedded queue is a SQLite file too: it opens it, waits for its lock and reads its errors as the store does. HTTP and mail
# are spoken by libcurl. An adapter uses another one for its technology, never for its port.
ADAPTERS_UNDER = {"embedded": ("adapters/sqlite/",), "http": ("adapters/curl/",), "smtp": ("adapters/curl/",)}


def includes(tree, file):
    for number, line in tree.lines(file):
        if match := INCLUDE.match(line):
            yield number, match[1], match[2]


def allowed_folders(tree, file):
    """The prefixes that a file may include from, or None if all."""
    top, second = file.split("/")[:2]
    tests = ("tests/",) if file.endswith(("_test.cc", "/suite.h")) else ()  # a suite is what tests share
    if top == "include":
        return ("onceward/",)
    if top == "src" and second in tree.stages:
        before = tree.stages[:tree.stages.index(second) + 1]
        return ("onceward/", *(f"src/{stage}/" for stage in before), *tests)
    if top == "adapters":
        return ("onceward/", "src/", f"adapters/{second}/", *ADAPTERS_UNDER.get(second, ()), *tests)
    if top == "apps":
        return ("onceward/", "src/", "adapters/", "apps/", *tests)
    if top == "examples":
        return ("onceward/",)
    return None


def stages_include_only_what_stands_before(tree):
    problems = [f"src/{name}: not in the list of cmake/stages.cmake"
                for name in sorted({file.split("/")[1] for file in tree.under("src")} - set(tree.stages))]
    for file in tree.code:
        allowed = allowed_folders(tree, file)
        for number, _, target in includes(tree, file):
            if allowed is not None and target.startswith(ROOTS) and not target.startswith(allowed):
                problems.append(f"{file}:{number}: may not include {target}")
    return problems


def our_includes_start_at_the_root(tree):
    return [f'{file}:{number}: write "{target}" from the root of the tree'
            for file in tree.code if not file.startswith("examples/")
            for number, quote, target in includes(tree, file) if quote == '"' and not target.startswith(ROOTS)]


def public_headers_need_only_the_standard_library(tree):
    return [f"{file}:{number}: includes {target}" for file in tree.under("include")
            for number, _, target in includes(tree, file)
            if not target.startswith("onceward/") and not re.fullmatch(r"[a-z_]+", target)]


def public_headers_compile_alone(tree):
    def compile_alone(file):
        ended = subprocess.run(["g++", "-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-Iinclude", "-x",
                                "c++", "-"], input=f'#include "{file.removeprefix("include/")}"\n', cwd=tree.root,
                               capture_output=True, text=True, check=False)
        return [f"{file}: {ended.stderr.splitlines()[0]}"] if ended.returncode else []

    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        return [problem for problems in pool.map(compile_alone, tree.under("include")) for problem in problems]


def file_names_are_snake_case(tree):
    problems = []
    for file in tree.under("include", "src", "adapters", "apps", "tests", "bench", "scripts", suffixes={*CODE, ".py", ""}):
        if not re.fullmatch(r"(?:[a-z0-9_]+/)*[a-z0-9_]+(?:\.[a-z]+)?", file) and not file.endswith("CMakeLists.txt"):
            problems.append(f"{file}: not snake_case")
    return problems


def tests_stand_beside_their_code(tree):
    problems = []
    public = {pathlib.PurePath(file).stem for file in tree.under("include")}
    for file in tree.under("src", "adapters", "apps"):
        if not file.endswith("_test.cc") or file.endswith("/conformance_test.cc"):
            continue
        stem = file.removesuffix("_test.cc").removesuffix("_threads")
        if not tree.exists(stem + ".cc") and not tree.exists(stem + ".h") and stem.split("/")[-1] not in public:
            problems.append(f"{file}: there is no {stem}.cc, {stem}.h or public header of that name")
    return problems


def type_names_say_something(tree):
    empty = re.compile(r"\b(?:class|struct|enum|concept|using)\s+(?:class\s+)?"
                       r"(\w*(?:Manager|Helper|Utils?|Impl|Base)|I[A-Z][a-z]\w*)\b(?!::)")
    return [f"{file}:{number}: {match[1]}" for file in tree.code for number, line in tree.lines(file)
            if (match := empty.search(line.split("//")[0]))]


def functions_fit_on_a_screen(tree):
    return [f"{file}:{first}: {name} has {count} lines, the limit is {FUNCTION_LINES}" for file in tree.code
            for name, first, count in functions_of(tree.text(file)) if count > FUNCTION_LINES]


def files_have_one_subject(tree):
    sources = tree.code + tree.under("scripts", "tests", suffixes={".py", ""})
    return [f"{file}: {count} lines, the limit is {FILE_LINES}" for file in sources
            if (count := len(tree.text(file).splitlines())) > FILE_LINES]


def no_test_is_skipped(tree):
    return [f"{file}:{number}: {line.strip()}" for file in tree.code for number, line in tree.lines(file)
            if re.search(r"\bGTEST_SKIP\b|\bDISABLED_", line)]


def nothing_is_left_to_do(tree):
    mark = re.compile(r"\b(?:TO" r"DO|FIX" r"ME)\b")
    return [f"{file}:{number}: {line.strip()}" for file in tree.files if not is_data(file)
            for number, line in tree.lines(file) if mark.search(line)]


def nothing_names_a_machine(tree):
    """Paths of one machine, and the hosts that packages happened to come from."""
    mark = re.compile(r"(?<![\w.])/(?:work|root|farm|home)/|\bregistry\.[a-z]|\bdeb\.debian\.|\bpypi\.|\bcrates\.io")
    return [f"{file}:{number}: {match[0]}" for file in tree.files if not is_data(file)
            for number, line in tree.lines(file) if (match := mark.search(line))]


def code_is_formatted(tree):
    if not tree.code:
        return []
    ended = subprocess.run(["clang-format-19", "--dry-run", *tree.code], cwd=tree.root, capture_output=True, text=True,
                           check=False)
    unformatted = sorted(set(re.findall(r"^(\S+?):\d+:\d+: warning", ended.stderr, re.MULTILINE)))
    problems = [f"{file}: ./run fmt changes it" for file in unformatted]
    return problems or ([ended.stderr] if ended.returncode else [])


def scripts_explain_themselves(tree):
    problems = []
    for file in tree.files:
        if re.fullmatch(r"run|scripts/(?:commands|services)/\w+", file):
            ended = subprocess.run([tree.root / file, "--help"], capture_output=True, text=True, check=False)
            if ended.returncode or "Usage:" not in ended.stdout or "Example:" not in ended.stdout:
                problems.append(f"{file} --help shows no usage or no example")
    return problems


CHECKS = [stages_include_only_what_stands_before, our_includes_start_at_the_root,
          public_headers_need_only_the_standard_library, public_headers_compile_alone, file_names_are_snake_case,
          tests_stand_beside_their_code, type_names_say_something, functions_fit_on_a_screen, files_have_one_subject,
          no_test_is_skipped, nothing_is_left_to_do, nothing_names_a_machine, code_is_formatted,
          scripts_explain_themselves]
