"""Holds the repository to what it promises about itself. One line a check: `ok Tidy.Name` or `not ok Tidy.Name`.

Run by ./run test; alone: python3 tests/tidy/tidy.py [part of a name]. Style that nobody checks is a wish.
"""

import pathlib
import sys

import code_checks
import docs_checks
from tree import Tree

CHECKS = code_checks.CHECKS + docs_checks.CHECKS


def name_of(check):
    return "".join(word.capitalize() for word in check.__name__.split("_"))


def run(cases):
    """cases is a list of (name, function that returns its problems). Returns the exit code."""
    failed = False
    for name, problems_of in cases:
        if len(sys.argv) > 1 and sys.argv[1] not in name:
            continue
        problems = problems_of()
        failed = failed or bool(problems)
        print(("not ok " if problems else "ok ") + name, *problems, sep="\n    ", flush=True)
    return 1 if failed else 0


def main():
    tree = Tree(pathlib.Path(__file__).resolve().parents[2])
    tree.tests.update(f"Tidy.{name_of(check)}" for check in CHECKS)
    return run([(f"Tidy.{name_of(check)}", lambda check=check: check(tree)) for check in CHECKS])


if __name__ == "__main__":
    sys.exit(main())
