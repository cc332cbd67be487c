#!/usr/bin/env python3
"""Formulas exported as Python against pewter: the files alone must give pewter's own numbers.

usage: check_formula.py PEWTER FOLDER     For every formula: trains 3 steps, exports, and computes bias, rotation, logits
and attention from the exported file and the weights; then runs FlexAttention. Exit status 77 where there is no PyTorch.
"""
import json
import os
import re
import struct
import subprocess
import sys
import warnings

try:
    import numpy as np
    import torch
except ImportError:
    print("skipped: no PyTorch")
    sys.exit(77)
try:
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention
except ImportError:
    flex_attention = None  # before PyTorch 2.5

TOLERANCE = 1e-5  # relative to the value or to 1
MODEL = "model tiny width=32 layers=2 heads=4; optim batch=4"
# Together they have every operator and function, and FlexAttention's forms.
FORMULAS = [
    "m = slopes()[h]; bias = -m * d",
    "bias = 0",
    "bias = d > 2 && !(d == 4) || h != 1 ? 1 : d <= 1 ? 2 : d >= 7 ? 0.1 : 0.2",
    "bias = (d - 7) % 3 - (0 - 2) ** round(d / 8) * 0.1",
    "bias = tanh(d * 0.1) + erf(d * 0.05) + sigmoid(d * 0.2 - 2) + relu(d - 3) + abs(d - 5)",
    "bias = log(exp(d * 0.1)) + log2(d + 1) + sqrt(d) + pow(2, d * 0.1) + (d + 1) ** 0.3",
    "bias = clip(d, 1, 3) + min(d, 2) + max(d, 9) + floor(d * 0.37) + clip(3, d, d + 1)",
    "bias = -softplus(0.5 * h) * log1p(d) - bucket(d, 8, 32) * 0.1 + cos(d) * sin(d) * 0.5",
    "bias = sum(k=1..4, cos(d * k) * 0.5 ** k) + sum(k=1..h + 1, 0.1 * k * d)",
    "lambda = d * 0.01; in = lambda + 1; bias = in * lambda + H + D + layers + pairs + C",
    "angle = i * 10000 ** (-2 * p / D)",
    "angle = i * 500 ** (-2 * p / D); gain = 1 + 0.001 * i; bias = -0.1 * d",
    "w = 10000 ** (-2 * floor(c / 2) / C); embed = c % 2 == 0 ? sin(i * w) : cos(i * w)",
    "mask = d < 3 || j < 2; bias = -0.1 * d",
    "bias = -0.1 * (d < 4 ? d : floor(i / 3) - floor(j / 3) + 4 - floor(4 / 3))",
    "bias = sum(k=0..d, 0.1 / (k + 1)) * max(i, j)",
    "bias = l % 2 == 0 ? 0 : l > 5 ? log(0 - 1) : -0.5 * d; angle = l == 1 ? i : 0.1 * i",
    "mask = l == 0 ? d < 2 : 1; embed = sin(i * (c + 1))",
    "score = 5 * tanh(s / 5) - 0.1 * h * (j < 2) + (l == 1 ? 0.2 * d : 0); bias = -0.1 * d",
    "score = s > 1 ? 1 : s < -1 ? -1 : s temperature=1.5 stretch=2",
    "cap = learn(3) per head, layer; w = learn(0.1); bias = -0.1 * d; score = cap * tanh(s / cap) * (1 + w * d)",
    "T = learn(normal(0.3), 4); U = learn(normal(0.2), 3) per head; b = learn(1) per layer; "
    "score = s * exp(T[h]) + (j < 2 ? U(l / 2) : 0) + b * mlp(l + 1, hidden=3) * tanh(s) temperature=1.5 stretch=2",
    "scale = n > 4 ? log(n) / log(4) : 1; bias = -0.1 * d",
    "scale = 1 + 0.1 * h + 0.01 * i * (l == 1); bias = log1p(d) / log(L)",
    "a = learn(1) per head; b = learn(0.5); bias = -softplus(a) * log1p(abs(b) * d)",
    "a = learn(normal(0.3)) per head, layer; T = learn(normal(0.2), 9); bias = a * T(d / 3) + T[d]",
    "T = learn(normal(0.2), 8) per head; bias = T[bucket(d, 8, 16)] + T(3.3)",
    "bias = mlp(log1p(d) / log1p(max(i, 3)), hidden=5)",
    "a = learn(normal(0.5), 4) per layer; mask = d < 6; bias = sum(k=0..3, a[k] * cos(k * d)) * mlp(d / 9, hidden=3)",
    "a = learn(normal(0.4)) per head, layer; T = learn(normal(0.3), 5) per head; scale = 1 + a * log(n) + T(i / 4)",
    "a = learn(normal(0.4)) per channel; T = learn(normal(0.3), 12) per channel; embed = a * sin(i / 3) + T[i]",
    "w = learn(normal(0.4)) per pair, layer; g = learn(1); T = learn(normal(0.2), 3) per pair; "
    "angle = w * i * 100 ** (-2 * p / D); gain = g + T[i % 3]",
    "angle = i * 100 ** (-2 * p / D); gain = 0.9 ** ((key ? -1 : 1) * (p + 1) * i / 40); pairing = interleaved",
    "angle = (i + 3 * key) * 100 ** (-2 * p / D); pairing = half",
    "rotary_dim = 4; angle = i * 100 ** (-p / pairs); gain = 1 + 0.001 * i",
    "rotary_dim = 2; angle = (i + key) / 7; pairing = interleaved",
    "b = 10000 * (2 * max(n, 8) / 8 - 1) ** (D / max(D - 2, 1)); angle = i * b ** (-2 * p / D)",
    "angle = (i + key) / n * (p + 1); gain = n > 9 ? 1.5 : 1; bias = -0.1 * d",
    "gate = -softplus(-g) * (h + 1); bias = -0.1 * d; mask = d < 9 || j < 2",
    "gate = l == 1 ? -exp(g) : 0.3 * sin(g); angle = i * 100 ** (-2 * p / D)",
    "mixes = 4; P = learn(normal(0.5), 12) per mix, layer; mix = d < 12 ? P[d] : 0",
    "mixes = 3; P = learn(normal(0.5), 7) per mix; a = learn(0.3) per mix, layer; mix = P(log2(1 + d)) + a * m; "
    "scale = 1 + 0.1 * h; score = 9 * tanh(s / 9)",
    "mixes = 2; mix = exp(-d / 2 ** m) * (l + 1); angle = i * 100 ** (-2 * p / D) temperature=1.5 logn=4",
    "scan = stick; angle = i * 100 ** (-2 * p / D); scale = 1 + 0.1 * h temperature=1.5",
    "scan = context(5); embed = sin(i * (c + 1)); scale = 1 + 0.1 * h logn=4",
    "bias = -0.3 * d stretch=0.5",
    "bias = -0.01 * i * d stretch=0.5 offset=3",
    "bias = -0.3 * d gain=2 temperature=1.5 logn=4",
]


def load_weights(path):
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


def load_code(path):
    names = {"__name__": "exported"}
    exec(compile(open(path).read(), path, "exec"), names)
    return names


def rms_norm(x, gain):
    return x / torch.sqrt((x * x).mean(-1, keepdim=True) + 1e-6) * gain


def after(w, p, x, z):
    """A block behind its heads' output z [H,T,D]."""
    x = x + z.transpose(0, 1).flatten(1) @ w[p + "attn.o.weight"].T
    up = torch.relu(rms_norm(x, w[p + "norm2.weight"]) @ w[p + "mlp.up.weight"].T)
    return x + up @ w[p + "mlp.down.weight"].T


def forward(w, config, codes, tokens):
    """Scores [L,H,T,T], -inf where hidden (None: the file has its own attention), probabilities, and logits [T,V]. codes: the exported file of each layer."""
    T, H, D = len(tokens), config["heads"], config["head_width"]
    h, n = torch.arange(H)[:, None, None], torch.arange(T)
    x, scores, probs, flex = w["embed.weight"][tokens], [], [], 0.0
    if "embedding" in codes[0]:
        x = x + codes[0]["embedding"](T)
    for layer, code in enumerate(codes):
        p = f"layers.{layer}."
        normed = rms_norm(x, w[p + "norm1.weight"])
        q, k, v = [(normed @ w[p + f"attn.{name}.weight"].T).view(T, H, D).transpose(0, 1) for name in "qkv"]
        if "cos_sin" in code:
            keys = "key" in code["cos_sin"].__code__.co_varnames
            q, k = [code["rotate"](t, *code["cos_sin"](T, *[key] * keys)) for key, t in enumerate((q, k))]
        if "attention" in code:
            table = [w["pe.pos_emb"][layer]] if "pe.pos_emb" in w else []
            z, weights = code["attention"](q, k, v, *table)
            probs.append(weights)
            x = after(w, p, x, z)
            continue
        s = q @ k.mT * code["SCALE"]
        if "use_gates" in code:
            code["use_gates"]((normed @ w["pe.fgate_proj.weight"][layer].T + w["pe.fgate_proj.bias"][layer])[None])
        if "use_mix" in code:
            code["use_mix"]((normed @ w["pe.r_proj.weight"][layer].T)[None])
        if "score_mod" in code:
            s = code["score_mod"](s, 0, h, n[:, None], n)
        s = s.masked_fill(~code["mask_mod"](0, h, n[:, None], n), -torch.inf)
        scores.append(s)
        probs.append(s.softmax(-1))
        z = probs[-1] @ v
        if flex_attention is not None:
            mask = create_block_mask(code["mask_mod"], None, H, T, T, device="cpu")
            again = flex_attention(q[None], k[None], v[None], score_mod=code.get("score_mod"), block_mask=mask,
                                   scale=code["SCALE"])
            flex = max(flex, (again[0] - z).abs().max().item())
        x = after(w, p, x, z)
    head = w["embed.weight" if config["tied"] else "head.weight"]
    logits = config["logit_scale"] * rms_norm(x, w["norm.weight"]) @ head.T
    return torch.stack(scores) if scores else None, torch.stack(probs), logits, flex


def difference(a, b):
    """The largest one, relative to the value or to 1; where either is not finite both must be equal."""
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    with np.errstate(invalid="ignore"):
        error = np.abs(a - b) / np.maximum(1, np.abs(b))
    return float(np.where(a == b, 0, error).max())


def check(pewter, folder, text):
    """Is the exported file right? None: pewter does not compute the formula in this model."""
    formula, settings = re.match(r"(.*?)((?: (?:stretch|offset|gain|temperature|logn)=\S+)*)$", text).groups()
    files = {end: os.path.join(folder, "f." + end) for end in ("py", "1.py", "tex", "pe", "safetensors", "npz")}
    exports = "; ".join(f"export formula {files[end]}" for end in ("py", "tex", "pe"))
    exports += f"; export formula {files['1.py']} layer=1"
    tune = f"tune{settings}; " if settings else ""
    pe = formula if "=" not in formula else f'expr "{formula}"'
    commands = (
        f'task sort; {MODEL}; pe {pe}; train 3; {tune}{exports}; export weights {files["safetensors"]}; '
        f'prompt sort 3 1 2 8 5 4; export attention {files["npz"]}'
    )
    run = subprocess.run([pewter, "-c", commands], capture_output=True, text=True)
    if run.returncode != 0:
        print(f"{text}: {run.stderr.strip()}")
        refused = "yet" in run.stderr or "the position reads tokens or chance" in run.stderr
        refused = refused or (pe == formula and "export" not in run.stderr)
        return None if refused else False
    (w, config), seen = load_weights(files["safetensors"]), np.load(files["npz"])
    codes = [load_code(files["py"]), load_code(files["1.py"])]
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # FlexAttention wants to be compiled
        scores, probs, logits, flex = forward(w, config, codes, torch.tensor(seen["tokens"]).long())
    errors = {
        "scores": difference(scores.numpy(), seen["score"]) if scores is not None else 0,
        "probs": difference(probs.numpy(), seen["probs"]),
        "logits": difference(logits.numpy(), seen["logits"]),
        "FlexAttention": flex,
    }
    plain = [line for line in open(files["pe"]).read().splitlines() if not line.startswith("#")]
    if pe != formula and re.sub(r"\s", "", ";".join(line for line in plain if line)) != re.sub(r"\s", "", formula):
        print(f"{text}: as text it is {plain}")
        errors["text"] = 1
    for what, error in errors.items():
        if not error <= TOLERANCE:
            print(f"{text}: {what} differs by {error:g}")
    return all(error <= TOLERANCE for error in errors.values())


def main():
    torch.set_num_threads(1)
    library = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "encodings")
    names = sorted(name[:-3] for name in os.listdir(library) if name.endswith(".pe"))
    results = [check(sys.argv[1], sys.argv[2], text) for text in FORMULAS + names]
    known = [result for result in results if result is not None]
    print(f"{sum(known)} of {len(known)} formulas as PyTorch computes them, {len(results) - len(known)} refused by pewter"
          f"{'' if flex_attention is not None else '; without FlexAttention'}")
    sys.exit(0 if all(known) else 1)


main()
