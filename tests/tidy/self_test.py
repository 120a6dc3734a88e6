"""Every check of tests/tidy is seen to fail: a tiny tree that passes all of them, and for each one violation planted."""

import pathlib
import sys
import tempfile

import tidy
from tree import Tree

HEADER = "#pragma once\n\nnamespace onceward {\n\nint answer();\n\n}  // namespace onceward\n"
HELP = '#!/bin/sh\necho "Usage: x"\necho "Example: x"\n'

CLEAN = {
    ".clang-format": "BasedOnStyle: Google\n",
    "CMakePresets.json": '{"configurePresets": [{"name": "dev"}]}\n',
    "cmake/stages.cmake": "set(ONCEWARD_STAGES common inbox)\nset(ONCEWARD_ADAPTERS sqlite)\n",
    "include/onceward/answer.h": HEADER,
    "src/common/answer.cc": '#include "onceward/answer.h"\n\nnamespace onceward {\n\nint answer() { return 42; }\n\n'
                            "}  // namespace onceward\n",
    "src/common/answer_test.cc": '#include "onceward/answer.h"\n\nTEST(Answer, IsKnown) {}\n',
    "src/inbox/batch.h": '#pragma once\n\n#include "src/common/sum.h"\n',
    "src/common/sum.h": "#pragma once\n",
    "adapters/embedded/queue.h": '#pragma once\n\n#include "adapters/sqlite/store.h"\n',
    "src/README.md": "| `common` | sums |\n| `inbox` | claims |\n",
    "scripts/commands/build": HELP,
    "docs/README.md": "# Title\n\nSee [guarantees](concepts/guarantees.md#held), `src/common/sum.h`, `./run build dev`, "
                      "[mission](reference/mission.md).\n",
    "docs/concepts/guarantees.md": "# Held\n\n- The answer\n  is known. [Answer.IsKnown]\n",
    "docs/reference/mission.md": "| row | what | tests |\n|---|---|---|\n| A1 | answer | `Answer.IsKnown` |\n"
                                 "| A2 | more | not yet |\n",
}

# check -> the violations that it must see, each a file and its text.
PLANTED = {
    "CodeFromFilesIsTheirs": [
        ("docs/README.md", "# Title\n\n[g](concepts/guarantees.md) [m](reference/mission.md)\n\n"
                           "<!-- src/common/sum.h -->\n```cpp\n#pragma twice\n```\n"),
    ],
    "StagesIncludeOnlyWhatStandsBefore": [
        ("src/common/sum.h", '#pragma once\n\n#include "src/inbox/batch.h"\n'),
        ("src/inbox/batch.h", '#pragma once\n\n#include "adapters/sqlite/store.h"\n'),
        ("adapters/sqlite/store.h", '#pragma once\n\n#include "adapters/postgres/store.h"\n'),
        ("adapters/sqlite/store.h", '#pragma once\n\n#include "adapters/embedded/queue.h"\n'),
        ("adapters/embedded/queue.h", '#pragma once\n\n#include "adapters/postgres/store.h"\n'),
        ("include/onceward/answer.h", '#pragma once\n\n#include "src/common/sum.h"\n'),
        ("src/elsewhere/sum.h", "#pragma once\n"),
        ("examples/01-hello/main.cc", '#include "src/common/sum.h"\n'),
    ],
    "OurIncludesStartAtTheRoot": [("src/inbox/batch.h", '#pragma once\n\n#include "other.h"\n')],
    "PublicHeadersNeedOnlyTheStandardLibrary": [("include/onceward/answer.h", "#pragma once\n\n#include <libpq-fe.h>\n")],
    "PublicHeadersCompileAlone": [("include/onceward/answer.h", "#pragma once\n\nstd::string answer();\n")],
    "FileNamesAreSnakeCase": [("src/inbox/BatchKey.h", "#pragma once\n"), ("src/inbox/batch-key.h", "#pragma once\n")],
    "TestsStandBesideTheirCode": [("src/inbox/lonely_test.cc", "TEST(Lonely, Stands) {}\n")],
    "TypeNamesSaySomething": [("src/inbox/batch.h", f"#pragma once\n\n{text}\n") for text in
                              ("class BatchManager;", "struct StringUtils {};", "class StoreImpl;", "class IStore;")],
    "FunctionsFitOnAScreen": [
        ("src/inbox/batch.cc", "void f() {\n" + "  f();\n" * 70 + "}\n"),
        ("src/inbox/batch.cc", "namespace {\nclass C {\n  void f() {\n    if (1) {\n" + "      f();\n" * 70
         + "    }\n  }\n};\n}  // namespace\n"),
    ],
    "FilesHaveOneSubject": [("src/inbox/batch.h", "#pragma once\n" + "// line\n" * 500)],
    "NoTestIsSkipped": [("src/common/answer_test.cc", "TEST(Answer, IsKnown) { GTEST_SKIP(); }\n"),
                        ("src/common/answer_test.cc", "TEST(Answer, DISABLED_IsKnown) {}\nTEST(Answer, IsKnown) {}\n")],
    "NothingIsLeftToDo": [("src/inbox/batch.h", "#pragma once\n// TO" "DO: more\n")],
    "NothingNamesAMachine": [("docs/README.md", "Look into /" "root/x\n"), ("docs/README.md", "From registry" ".x.org\n")],
    "CodeIsFormatted": [("src/inbox/batch.h", "#pragma once\nint  f( );\n")],
    "ScriptsExplainThemselves": [("scripts/commands/build", "#!/bin/sh\necho building\n")],
    "LinksLeadSomewhere": [("docs/README.md", "[gone](gone.md)\n"),
                           ("docs/README.md", "[gone](concepts/guarantees.md#gone)\n")],
    "NamedFilesExist": [("docs/README.md", "Read `src/common/gone.h`.\n")],
    "NamedCommandsExist": [("docs/README.md", f"`./run {text}`\n") for text in
                           ("fly", "build fast", "bench gone", "services sideways")],
    "GuaranteesNameTheirTests": [("docs/concepts/guarantees.md", "# Held\n\n- The answer is known.\n"),
                                 ("docs/concepts/guarantees.md", "# Held\n\n- Known. [Answer.IsGone]\n")],
    "MissionRowsNameTheirTests": [("docs/reference/mission.md", "| A1 | answer | `Answer.IsGone` |\n"),
                                  ("docs/reference/mission.md", "| A1 | answer | |\n")],
    "TheStagesAreWalkedInOrder": [("src/README.md", "| `inbox` | claims |\n| `common` | sums |\n"),
                                  ("src/README.md", "| `common` | sums |\n")],
    "EveryPageIsInAnIndex": [("docs/reference/lonely.md", "# Lonely\n")],
}


def grow(root, files):
    for name, text in files.items():
        path = pathlib.Path(root) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        if name.startswith("scripts/"):
            path.chmod(0o755)


def problems_of(check, files):
    with tempfile.TemporaryDirectory() as root:
        grow(root, files)
        return check(Tree(root))


def complaints_of(check):
    name = tidy.name_of(check)
    complaints = [f"complains about a clean tree: {problem}" for problem in problems_of(check, CLEAN)]
    for file, text in PLANTED.get(name, []):
        if not problems_of(check, {**CLEAN, file: text}):
            complaints.append(f"does not see what is planted in {file}: {text[:60]!r}")
    if name not in PLANTED:
        complaints.append("has no planted violation")
    return complaints


def main():
    return tidy.run([(f"TidySelfTest.{tidy.name_of(check)}IsSeenToFail", lambda check=check: complaints_of(check))
                     for check in tidy.CHECKS])


if __name__ == "__main__":
    sys.exit(main())
