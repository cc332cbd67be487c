#!/usr/bin/env python3
"""What a training step costs: pewter alone, one knob at a time around the demo's model.

Each line changes one of batch, length, width, layers, arms and threads, and gives the fastest step of a short run in
milliseconds: the fastest, since a neighbour can only slow a step down. Arms step in turns, as in the laboratory. About
half a minute.
"""
import argparse
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import bench

BASE = {"layers": 2, "width": 64, "heads": 8, "positions": 20, "batch": 32, "vocab": 16, "threads": 1, "arms": 1}
KNOBS = [
    ("batch", (8, 16, 64, 128)),
    ("positions", (10, 40, 80, 160)),
    ("width", (32, 128, 256)),
    ("layers", (1, 4, 8)),
    ("arms", (2, 4, 8)),
    ("threads", (2, 4)),
]


def measure(case, args):
    """Milliseconds of a step of all arms together."""
    words = [f"{key}={value}" for key, value in case.items() if key != "arms"]
    arms = [bench.Child([os.path.join(args.build, "bench", "bench_train"), *words]) for _ in range(case["arms"])]
    end = time.monotonic() + args.seconds
    while time.monotonic() < end:
        for arm in arms:
            arm.turn(0 if len(arms) > 1 else args.seconds / 4)  # 0: one step
    for arm in arms:
        arm.close()
    return sum(arm.best() for arm in arms)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    p.add_argument("--seconds", type=float, default=1.0, help="of a case (%(default)s)")
    p.add_argument("--build", default=os.path.join(bench.HERE, "..", "build", "release"))
    args = p.parse_args()
    cpus = len(os.sched_getaffinity(0))
    cases = [("", BASE)]
    cases += [(f"{key}={value}", dict(BASE, **{key: value})) for key, values in KNOBS for value in values
              if key != "threads" or value <= cpus]
    rows, first = [], None
    for label, case in cases:
        ms = measure(case, args)
        first = first or ms
        tokens = case["batch"] * case["positions"] * case["arms"]
        rows.append([label or "the demo's model", f"{ms:.2f}", f"{ms / first:.2f}", f"{1e3 * tokens / ms:,.0f}"])
    print(f"{bench.cpu_model()}, {cpus} processors\n")
    print("base: " + " ".join(f"{key}={value}" for key, value in BASE.items()) + "\n")
    bench.table(["change", "ms a step", "times", "tokens a second"], rows)


if __name__ == "__main__":
    main()
