"""Holds the repository to what it promises about itself. One line a check: `ok Tidy.Name` or `not ok Tidy.Name`.

Run by ./run test; alone: python3 tests/tidy/tidy.py [root]. Style that nobody checks is a wish.
"""

import pathlib
import sys

import code_checks
import docs_checks
from tree import Tree

CHECKS = code_checks.CHECKS + docs_checks.CHECKS


def name_of(check):
    return "".join(word.capitalize() for word in check.__name__.split("_"))


def main():
    tree = Tree(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2])
    tree.tests.update(f"Tidy.{name_of(check)}" for check in CHECKS)
    failed = 0
    for check in CHECKS:
        problems = check(tree)
        failed += bool(problems)
        print(("not ok" if problems else "ok") + f" Tidy.{name_of(check)}")
        for problem in problems:
            print(f"    {problem}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
