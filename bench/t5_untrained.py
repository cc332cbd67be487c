#!/usr/bin/env python3
"""Why do T5's 32 buckets up to distance 128 fail beyond the trained lengths at toy size?

The toys copy one repeated symbol (2 to 10 of them, tested on 11 to 20) or sort. Distances beyond the trained ones fall
into buckets not seen in training, which keep their initial values. The study tests whether these values are the cause.
It edits the bias table of a trained model and no other weight:

  as trained   the table is unchanged
  zero         buckets not seen in training have no bias
  clip         they have the bias of the last bucket seen in training

For comparison it trains the same table with initial values of 0; tables with a bucket for every distance (64/64), with
fewer buckets, and with all buckets trained (16/22, 8/16); and one scaled to the toy's lengths (16/64). The column
"exact" counts the trained distances that have a bucket of their own.

usage: bench/t5_untrained.py [--task "copy variant=rsc"] [--steps 800] [--trained 10] [--seeds 101..105] [--tables 32/128] [PEWTER]
Prints a table in Markdown: mean exact match beyond the trained lengths in per cent, of each seed.
"""
import argparse
import csv
import json
import os
import struct
import subprocess
import tempfile

# Buckets, distance, and the initial values of the table: True: random; False: 0.
TABLES = [(32, 128, True), (32, 128, False), (64, 64, True), (16, 64, True), (16, 22, True), (8, 128, True), (8, 16, True)]
EDITS = ["as trained", "zero", "clip"]


def read_weights(path):
    with open(path, "rb") as f:
        data = f.read()
    size = struct.unpack("<Q", data[:8])[0]
    return data[: 8 + size], bytearray(data[8 + size :]), json.loads(data[8 : 8 + size])


def bias_of(tensors, header):
    begin, end = header["pe.bias"]["data_offsets"]
    rows, heads = header["pe.bias"]["shape"]
    values = struct.unpack("<%df" % (rows * heads), tensors[begin:end])
    return [list(values[r * heads : (r + 1) * heads]) for r in range(rows)]


def write_weights(path, head, tensors, header, bias):
    begin, end = header["pe.bias"]["data_offsets"]
    flat = [x for row in bias for x in row]
    tensors = tensors[:begin] + struct.pack("<%df" % len(flat), *flat) + tensors[end:]
    with open(path, "wb") as f:
        f.write(head + tensors)


def met_by_bucket(table, buckets):
    met = [0] * buckets
    for bucket, pairs in zip(table["bucket"], table["met"]):
        met[bucket] += pairs
    return met


def edited(bias, met, edit):
    last = max(b for b, n in enumerate(met) if n > 0)
    if edit == "as trained":
        return bias
    return [row if met[b] > 0 else [0.0] * len(row) if edit == "zero" else bias[last] for b, row in enumerate(bias)]


def exact_distances(table):
    """The number of trained distances that share their bucket with no other distance of the table."""
    return sum(n > 0 and table["bucket"].count(b) == 1 for b, n in zip(table["bucket"], table["met"]))


def run(program, script, folder):
    subprocess.run([program, "-c", script], cwd=folder, check=True, stdout=subprocess.DEVNULL)


def beyond(path, trained):
    with open(path) as f:
        rows = [float(r["exact"]) for r in csv.DictReader(f) if int(r["length"]) > trained]
    return 100 * sum(rows) / len(rows)


def replace_bias(folder, source, target, make):
    head, tensors, header = read_weights(os.path.join(folder, source))
    bias = make(bias_of(tensors, header))
    write_weights(os.path.join(folder, target), head, tensors, header, bias)


def measure(program, folder, args, seed, buckets, distance, drawn):
    setup = (f"seed {seed}; task {args.task}; model tiny; optim steps={args.steps}; "
             f"pe t5 buckets={buckets} distance={distance}")
    first = ""
    if not drawn:
        run(program, setup + "; export weights first.safetensors", folder)
        replace_bias(folder, "first.safetensors", "zero.safetensors", lambda b: [[0.0] * len(r) for r in b])
        first = "; import weights zero.safetensors"
    run(program, setup + first + "; train; export weights w.safetensors; export table t.json", folder)
    with open(os.path.join(folder, "t.json")) as f:
        table = json.load(f)
    met = met_by_bucket(table, buckets)
    found = {}
    for edit in EDITS:
        replace_bias(folder, "w.safetensors", "e.safetensors", lambda b: edited(b, met, edit))
        run(program, setup + "; import weights e.safetensors; eval samples=128; export lengths l.csv", folder)
        found[edit] = beyond(os.path.join(folder, "l.csv"), args.trained)
    return found, sum(n > 0 for n in met), exact_distances(table)


def main():
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    parser = argparse.ArgumentParser()
    parser.add_argument("--task", default="copy variant=rsc")
    parser.add_argument("--steps", type=int, default=800)
    parser.add_argument("--trained", type=int, default=10, help="longest trained length")
    parser.add_argument("--seeds", default="101..105")
    parser.add_argument("--tables", help="only these, as 32/128,16/64")
    parser.add_argument("program", nargs="?", default=os.path.join(root, "build/release/pewter"))
    args = parser.parse_args()
    first, last = (int(x) for x in args.seeds.split(".."))
    print(f"{args.task}, {args.steps} steps, seeds {args.seeds}, 128 samples a length: mean exact match beyond length "
          f"{args.trained}, per cent, of each seed (mean)\n")
    print("| T5 | initial values | buckets reached | exact | " + " | ".join(EDITS) + " |")
    print("|---|---|--:|--:|" + "--:|" * len(EDITS))
    with tempfile.TemporaryDirectory() as folder:
        for buckets, distance, drawn in TABLES:
            if args.tables and f"{buckets}/{distance}" not in args.tables.split(","):
                continue
            runs = [measure(args.program, folder, args, seed, buckets, distance, drawn)
                    for seed in range(first, last + 1)]
            cells = []
            for edit in EDITS:
                x = [found[edit] for found, _, _ in runs]
                cells.append(", ".join("%.0f" % v for v in x) + " (%.1f)" % (sum(x) / len(x)))
            print(f"| {buckets}/{distance} | {'drawn' if drawn else '0'} | {runs[0][1]} of {buckets} | {runs[0][2]} | "
                  + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
