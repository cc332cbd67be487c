#!/usr/bin/env python3
"""What recording costs: the same training with and without a session, in turns, and what the session takes on disk.

    ./dev bench --record [--rounds N] [--steps N]

Turns alternate, so that a noisy machine is noisy for both; the cost is the median of the rounds' ratios. The tiny
model takes the most steps a second, so there recording costs most."""
import argparse
import os
import shutil
import sqlite3
import statistics
import subprocess
import tempfile
import time

CASES = (
    ("tiny, one arm", "", 3000),
    ("tiny, four arms with two seeds each", "race none,alibi,t5,rotary seeds=2;", 400),
    ("small, one arm", "model small;", 200),
)


def seconds(program, lines, session):
    begin = time.monotonic()
    command = [program] + (["--session", session] if session else []) + ["-c", lines]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - begin


def sizes(folder):
    """Bytes of the database, rows of events, number and bytes of checkpoints' files."""
    path = os.path.join(folder, "session.db")
    files = os.path.join(folder, "files")
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    rows = db.execute("SELECT count(*) FROM event").fetchone()[0]
    db.close()
    names = os.listdir(files)
    return os.path.getsize(path), rows, len(names), sum(os.path.getsize(os.path.join(files, n)) for n in names)


def main():
    parser = argparse.ArgumentParser(prog="./dev bench --record", description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--steps", type=int, help="of each case, instead of its own number")
    args = parser.parse_args()
    work = tempfile.mkdtemp(prefix="pewter-record-")
    print(f"{'case':38} {'steps':>6} {'steps/s':>8} {'recorded':>8} {'cost':>7} {'bytes/step':>10} {'rows':>6} {'files':>10}")
    for case, (name, lines, steps) in enumerate(CASES):
        steps = args.steps or steps
        ratios, plain = [], []
        idle = statistics.median(seconds(args.program, lines, None) for _ in range(3))
        for i in range(args.rounds):
            folder = os.path.join(work, f"{case}-{i}.pewter")
            turns = [None, folder] if i % 2 == 0 else [folder, None]
            took = {turn: seconds(args.program, f"{lines} train {steps}", turn) - idle for turn in turns}
            plain.append(took[None])
            ratios.append(took[folder] / took[None])
        models = 8 if "race" in lines else 1
        size, rows, n, files = sizes(folder)
        rate, cost = steps * models / statistics.median(plain), statistics.median(ratios) - 1
        print(f"{name:38} {steps:6} {rate:8.0f} {rate / (1 + cost):8.0f} {100 * cost:+6.1f}% "
              f"{size / steps / models:10.1f} {rows:6} {n:3} {files / 1e6:4.1f} MB")
    shutil.rmtree(work)


if __name__ == "__main__":
    main()
