"""What the documents promise: links, file names, commands and tests that exist."""

import pathlib
import re

GUARANTEES = "docs/concepts/guarantees.md"
MISSION = "docs/reference/mission.md"
WALK = "src/README.md"
LINK = re.compile(r"\]\(([^)\s]+)\)")
TEST_NAME = re.compile(r"\b([A-Z]\w*\.[\w-]+)")


def without_code_blocks(text):
    """Blank lines instead of code blocks, so that line numbers stay."""
    return re.sub(r"^```.*?^```", lambda match: "\n" * match[0].count("\n"), text, flags=re.DOTALL | re.MULTILINE)


def anchors_of(text):
    headings = re.findall(r"^#+\s+(.*)$", without_code_blocks(text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in headings}


def links_lead_somewhere(tree):
    problems = []
    for file in tree.documents:
        for target in LINK.findall(without_code_blocks(tree.text(file))):
            path, _, anchor = target.partition("#")
            if re.match(r"[a-z]+:", target):
                continue
            where = tree.root / pathlib.PurePath(file).parent / path if path else tree.root / file
            if not where.exists():
                problems.append(f"{file}: {target}")
            elif anchor and where.suffix == ".md" and anchor not in anchors_of(where.read_text(encoding="utf-8")):
                problems.append(f"{file}: {target} (no such heading)")
    return problems


def named_files_exist(tree):
    tops = ("src/", "include/", "adapters/", "apps/", "tests/", "bench/", "examples/", "docs/", "scripts/", "cmake/",
            "onceward/")
    problems = []
    for file in tree.documents:
        for name in re.findall(r"`([\w./-]+)`", tree.text(file)):
            path = name.rstrip("/")
            if name.startswith(tops) and not tree.exists(path) and not tree.exists("include/" + path):
                problems.append(f"{file}: {name}")
    return problems


def named_commands_exist(tree):
    known = {
        "build": lambda word: f'"name": "{word}"' in tree.text("CMakePresets.json"),
        "bench": lambda word: tree.exists(f"bench/{word}.cc"),
        "services": lambda word: word in ("up", "down", "status", "env"),
    }
    problems = []
    for file in tree.documents:
        for command, word in re.findall(r"\./run ([a-z]+)(?: ([a-z]\w*)\b(?!\|))?", tree.text(file)):
            if not tree.exists(f"scripts/commands/{command}"):
                problems.append(f"{file}: ./run {command}")
            elif word and command in known and not known[command](word):
                problems.append(f"{file}: ./run {command} {word}")
    return problems


def missing_tests(tree, names):
    return [name for name in names if name not in tree.tests]


def bullets_of(text):
    """(line, text) of each bullet, its continuation lines joined."""
    bullets = []
    for number, line in enumerate(without_code_blocks(text).splitlines(), 1):
        if re.match(r"\s*[-*] ", line):
            bullets.append([number, line.strip()[2:]])
        elif bullets and line.startswith("  ") and line.strip():
            bullets[-1][1] += " " + line.strip()
    return bullets


def guarantees_name_their_tests(tree):
    """Every bullet ends with the tests that prove it: `- What holds. [Suite.Test, Suite.Test]`."""
    if not tree.exists(GUARANTEES):
        return [f"{GUARANTEES} is missing"]
    problems = []
    for number, text in bullets_of(tree.text(GUARANTEES)):
        proof = re.search(r"\[([\w., -]+)\]$", text)
        names = TEST_NAME.findall(proof[1]) if proof else []
        if not names:
            problems.append(f"{GUARANTEES}:{number}: names no test")
        problems += [f"{GUARANTEES}:{number}: there is no {name}" for name in missing_tests(tree, names)]
    return problems


def mission_rows_name_their_tests(tree):
    """Every row ends with the tests of what it says, or with `not yet`."""
    if not tree.exists(MISSION):
        return [f"{MISSION} is missing"]
    problems = []
    for number, line in tree.lines(MISSION):
        row = re.match(r"\|\s*([A-Z]+\d+)\b.*\|([^|]*)\|\s*$", line)
        if not row or row[2].strip() == "not yet":
            continue
        names = TEST_NAME.findall(row[2])
        if not names:
            problems.append(f"{MISSION}:{number}: {row[1]} names no test")
        problems += [f"{MISSION}:{number}: there is no {name}" for name in missing_tests(tree, names)]
    return problems


def the_stages_are_walked_in_order(tree):
    """src/README.md has a row for every stage that has code, in the order of cmake/stages.cmake."""
    wanted = [stage for stage in tree.stages if any(file.startswith(f"src/{stage}/") for file in tree.files)]
    rows = re.findall(r"^\| `(\w+)` \|", tree.text(WALK), re.MULTILINE) if tree.exists(WALK) else []
    walked = [stage for stage in rows if stage in wanted]
    return [] if walked == wanted else [f"{WALK}: walks {', '.join(walked)}; the stages are {', '.join(wanted)}"]


def every_page_is_in_an_index(tree):
    """A page of docs/ is linked from docs/README.md or from the README of its own folder."""
    linked = {(pathlib.PurePath(index).parent / target.partition("#")[0]).as_posix()
              for index in tree.documents if index.startswith("docs/") and index.endswith("README.md")
              for target in LINK.findall(tree.text(index))}
    return [f"{file}: no index links to it" for file in tree.documents
            if file.startswith("docs/") and file != "docs/README.md" and file not in linked]


def code_from_files_is_theirs(tree):
    """<!-- path --> before a code block: the block is that file, as it stands."""
    problems = []
    for file in tree.documents:
        for path, code in re.findall(r"^<!-- (\S+) -->\n```\w*\n(.*?)^```", tree.text(file), re.DOTALL | re.MULTILINE):
            if not tree.exists(path) or tree.text(path) != code:
                problems.append(f"{file}: {path} reads otherwise")
    return problems


CHECKS = [links_lead_somewhere, named_files_exist, named_commands_exist, guarantees_name_their_tests,
          mission_rows_name_their_tests, the_stages_are_walked_in_order, every_page_is_in_an_index,
          code_from_files_is_theirs]
