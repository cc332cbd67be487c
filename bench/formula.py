#!/usr/bin/env python3
"""What a formula costs, compared with the built-in encoding that it repeats.

Both train the same model in turns, and the ratio is that of their fastest steps, since a neighbour can only slow a step
down. A swap is the command `pe`, with its checks and its report: the time of many swaps in one process, less that of a
process without them. About three minutes.
"""
import argparse
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import bench

SWAPS = 400
# class, built-in encoding, the same as a formula
PAIRS = [
    ("fixed, by distance", "alibi", "alibi_formula"),
    ("fixed, rotation", "rotary", "rotary_formula"),
    ("fixed, rows", "sinusoidal", "sinusoidal_formula"),
    ("learned, by distance", "t5", "t5_formula"),
    ("learned, dense", "fire", "fire_formula"),
]


def text_of(name):
    """The encoding as bench_train takes it: a formula file's formula, or the name."""
    path = os.path.join(bench.HERE, "..", "encodings", name + ".pe")
    if not os.path.exists(path):
        return name
    with open(path, encoding="utf-8") as f:
        lines = [line.split("#")[0].strip() for line in f]
    return "expr '" + "; ".join(line for line in lines if line) + "'"


def steps(args, pes):
    """Milliseconds of the fastest step of each encoding."""
    program = os.path.join(args.build, "bench", "bench_train")
    children = [bench.Child([program, "preset=tiny", "threads=1", f"pe={text_of(pe)}"]) for pe in pes]
    end = time.monotonic() + args.seconds
    while time.monotonic() < end:
        for child in children:
            child.turn(0.1)
    for child in children:
        child.close()
    return [child.best() for child in children]


def run(args, commands):
    begin = time.monotonic()
    subprocess.run([os.path.join(args.build, "pewter"), "--no-session", "-c", commands], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.monotonic() - begin


def swap(args, pe):
    """Milliseconds of one swap to the encoding; every other swap is back to none, which is left out."""
    best = [min(run(args, f"pe none; pe {name}; " * n) for _ in range(15))
            for name, n in (("none", 0), (pe, SWAPS), ("none", SWAPS))]
    return 1e3 * (best[1] - best[0] - (best[2] - best[0]) / 2) / SWAPS


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    p.add_argument("--seconds", type=float, default=10.0, help="of a pair (%(default)s)")
    p.add_argument("--build", default=os.path.join(bench.HERE, "..", "build", "release"))
    args = p.parse_args()
    rows = []
    for kind, built_in, formula in PAIRS:
        a, b = steps(args, (built_in, formula))
        s, t = swap(args, built_in), swap(args, formula)
        rows.append([kind, formula, f"{a:.2f}", f"{b:.2f}", f"{b / a:.3f}", f"{s:.2f}", f"{t:.2f}", f"{t / s:.2f}"])
    print(f"{bench.cpu_model()}, one thread, preset tiny\n")
    bench.table(["class", "formula", "step ms", "of the formula", "ratio", "swap ms", "of the formula", "ratio"], rows)


if __name__ == "__main__":
    main()
