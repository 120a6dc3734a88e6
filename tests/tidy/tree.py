"""The repository as the checks see it: its files, their text, the stages, the names of its tests."""

import functools
import pathlib
import re

IGNORED = {".git", "build", ".deps", "__pycache__"}
CODE = {".h", ".cc"}
# Bytes that are data, whatever they look like.
DATA_FOLDERS = {"corpus", "golden"}

GTEST = re.compile(r"\b(?:TEST(?:_F|_P)?|TYPED_TEST(?:_P)?|RC_GTEST_(?:TYPED_)?(?:FIXTURE_)?PROP)"
                   r"\(\s*(\w+)\s*,\s*(\w+)")


class Tree:
    def __init__(self, root):
        self.root = pathlib.Path(root)

    @functools.cached_property
    def files(self):
        """All files, as paths relative to the root, with / between."""
        found = []
        stack = [self.root]
        while stack:
            for path in sorted(stack.pop().iterdir()):
                if path.is_dir() and path.name not in IGNORED:
                    stack.append(path)
                elif path.is_file():
                    found.append(path.relative_to(self.root).as_posix())
        return sorted(found)

    def under(self, *folders, suffixes=CODE):
        return [file for file in self.files
                if file.split("/")[0] in folders and pathlib.PurePath(file).suffix in suffixes and not is_data(file)]

    @functools.cached_property
    def code(self):
        return self.under("include", "src", "adapters", "apps", "tests", "bench", "examples")

    @functools.cached_property
    def documents(self):
        return [file for file in self.files if file.endswith(".md")]

    @functools.cache
    def text(self, file):
        return (self.root / file).read_text(encoding="utf-8", errors="replace")

    def lines(self, file):
        return enumerate(self.text(file).splitlines(), 1)

    def exists(self, path):
        return (self.root / path).exists()

    @functools.cached_property
    def stages(self):
        return self._cmake_list("ONCEWARD_STAGES")

    @functools.cached_property
    def adapters(self):
        return self._cmake_list("ONCEWARD_ADAPTERS")

    def _cmake_list(self, name):
        return re.search(rf"set\({name}\s+([^)]*)\)", self.text("cmake/stages.cmake"))[1].split()

    @functools.cached_property
    def tests(self):
        """Suite.Test of every case that ./run test can count."""
        names = {f"{suite}.{test}" for file in self.code for suite, test in GTEST.findall(self.text(file))}
        for file in self.files:
            if match := re.fullmatch(r"(?:examples|tests/install)/([^/]+)/(?:CMakeLists\.txt|try\.py)", file):
                names.add(f"Install.{match[1]}")
            elif match := re.fullmatch(r"tests/fuzz/([^/]+)\.cc", file):
                names.add(f"Fuzz.{match[1]}")
        return names | {"Clang.CompilesWithoutWarnings"}


def is_data(file):
    return bool(DATA_FOLDERS.intersection(file.split("/")[:-1]))
