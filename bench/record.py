#!/usr/bin/env python3
"""What recording costs: the same training with and without a session, in turns, and what the session takes on disk.

    ./dev bench --record [--rounds N] [--steps N] [--case N]

Turns alternate, so that a noisy machine is noisy for both; the cost is the median of the rounds' ratios, and the ratio
of the fastest rounds is printed beside it. The tiny model takes the most steps a second, so there recording costs most.
Making the session, its first checkpoint, the last one and closing take as long for a minute of training as for a day:
they are measured by sessions of one step, and reported in seconds, apart from the cost."""
import argparse
import os
import shutil
import sqlite3
import statistics
import subprocess
import tempfile
import time

CASES = (
    ("tiny, one arm", "", 15000),
    ("tiny, four arms with two seeds each", "race none,alibi,t5,rotary seeds=2;", 2000),
    ("small, one arm", "model small;", 3000),
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


def once(args, lines, steps, folder):
    """Trains alone, and recorded in a new session; the order alternates with the number in the folder. Returns the
    seconds of both."""
    turns = [None, folder] if folder.endswith("0.pewter") else [folder, None]
    took = {turn: seconds(args.program, f"{lines} train {steps}", turn) for turn in turns}
    return took[None], took[folder]


def rounds(args, work, name, lines, steps):
    """Returns [(alone, recorded)] of all rounds, and the last folder."""
    took = []
    for i in range(args.rounds):
        folder = os.path.join(work, f"{name}-{i // 2}-{i % 2}.pewter")
        took.append(once(args, lines, steps, folder))
    return took, folder


def main():
    parser = argparse.ArgumentParser(prog="./dev bench --record", description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, help="of each case, instead of its own number")
    parser.add_argument("--case", type=int, choices=range(1, len(CASES) + 1), help="only the first, second, ...")
    args = parser.parse_args()
    work = tempfile.mkdtemp(prefix="pewter-record-")
    print(f"{'case':36} {'steps':>6} {'steps/s':>8} {'recorded':>8} {'cost':>7} {'fastest':>7} {'ends':>7} "
          f"{'bytes/step':>10} {'rows':>6} {'files':>10}", flush=True)
    for case, (name, lines, steps) in enumerate(CASES, 1):
        if args.case not in (None, case):
            continue
        steps = args.steps or steps
        ends, _ = rounds(args, work, f"{case}-ends", lines, 1)
        took, folder = rounds(args, work, f"{case}", lines, steps)
        # The total times include one single step; beside thousands this is negligible.
        alone, recorded = (statistics.median(e[i] for e in ends) for i in (0, 1))
        ratios = [(r - recorded) / (a - alone) for a, r in took]
        fastest = (min(r for _, r in took) - recorded) / (min(a for a, _ in took) - alone)
        models = 8 if "race" in lines else 1
        size, rows, n, files = sizes(folder)
        rate = steps * models / (statistics.median(a for a, _ in took) - alone)
        cost = statistics.median(ratios) - 1
        print(f"{name:36} {steps:6} {rate:8.0f} {rate / (1 + cost):8.0f} {100 * cost:+6.1f}% {100 * (fastest - 1):+6.1f}% "
              f"{recorded - alone:6.2f}s {size / steps / models:10.1f} {rows:6} {n:3} {files / 1e6:4.1f} MB", flush=True)
    shutil.rmtree(work)


if __name__ == "__main__":
    main()
