#!/usr/bin/env python3
"""Runs the code of a Markdown page in the current folder, in order: blocks of sh by bash, blocks of python here.

usage: run_page.py PAGE     `pewter` must be in PATH. A missing numpy, torch or transformer_lens skips the rest of the
section (from one "## " heading to the next). Exit status 77 if no block of python could be run.
"""
import re
import subprocess
import sys

OPTIONAL = ("numpy", "torch", "transformer_lens")


def main():
    page = open(sys.argv[1], encoding="utf-8").read()
    names, run, blocks = {}, 0, 0
    for section in re.split(r"^(?=## )", page, flags=re.M):
        missing = None
        for kind, code in re.findall(r"^```(python|sh)\n(.*?)^```$", section, re.M | re.S):
            if missing:
                continue
            if kind == "sh":
                subprocess.run(["bash", "-e", "-c", code], check=True)
                continue
            try:
                exec(compile(code, sys.argv[1], "exec"), names)
                run += 1
            except ModuleNotFoundError as error:
                missing = error.name.split(".")[0]
                if missing not in OPTIONAL:
                    raise
                print(f"skipped: {section.splitlines()[0]}: there is no {missing}")
                if missing == "numpy":
                    sys.exit(77)
        blocks += len(re.findall(r"^```python$", section, re.M))
    print(f"{run} of {blocks} blocks of python ran")
    sys.exit(0 if run > 0 else 77)


main()
