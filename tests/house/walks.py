#!/usr/bin/python3
"""walks.py ROOT - checks the walks of ARCHITECTURE.md: lists of files, each with what happens there.

A walk is a numbered list below a heading "### Walk: ...". Every file must exist, and every symbol that its line
names in backquotes (`pw_...`) must be defined in it. Neighbours must be linked: one of the two files names a
symbol that the other one defines. A line that is indented belongs to the line above it with less indentation, and
must be linked with that one, or with the indented line before it.
"""
import re
import sys
from pathlib import Path

HEADING = "### Walk: "

# A definition begins in the first column: a function with its body, an operation of a backend, or a table.
DEFINITION = re.compile(
    r"^[a-z][\w \*]*?\b(pw_\w+|PW_OP\(\w+\))\s*(?:\((?:[^;{}]|\n)*?\)\s*\{|(?:\[[^]]*\])*\s*=)", re.MULTILINE
)


def symbols(text):
    """The external symbols that a source file defines."""
    found = (m for m in DEFINITION.finditer(text) if not m.group(0).startswith("static "))
    return {re.sub(r"PW_OP\((\w+)\)", r"\1", m.group(1)) for m in found}


class Source:
    def __init__(self, root, path):
        text = (root / path).read_text(encoding="utf-8")
        self.path = path
        self.defines = symbols(text)
        self.names = set(re.findall(r"\w+", re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)))


def are_linked(a, b):
    return bool(a.names & b.defines or b.names & a.defines)


def items(text):
    """The items of all walks, each with the number of its line from 0."""
    walk = False
    for number, line in enumerate(text.splitlines()):
        if line.startswith("#"):
            walk = line.startswith(HEADING)
        item = re.match(r"( *)(?:\d+\.|-) `([^`]+)`(.*)", line)
        if walk and item:
            yield number, item


def check(root, text):
    """Returns the number of walks, the number of files, and what is wrong."""
    above, files, wrong = {}, 0, []  # above: the sources that the next item can belong to, by their indentation
    for number, item in items(text):
        indent, path = len(item.group(1)), item.group(2)
        where = f"ARCHITECTURE.md:{number + 1}: {path}"
        if indent == 0 and item.group(0).startswith("1."):
            above = {}
        if not (root / path).is_file():
            wrong.append(f"{where}: there is no such file")
            continue
        files += 1
        source = Source(root, path)
        for symbol in re.findall(r"`(\w+)`", item.group(3)):
            if symbol not in source.defines:
                wrong.append(f"{where}: does not define {symbol}")
        near = [above[i] for i in sorted(above) if i <= indent]
        near = near[-2:] if indent > 0 else near[:1]
        if near and not any(are_linked(entry, source) for entry in near):
            wrong.append(f"{where}: no call between it and {' or '.join(entry.path for entry in near)}")
        above = {i: entry for i, entry in above.items() if i < indent} | {indent: source}
    return text.count("\n" + HEADING), files, wrong


def main():
    root = Path(sys.argv[1])
    text = (root / "ARCHITECTURE.md").read_text(encoding="utf-8")
    walks, files, wrong = check(root, text)
    if walks < 3:
        wrong.append(f"ARCHITECTURE.md: {walks} walks, not three")
    # The check itself can fail: replace each file in turn by one that has no neighbour in any walk.
    lines = text.splitlines()
    for i, item in items(text):
        broken = lines[i].replace(item.group(2), "src/base/sha256.c", 1)
        if not check(root, "\n".join(lines[:i] + [broken] + lines[i + 1 :]))[2]:
            wrong.append(f"{item.group(2)}: another file in its place is not noticed")
    for line in wrong:
        print(line)
    print(f"{walks} walks, {files} files")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
