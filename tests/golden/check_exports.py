#!/usr/bin/env python3
"""Exports against PyTorch: the files alone (weights, configuration, batch, attention) must give pewter's own numbers.

usage: check_exports.py PEWTER FOLDER     For every encoding and several tasks: trains 3 steps, exports, trains the 4th.
The model below is written from the checkpoint's metadata only. Exit status 77 where there is no PyTorch.
"""
import json
import math
import os
import struct
import subprocess
import sys

try:
    import numpy as np
    import torch
    from torch.nn import functional
except ImportError:
    print("skipped: no PyTorch")
    sys.exit(77)

TOLERANCE = 1e-5  # float32 sums in another order
TASKS = {
    "sort": "sort 3 1 2",
    "copy variant=rsc text=paper": "copy a a a",
    "sort,copy,lego": "lego a = -1, b = -a, b ?",
}


def load(path):
    data = open(path, "rb").read()
    n = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8 : 8 + n])
    meta = header.pop("__metadata__")
    tensors = {}
    for name, t in header.items():
        begin, end = t["data_offsets"]
        values = np.frombuffer(data[8 + n + begin : 8 + n + end], dtype="<f4")
        tensors[name] = torch.from_numpy(values.reshape(t["shape"]).copy())
    return tensors, json.loads(meta["pewter.config"])


def bucket(distance, buckets, most):
    exact = buckets // 2
    if distance < exact:
        return distance
    log = math.log(distance / exact) / math.log(most / exact) * (buckets - exact)
    return min(buckets - 1, exact + int(log + 1e-9))


def slopes(heads):
    power = 2 ** int(math.log2(heads))
    first = [2 ** (-8 * (i + 1) / power) for i in range(power)]
    return first + [2 ** (-4 * (2 * i + 1) / power) for i in range(heads - power)]


def frequencies(base, width):
    return base ** (-torch.arange(0, width, 2).double() / width)


def rotate(x, dims, base):
    """Pairs (i, i + dims/2) of the first dims entries of x [H,T,D]."""
    angle = (torch.arange(x.shape[1])[:, None].double() * frequencies(base, dims)).float()
    a, b = x[..., : dims // 2], x[..., dims // 2 : dims]
    c, s = angle.cos(), angle.sin()
    return torch.cat([a * c - b * s, a * s + b * c, x[..., dims:]], -1)


def rms_norm(x, gain):
    return x / torch.sqrt((x * x).mean(-1, keepdim=True) + 1e-6) * gain


def score_bias(w, config, T):
    pe, H = config["pe"], config["heads"]
    distance = (torch.arange(T)[:, None] - torch.arange(T)[None]).clamp(min=0)
    if pe["name"] == "t5":
        index = [[bucket(int(d), pe["buckets"], pe["distance"]) for d in row] for row in distance]
        return w["pe.bias"][torch.tensor(index)].permute(2, 0, 1)
    if pe["name"] == "alibi":
        return -torch.tensor(slopes(H))[:, None, None] * distance
    if pe["name"] == "fire":
        c, L = w["pe.c"].abs(), (w["pe.L_multiplier"] * pe["threshold"]).abs()
        far = torch.maximum(torch.arange(T).float(), L)[:, None]
        near = torch.log(c * distance + 1) / (torch.log(c * far + 1) + 1e-6)
        units = torch.relu(near[..., None] @ w["pe.mlp.0.weight"].T + w["pe.mlp.0.bias"])
        return (units @ w["pe.mlp.2.weight"].T + w["pe.mlp.2.bias"]).permute(2, 0, 1)
    return torch.zeros(H, T, T)


def embed(w, config, tokens):
    x, pe, C, T = w["embed.weight"][tokens], config["pe"], config["width"], len(tokens)
    if pe["name"] == "learned":
        x = x + w["pe.table"][:T]
    if pe["name"] == "sinusoidal":
        angle = torch.arange(T)[:, None].double() * frequencies(pe["base"], C)
        x = x + pe["amplitude"] * torch.stack([angle.sin(), angle.cos()], -1).reshape(T, C).float()
    return x


def forward(w, config, tokens):
    """Logits [T,V] and probabilities [L,H,T,T] of tokens [T]."""
    T, H, D, pe = len(tokens), config["heads"], config["head_width"], config["pe"]
    x, bias, maps = embed(w, config, tokens), score_bias(w, config, T), []
    hidden = torch.ones(T, T).triu(1).bool()
    for layer in range(config["layers"]):
        p = f"layers.{layer}."
        normed = rms_norm(x, w[p + "norm1.weight"])
        q, k, v = [(normed @ w[p + f"attn.{n}.weight"].T).view(T, H, D).transpose(0, 1) for n in "qkv"]
        if pe["name"] == "rotary":
            q, k = [rotate(t, pe["dims"], pe["base"]) for t in (q, k)]
        score = q @ k.transpose(1, 2) * (D**-0.5 if config["scale"] else 1) + bias
        maps.append(score.masked_fill(hidden, -math.inf).softmax(-1))
        z = (maps[-1] @ v).transpose(0, 1).reshape(T, H * D)
        x = x + z @ w[p + "attn.o.weight"].T
        up = torch.relu(rms_norm(x, w[p + "norm2.weight"]) @ w[p + "mlp.up.weight"].T)
        x = x + up @ w[p + "mlp.down.weight"].T
    head = w["embed.weight" if config["tied"] else "head.weight"]
    return config["logit_scale"] * rms_norm(x, w["norm.weight"]) @ head.T, torch.stack(maps)


def check(pewter, folder, pe, task):
    files = {n: os.path.join(folder, n) for n in ("w.safetensors", "b.npz", "a.npz")}
    commands = (
        f"task {task}; pe {pe}; train 3; export weights {files['w.safetensors']}; export batch {files['b.npz']}; "
        f"prompt {TASKS[task]}; export attention {files['a.npz']}; train 1"
    )
    out = subprocess.run([pewter, "--json", "-c", commands], capture_output=True, text=True, check=True).stdout
    events = [json.loads(line) for line in out.splitlines()]
    loss = [e["loss"] for e in events if e["kind"] == "step"][-1]
    w, config = load(files["w.safetensors"])
    batch, seen = np.load(files["b.npz"]), np.load(files["a.npz"])
    total = n = 0
    with torch.no_grad():
        for tokens, targets in zip(batch["tokens"], batch["targets"]):
            logits, scored = forward(w, config, torch.tensor(tokens).long())[0], torch.tensor(targets) >= 0
            answers = torch.tensor(targets).long()[scored]
            total += functional.cross_entropy(logits[scored], answers, reduction="sum").item()
            n += len(answers)
        logits, probs = forward(w, config, torch.tensor(seen["tokens"]).long())
    finite = np.isfinite(seen["score"])
    split = seen["score"][finite] - seen["content"][finite] - seen["bias"][finite]
    errors = {
        "loss": abs(total / n - loss),
        "logits": np.abs(logits.numpy() - seen["logits"]).max(),
        "probs": np.abs(probs.numpy() - seen["probs"]).max(),
        "score = content + bias": np.abs(split).max(),
    }
    for what, error in errors.items():
        if not error <= TOLERANCE:
            print(f"{pe}, {task}: {what} differs by {error:g}")
    return all(error <= TOLERANCE for error in errors.values())


def main():
    torch.set_num_threads(1)
    good = [
        check(sys.argv[1], sys.argv[2], pe, task)
        for pe in ("none", "learned", "sinusoidal", "t5", "t5 buckets=5 distance=6", "alibi", "rotary", "rotary dims=4",
                   "fire", "fire hidden=5 threshold=3")
        for task in TASKS
    ]
    print(f"{sum(good)} of {len(good)} as PyTorch computes them")
    sys.exit(0 if all(good) else 1)


main()
