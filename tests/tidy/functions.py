"""Finds the functions of a C++ file and their lengths by matching braces, which is enough for code that compiles."""

import re

NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'|^\s*#[^\n]*',
                   re.DOTALL | re.MULTILINE)
SCOPE = re.compile(r"\b(?:namespace|class|struct|union|enum)\b|^\s*extern\s*$")


def functions_of(text):
    """Yields (name, first line, number of lines) of each function that is not inside another one."""
    # Replaced by blanks of the same shape, so that offsets and line numbers stay.
    text = NOISE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    scopes = []  # for each open brace: True if functions may begin inside it
    head = 0     # where the declaration before the next brace begins
    function = None
    for match in re.finditer(r"[{};]", text):
        mark, at = match[0], match.start()
        if mark == "{":
            before = text[head:at]
            outer = all(scopes)
            is_scope = bool(SCOPE.search(re.sub(r"<[^<>]*>|\([^()]*\)", "", before)))
            scopes.append(outer and is_scope)
            if outer and not is_scope and "(" in before:
                begin = head + len(before) - len(before.lstrip())
                function = (len(scopes), name_of(before), text.count("\n", 0, begin) + 1)
        elif mark == "}":
            if function and len(scopes) == function[0]:
                yield function[1], function[2], text.count("\n", 0, at) + 2 - function[2]
                function = None
            if scopes:
                scopes.pop()
        if function is None or mark == "{" and len(scopes) == function[0]:
            head = match.end()


def name_of(declaration):
    test = re.search(r"\b(?:TEST\w*|TYPED_TEST\w*|RC_GTEST\w*)\(\s*(\w+)\s*,\s*(\w+)", declaration)
    if test:
        return f"{test[1]}.{test[2]}"
    return re.search(r"([\w:~]*|operator\S+)\s*\(", declaration)[1]
