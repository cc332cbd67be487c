#!/usr/bin/env python3
"""coverage.py - says which share of the program's lines the tests have run, by folder, and names the files with the
most lines that were not run. It reads what a build with --coverage has counted (`./dev coverage`), by gcov.

Not counted: tests, and kernels/cuda, of which gcov sees only what the emulator runs. Lines that only a killed process
has run count as not run, because it writes no counts.

usage: coverage.py ROOT BUILD [FILES]      FILES: how many files are named, 15 unless given
"""
import collections
import json
import os
import subprocess
import sys


def counts(root, build):
    """Returns {source: {line: whether it was run}} of the program's sources."""
    notes = []
    for folder, _, names in os.walk(build):
        notes += [os.path.join(folder, name) for name in names if name.endswith(".gcno")]
    lines = collections.defaultdict(lambda: collections.defaultdict(bool))
    for at in range(0, len(notes), 100):
        command = ["gcov", "--json-format", "--stdout", *notes[at:at + 100]]
        out = subprocess.run(command, capture_output=True, text=True, check=True, cwd=build).stdout
        for text in out.splitlines():
            if not text.startswith("{"):
                continue
            for file in json.loads(text)["files"]:
                source = os.path.relpath(os.path.join(build, file["file"]), root)
                if source.split("/")[0] in ("src", "kernels", "sessions", "tasks") and not source.startswith("kernels/cuda"):
                    for line in file["lines"]:
                        lines[source][line["line_number"]] |= line["count"] > 0
    return lines


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__.split("\n\n")[-1].strip())
    root, build = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    lines = counts(root, build)
    if not lines:
        sys.exit(f"coverage.py: no counts of gcov in {build}: build it by `./dev coverage`")
    folders = collections.defaultdict(lambda: [0, 0])
    for source, ran in lines.items():
        for name in (os.path.dirname(source), "all"):
            folders[name][0] += sum(ran.values())
            folders[name][1] += len(ran)
    for name, (ran, all_lines) in sorted(folders.items(), key=lambda item: (item[0] == "all", item[0])):
        print(f"{name:24} {100 * ran / all_lines:5.1f} % of {all_lines} lines")
    print("\nmost lines that were not run:")
    missed = sorted(lines, key=lambda source: sum(lines[source].values()) - len(lines[source]))
    for source in missed[:int(sys.argv[3]) if len(sys.argv) == 4 else 15]:
        n = len(lines[source]) - sum(lines[source].values())
        print(f"{source:40} {n} of {len(lines[source])}")


if __name__ == "__main__":
    main()
