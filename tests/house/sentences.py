#!/usr/bin/env python3
"""sentences.py - lists sentences of more than 40 words in comments of C and CUDA, and in Markdown.

usage: sentences.py FILE...

A sentence ends at a full stop, a question mark or an exclamation mark, where its paragraph or list item ends, and at
an indented line of a comment (a list or a table there). In the cell of a table it ends at a semicolon or colon, too,
because cells hold lists. Code in Markdown counts as one word.
"""
import pathlib
import re
import sys

MOST = 40
END = re.compile(r"(?<!\bal)(?<!\bEq)(?<!\bFig)(?<!\bSec)(?<!\bApp)(?<!\be\.g)(?<!\bi\.e)(?<!\bvs)[.?!][)\"*_]*\s+")


def comment_texts(text):
    """(line, text) of each paragraph of the comments of a source file."""
    for comment in re.finditer(r"/\*.*?\*/", text, re.S):
        line = text.count("\n", 0, comment.start()) + 1
        lines = [re.sub(r"^\s*\*?", "", part) for part in comment.group()[2:-2].split("\n")]
        yield from join_lines(line, lines, lambda part: not part.strip() or re.match(r" {3,}", part))


def markdown_texts(text):
    """(line, text) of each paragraph, list item and table cell, without blocks of code."""
    text = re.sub(r"^[ \t]*```.*?^[ \t]*```[ \t]*$", lambda m: "\n" * m.group().count("\n"), text, flags=re.S | re.M)
    text = re.sub(r"`[^`]*`", lambda m: "CODE" + "\n" * m.group().count("\n"), text)
    for line, part in join_lines(1, text.split("\n"), lambda s: re.match(r"\s*([-*+] |\d+\. |#|\||$)", s)):
        cells = re.split("[|;:]", part) if part.lstrip().startswith("|") else [part]
        yield from ((line, cell) for cell in cells)


def join_lines(first, lines, begins):
    """Joins lines to texts, each of which begins where `begins` says."""
    at, joined = first, ""
    for number, line in enumerate(lines, first):
        if begins(line):
            yield at, joined
            at, joined = number, ""
        joined += " " + line
    yield at, joined


def main():
    found = 0
    for name in sys.argv[1:]:
        text = pathlib.Path(name).read_text(encoding="utf-8")
        for line, part in (markdown_texts if name.endswith(".md") else comment_texts)(text):
            for sentence in END.split(part):
                words = [w for w in sentence.split() if re.search(r"\w", w)]
                if len(words) > MOST:
                    found += 1
                    print(f"{name}:{line}: {len(words)} words: {' '.join(words)[:90]}")
    sys.exit(found > 0)


if __name__ == "__main__":
    main()
