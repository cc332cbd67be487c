#!/usr/bin/env python3
"""Why do T5's 32 buckets up to distance 128 fail beyond the trained lengths at toy size?

The toys copy one repeated symbol (2 to 10 of them, tested on 11 to 20) or sort. Distances beyond the trained ones fall
into buckets that training never met, and these keep their first values. Are these values the fault? A trained model's
bias table is edited and put back, no other weight is touched:

  as trained   nothing is edited
  zero         buckets that training never met have no bias
  clip         they have the bias of the last bucket that training met
  mean         and so has every bucket that fewer than 1 % of a head's mean count of pairs met

A table that is smaller but trained in all buckets is beside it (8 up to 16), and the toy's own scaling (16 up to 64).

usage: bench/t5_untrained.py [--task "copy variant=rsc"] [--steps 800] [--seeds 101..105] [PEWTER]
Prints a table in Markdown: mean exact match beyond the trained lengths in per cent, of each seed.
"""
import argparse
import csv
import json
import os
import struct
import subprocess
import tempfile

TABLES = [(32, 128), (16, 64), (8, 16)]
EDITS = ["as trained", "zero", "clip", "mean"]


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
    trained = [b for b, n in enumerate(met) if n > 0]
    often = [b for b in trained if n_often(met, b)]
    kept = often if edit == "mean" else trained
    out = []
    for b, row in enumerate(bias):
        if b in kept or edit == "as trained":
            out.append(row)
        else:
            out.append([0.0] * len(row) if edit == "zero" else bias[kept[-1]])
    return out


def n_often(met, bucket):
    return met[bucket] >= 0.01 * sum(met) / sum(n > 0 for n in met)


def run(program, script, folder):
    subprocess.run([program, "-c", script], cwd=folder, check=True, stdout=subprocess.DEVNULL)


def beyond(path, trained):
    with open(path) as f:
        rows = [float(r["exact"]) for r in csv.DictReader(f) if int(r["length"]) > trained]
    return 100 * sum(rows) / len(rows)


def measure(program, folder, task, steps, seed, buckets, distance, trained):
    setup = f"seed {seed}; task {task}; model tiny; optim steps={steps}; pe t5 buckets={buckets} distance={distance}"
    run(program, setup + "; train; export weights w.safetensors; export table t.json", folder)
    head, tensors, header = read_weights(os.path.join(folder, "w.safetensors"))
    with open(os.path.join(folder, "t.json")) as f:
        met = met_by_bucket(json.load(f), buckets)
    found = {}
    for edit in EDITS:
        bias = edited(bias_of(tensors, header), met, edit)
        write_weights(os.path.join(folder, "e.safetensors"), head, tensors, header, bias)
        run(program, setup + "; import weights e.safetensors; eval samples=128; export lengths l.csv", folder)
        found[edit] = beyond(os.path.join(folder, "l.csv"), trained)
    return found, sum(n > 0 for n in met)


def main():
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    parser = argparse.ArgumentParser()
    parser.add_argument("--task", default="copy variant=rsc")
    parser.add_argument("--steps", type=int, default=800)
    parser.add_argument("--trained", type=int, default=10, help="longest trained length")
    parser.add_argument("--seeds", default="101..105")
    parser.add_argument("program", nargs="?", default=os.path.join(root, "build/release/pewter"))
    args = parser.parse_args()
    first, last = (int(x) for x in args.seeds.split(".."))
    print(f"{args.task}, {args.steps} steps, seeds {args.seeds}, 128 samples a length: mean exact match beyond length "
          f"{args.trained}, per cent, of each seed (mean)\n")
    print("| T5 | buckets met | " + " | ".join(EDITS) + " |")
    print("|---|--:|" + "--:|" * len(EDITS))
    with tempfile.TemporaryDirectory() as folder:
        for buckets, distance in TABLES:
            runs = [measure(args.program, folder, args.task, args.steps, seed, buckets, distance, args.trained)
                    for seed in range(first, last + 1)]
            cells = []
            for edit in EDITS:
                x = [found[edit] for found, _ in runs]
                cells.append(", ".join("%.0f" % v for v in x) + " (%.1f)" % (sum(x) / len(x)))
            print(f"| {buckets}/{distance} | {runs[0][1]} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
