#!/usr/bin/env python3
"""The same model and training step as bench/train.c, in idiomatic PyTorch: eager, one linear layer for q, k and v,
AdamW over tensor lists (foreach), float32 or with precision=bf16 under autocast. It uses torch's fused attention where
there is one (2.0 and later). compiled=1 compiles the model (torch.compile).

usage: torch_train.py key=value...   the keys of bench/train.c that options() accepts

Follows bench/train.c's protocol: it prints one JSON line when it is ready. Then for each line `run SECONDS` on standard
input it prints one JSON line with the milliseconds of every step.
"""
import json
import math
import os
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from torch_content import SCHEMES

HAS_FUSED_ATTENTION = hasattr(F, "scaled_dot_product_attention")


def options(words):
    opts = dict(layers=2, width=64, heads=4, positions=64, batch=64, vocab=128, threads=1, pe="none", precision="fp32",
                norm="rmsnorm", act="relu", tied=0, dropout=0.0, scale=1, logit_scale=1.0, compiled=0)
    for word in words:
        key, value = word.split("=", 1)
        if key not in opts:
            sys.exit(f"torch_train.py: no option {key!r}; there are {', '.join(opts)}")
        opts[key] = type(opts[key])(value)
    return opts


def encoding(text):
    """ "t5(buckets=8,distance=16)" -> ("t5", {"buckets": 8, "distance": 16}) """
    name, _, rest = text.partition("(")
    pairs = (pair.split("=") for pair in rest.rstrip(")").split(",") if pair)
    return name, {key: float(value) for key, value in pairs}


def distances(n):
    """[n,n]: query minus key, 0 above the diagonal, which the causal mask hides anyway."""
    at = torch.arange(n)
    return (at[:, None] - at[None, :]).clamp(min=0)


def t5_buckets(distance, buckets, furthest):
    """Raffel et al. 2020, causal: half of the buckets are single distances, the others grow logarithmically."""
    exact = buckets // 2
    ratio = (distance.clamp(min=1) / exact).log() / math.log(furthest / exact)
    far = exact + (ratio * (buckets - exact)).long()
    return torch.where(distance < exact, distance, far.clamp(max=buckets - 1))


def alibi_slopes(heads):
    """Press et al. 2022: a geometric series from 2^(-8/n) for n a power of two, completed from the series of 2n."""
    n = 2 ** int(math.log2(heads))
    slopes = [2 ** (-8 * (i + 1) / n) for i in range(n)]
    slopes += [2 ** (-4 * (2 * i + 1) / n) for i in range(heads - n)]
    return torch.tensor(slopes)


def sinusoids(n, width):
    """Vaswani et al. 2017."""
    angle = torch.arange(n)[:, None] * 10000 ** (-torch.arange(0, width, 2) / width)
    return torch.stack((angle.sin(), angle.cos()), -1).flatten(1)


class Norm(nn.Module):
    def __init__(self, width, kind):
        super().__init__()
        self.kind, self.weight = kind, nn.Parameter(torch.ones(width))

    def forward(self, x):
        if self.kind == "layernorm":
            return F.layer_norm(x, x.shape[-1:], self.weight, eps=1e-5)
        if hasattr(F, "rms_norm"):
            return F.rms_norm(x, x.shape[-1:], self.weight, eps=1e-6)
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * self.weight


def linear(n_in, n_out, scale=1.0):
    layer = nn.Linear(n_in, n_out, bias=False)
    nn.init.normal_(layer.weight, std=scale / math.sqrt(n_in))
    return layer


class Block(nn.Module):
    def __init__(self, o):
        super().__init__()
        width, branch = o["width"], 1 / math.sqrt(2 * o["layers"])
        self.heads, self.act = o["heads"], {"relu": F.relu, "gelu": F.gelu}[o["act"]]
        self.dropout, self.scale = o["dropout"], 1 / math.sqrt(width // o["heads"]) if o["scale"] else 1.0
        self.norm1, self.norm2 = Norm(width, o["norm"]), Norm(width, o["norm"])
        self.qkv, self.out = linear(width, 3 * width), linear(width, width, branch)
        self.up, self.down = linear(width, 4 * width), linear(4 * width, width, branch)
        name, given = encoding(o["pe"])
        self.content = SCHEMES[name](o, given) if name in SCHEMES else None

    def attention(self, x, bias, rotation):
        n_seq, n, width = x.shape
        q, k, v = self.qkv(x).view(n_seq, n, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        if rotation is not None:
            q, k = rotate(q, *rotation), rotate(k, *rotation)
        if self.content is not None:
            z = self.content(x, q, k, v, bias, self.scale)
        elif HAS_FUSED_ATTENTION:
            z = F.scaled_dot_product_attention(q, k, v, attn_mask=bias, dropout_p=self.dropout, is_causal=bias is None,
                                               **({} if self.scale != 1 else {"scale": 1.0}))
        else:
            z = F.dropout(((q * self.scale) @ k.transpose(-1, -2) + bias).softmax(-1), self.dropout) @ v
        return self.out(z.transpose(1, 2).reshape(n_seq, n, width))

    def drop(self, x):
        return F.dropout(x, self.dropout) if self.dropout else x

    def forward(self, x, bias, rotation):
        x = x + self.drop(self.attention(self.norm1(x), bias, rotation))
        return x + self.drop(self.down(self.drop(self.act(self.up(self.norm2(x))))))


def rotate(x, cosine, sine):
    """Su et al. 2021, pairs (i, i + D/2): the cheaper pairing here."""
    a, b = x.chunk(2, -1)
    return torch.cat((a * cosine - b * sine, a * sine + b * cosine), -1)


class Fire(nn.Module):
    """Li et al. 2023: a network of the distance relative to the query's position, both as logarithms."""
    def __init__(self, heads, n, hidden, threshold):
        super().__init__()
        self.c, self.factor = nn.Parameter(torch.full((1,), 0.1)), nn.Parameter(torch.ones(1))
        self.mlp = nn.Sequential(nn.Linear(1, hidden), nn.ReLU(), nn.Linear(hidden, heads))
        self.threshold = threshold
        self.register_buffer("distance", distances(n))
        self.register_buffer("query", torch.arange(n)[:, None])

    def forward(self):
        c, query = self.c.abs(), self.query.float()
        under = torch.log(c * torch.maximum(query, (self.factor * self.threshold).abs()) + 1) + 1e-6
        return self.mlp((torch.log(c * self.distance + 1) / under)[..., None]).permute(2, 0, 1)


class Model(nn.Module):
    def __init__(self, o):
        super().__init__()
        n, width, heads = o["positions"], o["width"], o["heads"]
        self.pe, given = encoding(o["pe"])
        self.embed = nn.Embedding(o["vocab"], width)
        self.blocks = nn.ModuleList(Block(o) for _ in range(o["layers"]))
        self.norm, self.head = Norm(width, o["norm"]), linear(width, o["vocab"])
        if o["tied"]:
            self.head.weight = self.embed.weight
        self.dropout, self.logit_scale = o["dropout"], o["logit_scale"] or width ** -0.5
        self.register_buffer("mask", torch.full((n, n), -math.inf).triu(1))
        if self.pe == "learned":
            self.table = nn.Parameter(0.02 * torch.randn(n, width))
        elif self.pe == "sinusoidal":
            self.register_buffer("table", sinusoids(n, width))
        elif self.pe == "t5":
            buckets = int(given.get("buckets", 32))
            self.bias = nn.Parameter(0.1 * torch.randn(buckets, heads))
            self.register_buffer("bucket", t5_buckets(distances(n), buckets, given.get("distance", 128)))
        elif self.pe == "alibi":
            self.register_buffer("bias", self.mask - alibi_slopes(heads)[:, None, None] * distances(n))
        elif self.pe == "fire":
            self.bias = Fire(heads, n, int(given.get("hidden", 32)), given.get("threshold", 8))
        elif self.pe == "rotary":
            pairs = width // heads // 2
            angle = torch.arange(n)[:, None] * given.get("base", 1e4) ** (-torch.arange(pairs) / pairs)
            self.register_buffer("cosine", angle.cos())
            self.register_buffer("sine", angle.sin())
        elif self.pe != "none" and self.pe not in SCHEMES:
            sys.exit(f"torch_train.py: no encoding {self.pe!r} here")

    def forward(self, tokens):
        x, rotation = self.embed(tokens), None
        bias = None if HAS_FUSED_ATTENTION and self.pe not in SCHEMES else self.mask
        if self.pe in ("learned", "sinusoidal"):
            x = x + self.table[:x.shape[1]]
        elif self.pe == "t5":
            bias = self.bias[self.bucket].permute(2, 0, 1) + self.mask
        elif self.pe == "alibi":
            bias = self.bias
        elif self.pe == "fire":
            bias = self.bias() + self.mask
        elif self.pe == "rotary":
            rotation = self.cosine, self.sine
        x = F.dropout(x, self.dropout) if self.dropout else x
        for block in self.blocks:
            x = block(x, bias, rotation)
        x = self.norm(x) * self.logit_scale if self.logit_scale != 1 else self.norm(x)
        return self.head(F.dropout(x, self.dropout) if self.dropout else x)


def libraries():
    """The BLAS libraries that the process has loaded: Debian's torch takes the first libblas.so.3 it finds."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        paths = {line.split()[-1] for line in maps}
    return sorted(path for path in paths if os.path.basename(path).startswith(("libopenblas", "libmkl", "libblis")))


def optimiser(model, **how):
    matrices = [p for p in model.parameters() if p.dim() == 2]
    vectors = [p for p in model.parameters() if p.dim() == 1]
    return torch.optim.AdamW([dict(params=matrices, weight_decay=0.01), dict(params=vectors, weight_decay=0.0)],
                             lr=1e-3, betas=(0.9, 0.95), **how)


def main():
    o = options(sys.argv[1:])
    torch.set_num_threads(o["threads"])
    torch.manual_seed(1)
    model = Model(o)
    adamw = optimiser(model, foreach=True)
    forward = torch.compile(model) if o["compiled"] else model
    data = torch.randint(0, o["vocab"], (o["batch"], o["positions"] + 1))
    inputs, targets = data[:, :-1].contiguous(), data[:, 1:].reshape(-1)

    def step():
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=o["precision"] == "bf16"):
            loss = F.cross_entropy(forward(inputs).view(-1, o["vocab"]), targets)
        adamw.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        adamw.step()
        return loss.item()

    for _ in range(3):
        step()
    print(json.dumps(dict(device=f"torch {torch.__version__}" + ", compiled" * o["compiled"], blas=libraries(),
                          parameters=sum(p.numel() for p in model.parameters()))), flush=True)
    for line in sys.stdin:
        end, times = time.perf_counter() + float(line.split()[1]), []
        while not times or time.perf_counter() < end:
            begin = time.perf_counter()
            loss = step()
            times.append(1e3 * (time.perf_counter() - begin))
        print(json.dumps(dict(ms=times, loss=loss)), flush=True)


if __name__ == "__main__":
    main()
