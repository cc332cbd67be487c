#!/usr/bin/env python3
"""Writes small models trained for three steps by PyTorch: one for each positional encoding, one for each family of
published models (config.h), or with low-rank adapters, where the other weights are frozen.

    python3 make_torch.py torch.safetensors
    python3 make_torch.py torch_options.safetensors
    python3 make_torch.py torch_adapter.safetensors

An independent implementation: torch's autograd, AdamW, clipping and functional layers in double precision, encodings as
their own papers' code has them. tests/model/test_golden_torch.c holds pewter to its weights, logits, losses and
gradient norms. The files are committed; the test needs no Python. torch_options.safetensors and
torch_adapter.safetensors are of 29 November 2026, by Python 3.11.7 and torch 2.15.0.
"""
import json
import math
import struct
import sys

import torch
import torch.nn.functional as F

V, CONTEXT, STEPS = 6, 12, 3
OPTIM = dict(lr=0.02, beta1=0.9, beta2=0.95, eps=1e-3, decay=0.1, clip=0.5, warmup=4)
LENGTHS = [5, 1, 12, 8]

BASE = dict(layers=2, width=8, heads=2, ffn=12, norm="rmsnorm", norm_at="both", act="relu", bias="off", tied="off",
            scale="on", logit_scale=1.0, causal="on")
FAMILY = dict(gated="off", kv_heads=0, parallel="off", qk_norm="off", post_norm="off", head_bias="off", norm_eps=0,
              embed_norm="off", embed_scale=1.0, score_scale=0, logit_cap=0, embed_width=0)
CASES = {
    "none": ("none", {}),
    "learned": ("learned", {}),
    "sinusoidal": ("sinusoidal", {}),
    "t5": ("t5 buckets=6 distance=9", {}),
    "alibi": ("alibi", dict(heads=3, head_width=2)),
    "rotary": ("rotary", {}),
    "options": ("t5", dict(norm="layernorm", act="gelu", bias="on", tied="on", logit_scale=0.5)),
    "others": ("rotary dims=2 pairing=interleaved",
               dict(norm_at="ff", act="gelu_tanh", scale="off", causal="off", head_width=6)),
    "clipped": ("clipped distance=4", {}),
    "clipped_both": ("clipped distance=3", dict(causal="off")),
    "rspe": ("rspe", {}),
    "aspe": ("aspe", {}),
    "2dspe": ("2dspe", {}),
    "dpe": ("dpe", dict(causal="off")),
    "ldpe": ("ldpe", {}),
    "learned_reversed": ("learned_reversed", {}),
    "shaw": ("shaw distance=4", {}),
    "shaw_both": ("shaw distance=3", dict(causal="off", bias="on")),
    "fire": ("fire hidden=5 threshold=6", {}),
    "fire_both": ("fire hidden=7 threshold=3", dict(causal="off", heads=4)),
    "fox": ("fox", {}),
    "fox_gelu": ("fox", dict(norm="layernorm", act="gelu", bias="on", heads=4, tied="on")),
    "xpos": ("xpos scale_base=4", {}),
    "grape": ("grape", {}),
    "grape_key": ("grape gate=key", dict(norm="layernorm", act="gelu", bias="on", heads=4, tied="on")),
    "stickbreaking": ("stickbreaking", {}),
    "stickbreaking_gelu": ("stickbreaking", dict(norm="layernorm", act="gelu", bias="on", heads=4, tied="on")),
    "inkling": ("inkling reach=32 mixes=4 alpha=0", {}),
    "inkling_tau": ("inkling reach=4 mixes=3 alpha=0.7 floor=3", dict(norm="layernorm", act="gelu", bias="on", heads=4)),
    "inkling_both": ("inkling reach=5 mixes=4 alpha=0", dict(causal="off", tied="on")),
    "cope": ("cope npos=4", {}),
    "cope_gelu": ("cope npos=13", dict(norm="layernorm", act="gelu", bias="on", heads=4, tied="on")),
    "selective": ("selective", {}),
    "selective_gelu": ("selective", dict(norm="layernorm", act="gelu", bias="on", heads=4, tied="on")),
    "pope": ("pope base=100", {}),
    "pope_both": ("pope", dict(norm="layernorm", act="gelu", bias="on", heads=4, causal="off")),
    "path": ("path rank=3", {}),
    "path_gelu": ("path rank=8 conv=0", dict(norm="layernorm", act="gelu", bias="on", heads=4, tied="on")),
    "wall": ("wall", {}),
    "wall_gelu": ("wall gate_bias=0", dict(norm="layernorm", act="gelu", bias="on", heads=4, tied="on")),
    "grape_turn": ("grape_turn base=100", {}),
    "grape_turn_both": ("grape_turn planes=1", dict(norm="layernorm", act="gelu", bias="on", heads=4, causal="off")),
    "learned_cap": ("learned_cap start=2", {}),
    "learned_cap_both": ("learned_cap start=0.7", dict(norm="layernorm", act="gelu", bias="on", heads=4, causal="off")),
}

FAMILIES = {
    "llama": ("rotary", dict(heads=4, kv_heads=2, gated="on", act="silu", norm_eps=1e-5)),
    "qwen2": ("rotary", dict(heads=4, kv_heads=1, gated="on", act="silu", bias="qkv", tied="on")),
    "qwen3": ("rotary", dict(heads=2, kv_heads=1, head_width=6, gated="on", act="silu", qk_norm="head")),
    "neox": ("rotary dims=2", dict(norm="layernorm", bias="on", act="gelu", parallel="on")),
    "gptj": ("rotary dims=2 pairing=interleaved",
             dict(norm="layernorm", bias="mlp", head_bias="on", act="gelu_tanh", parallel="shared")),
    "bloom": ("alibi", dict(norm="layernorm", bias="on", act="gelu_tanh", embed_norm="on", tied="on")),
    "mpt": ("alibi", dict(norm="layernorm", act="gelu", score_scale=0.3, tied="on")),
    "gemma": ("rotary", dict(heads=2, kv_heads=1, head_width=6, gated="on", act="gelu_tanh", embed_scale=2.828125,
                             tied="on")),
    "gemma2": ("rotary", dict(heads=2, kv_heads=1, head_width=6, gated="on", act="gelu_tanh", embed_scale=2.828125,
                              post_norm="on", score_scale=0.5, logit_cap=3, tied="on")),
    "gemma3": ("rotary", dict(heads=4, kv_heads=2, head_width=4, gated="on", act="gelu_tanh", embed_scale=2.828125,
                              post_norm="on", qk_norm="head", score_scale=0.5, tied="on")),
    "transformer": ("sinusoidal", dict(norm="layernorm", norm_at="after", bias="on", tied="on", embed_scale=2.828125)),
    "opt_350m": ("learned", dict(norm="layernorm", norm_at="after", bias="on", tied="on", embed_width=5)),
    "embed_width": ("alibi", dict(embed_width=11, embed_norm="on", embed_scale=2.0)),
}

ADAPTERS = {
    "gpt": ("learned", dict(adapter=3, norm="layernorm", bias="on", act="gelu", tied="on")),
    "llama": ("rotary", dict(adapter=2, heads=4, kv_heads=2, gated="on", act="silu")),
    "neox": ("t5 buckets=6 distance=9", dict(adapter=1, norm="layernorm", bias="on", act="gelu", parallel="on")),
}


def alibi_slopes(n):
    """Press et al.'s recursion."""
    def power_of_2(n):
        start = 2 ** (-(2 ** -(math.log2(n) - 3)))
        return [start * start ** i for i in range(n)]
    if math.log2(n).is_integer():
        return power_of_2(n)
    closest = 2 ** math.floor(math.log2(n))
    return power_of_2(closest) + alibi_slopes(2 * closest)[0::2][:n - closest]


def t5_bucket(n, buckets, distance):
    """T5's relative_position_bucket, one direction."""
    n = torch.clamp(n, min=0)
    exact = buckets // 2
    large = exact + (torch.log(n.clamp(min=1).double() / exact) / math.log(distance / exact)
                     * (buckets - exact)).to(torch.long)
    return torch.where(n < exact, n, torch.clamp(large, max=buckets - 1))


def waves(places, width):
    """Vaswani et al.'s sines and cosines, interleaved."""
    angle = places.double()[:, None] / 10000.0 ** (torch.arange(0, width, 2, dtype=torch.float64) / width)
    return torch.stack((angle.sin(), angle.cos()), -1).flatten(1)


def stick(scores):
    """Tan et al.'s sb_ref.py; what is left goes to the query's own value, as in their tests."""
    T = scores.shape[-1]
    later = torch.ones(T, T).triu(0).bool()
    log_z = F.logsigmoid(scores).masked_fill(later, -1e5)
    log_beta = F.logsigmoid(-scores).masked_fill(later, 0)
    att = (log_z + log_beta @ torch.ones(T, T, dtype=scores.dtype).tril(-1)).exp()
    return att + torch.diag_embed(1 - att.sum(-1))


def selected(scores):
    """Leviathan et al. 2024: scores [H,T,T] minus what head 0 of the earlier tokens votes away."""
    T = scores.shape[-1]
    votes = F.relu(scores[0]).masked_fill(torch.ones(T, T).triu(0).bool(), 0)
    votes = torch.cat((torch.zeros(T, 1, dtype=scores.dtype), votes[:, 1:]), 1)
    return scores - (torch.ones(T, T, dtype=scores.dtype).tril(-1) @ votes)


def contextual(query, attn_logits, pos_emb):
    """Golovneva et al. 2024, their listing; attn_logits have -inf where the mask hides a key."""
    gates = torch.sigmoid(attn_logits)
    pos = gates.flip(-1).cumsum(dim=-1).flip(-1).clamp(max=pos_emb.shape[-1] - 1)
    ceil, floor = pos.ceil().long(), pos.floor().long()
    logits = query @ pos_emb
    w = pos - floor
    return logits.gather(-1, ceil) * w + logits.gather(-1, floor) * (1 - w)


class Model:
    def __init__(self, pe, options, seed):
        o = self.o = {**BASE, **FAMILY, **options}
        torch.manual_seed(seed)
        words = pe.split()
        self.pe, self.pe_options = words[0], dict(w.split("=") for w in words[1:])
        C, H, ffn = o["width"], o["heads"], o["ffn"]
        D = self.D = o.get("head_width", C // H)
        K = self.K = o["kv_heads"] or H
        self.norm_bias = o["norm"] == "layernorm" and o["bias"] in ("on", "mlp")
        biased = {"attn.q": ("on", "qkv"), "attn.k": ("on", "qkv"), "attn.v": ("on", "qkv"), "attn.o": ("on",)}
        self.p = {}
        E = o["embed_width"] or C
        self.add("embed.weight", V, E)
        if E != C:
            self.add("embed_in.weight", C, E)
            self.add("head_in.weight", E, C)
        if o["embed_norm"] == "on":
            self.add_norm("embed_norm")
        for i in range(o["layers"]):
            parts = [("attn.q", H * D, C), ("attn.k", K * D, C), ("attn.v", K * D, C), ("attn.o", C, H * D),
                     ("mlp.up", ffn, C), ("mlp.down", C, ffn)]
            for part, out, inside in parts + [("mlp.gate", ffn, C)] * (o["gated"] == "on"):
                self.add(f"layers.{i}.{part}.weight", out, inside)
                if o["bias"] in biased.get(part, ("on", "mlp")):
                    self.add(f"layers.{i}.{part}.bias", out)
            for which in "qk" if o["qk_norm"] == "head" else "":
                self.add_gain(f"layers.{i}.attn.{which}_norm", D)
            for which in ("norm1_post", "norm2_post") if o["post_norm"] == "on" else ():
                self.add_norm(f"layers.{i}.{which}")
            if o["norm_at"] != "ff":
                self.add_norm(f"layers.{i}.norm1")
            if o["parallel"] != "shared":
                self.add_norm(f"layers.{i}.norm2")
            up = [("mlp.up", (1 + (o["gated"] == "on")) * ffn, C), ("mlp.down", C, ffn)]
            for part, out, inside in [("attn.qkv", (H + 2 * K) * D, C), ("attn.o", C, H * D)] + up:
                if "adapter" in o:
                    self.add(f"layers.{i}.{part}.adapter_a", o["adapter"], inside)
                    self.add(f"layers.{i}.{part}.adapter_b", out, o["adapter"])
        if o["norm_at"] != "after":
            self.add_norm("norm")
        if o["tied"] == "off":
            self.add("head.weight", V, E)
        if o["head_bias"] == "on":
            self.add("head.bias", V)
        if self.pe in ("learned", "learned_reversed"):
            self.add("pe.table", CONTEXT, C)
        if self.pe == "ldpe":
            self.add("pe.table", 2 * CONTEXT, C // 2)
        if self.pe == "t5":
            self.add("pe.bias", int(self.pe_options.get("buckets", 8)), H)
        if self.pe == "clipped":
            reach = int(self.pe_options["distance"])
            self.add("pe.bias", reach + 1 if o["causal"] == "on" else 2 * reach + 1, H)
        if self.pe == "shaw":
            reach = int(self.pe_options["distance"])
            self.add("pe.keys", o["layers"], reach + 1 if o["causal"] == "on" else 2 * reach + 1, D)

        if self.pe == "fox":
            self.add("pe.fgate_proj.weight", o["layers"], H, C)
            self.add("pe.fgate_proj.bias", o["layers"], H)
        if self.pe == "inkling":
            mixes, reach = int(self.pe_options["mixes"]), int(self.pe_options["reach"])
            self.add("pe.r_proj.weight", o["layers"], H * mixes, C)
            self.add("pe.rel_logits_proj.proj", o["layers"], mixes, reach)
        if self.pe == "grape":
            self.add("pe.omega", o["layers"], H)
            for name in {"key": "u", "query": "v"}.get(self.pe_options.get("gate"), "vu"):
                self.add("pe." + name, o["layers"], H, D)
        if self.pe == "learned_cap":
            self.add("pe.grow", o["layers"], H)
        if self.pe == "cope":
            self.add("pe.pos_emb", o["layers"], D, int(self.pe_options["npos"]))
        if self.pe == "pope":
            self.add("pe.learned_bias", o["layers"], H, D)
        if self.pe == "grape_turn":
            planes = int(self.pe_options.get("planes", D // 2))
            for name, *shape in ("log_factor", H, planes), ("a", H * planes, D), ("b", H * planes, D):
                self.add("pe." + name, o["layers"], *shape)
        if self.pe == "path":
            rank, taps = int(self.pe_options["rank"]), int(self.pe_options.get("conv", 3))
            self.add("pe.w_proj.0.weight", o["layers"], rank, C)
            self.add("pe.w_proj.1.weight", o["layers"], H * D, rank)
            if taps > 0:
                self.add("pe.w_conv1d.weight", o["layers"], H * D, taps)
            self.add("pe.bt_proj.weight", o["layers"], H, C)
            self.add("pe.bt_proj.bias", o["layers"], H)
        if self.pe == "wall":
            self.add("pe.g_proj.weight", o["layers"], H * D, C)
            self.add("pe.g_proj.bias", o["layers"], H * D)
        if self.pe == "fire":
            hidden = int(self.pe_options["hidden"])
            for name, *shape in ("c", 1), ("L_multiplier", 1), ("mlp.0.weight", hidden, 1), ("mlp.0.bias", hidden), \
                    ("mlp.2.weight", H, hidden), ("mlp.2.bias", H):
                self.add("pe." + name, *shape)

    def add(self, name, *shape):
        x = torch.randn(*shape, dtype=torch.float64) * (0.5 if len(shape) == 2 else 0.2)
        self.p[name] = x.float().double().requires_grad_()  # exactly what the file can hold

    def add_norm(self, name):
        self.add_gain(name, self.o["width"])
        if self.norm_bias:
            self.add(name + ".bias", self.o["width"])

    def add_gain(self, name, width):
        self.add(name + ".weight", width)
        with torch.no_grad():
            self.p[name + ".weight"] += 1
            self.p[name + ".weight"].copy_(self.p[name + ".weight"].float().double())

    def norm(self, name, x):
        gain, bias = self.p.get(name + ".weight"), self.p.get(name + ".bias")
        if gain is None:
            return x
        if self.o["norm"] == "layernorm":
            return F.layer_norm(x, x.shape[-1:], gain, bias, self.o["norm_eps"] or 1e-5)
        return self.rms(x, gain)

    def rms(self, x, gain):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + (self.o["norm_eps"] or 1e-6)) * gain

    def linear(self, name, x):
        y = F.linear(x, self.p[name + ".weight"], self.p.get(name + ".bias"))
        return y + self.adapter(name, x) if "adapter" in self.o else y

    def adapter(self, name, x):
        """B (A x), Hu et al. 2021, Eq. 3, with alpha = r. q, k and v share A, and so do gate and up."""
        layer, part, which = name.rsplit(".", 2)
        H, K, D, ffn = self.o["heads"], self.K, self.D, self.o["ffn"]
        rows = {"q": (0, H * D), "k": (H * D, (H + K) * D), "v": ((H + K) * D, (H + 2 * K) * D), "gate": (0, ffn),
                "up": (ffn, 2 * ffn) if self.o["gated"] == "on" else (0, ffn)}
        joint = f"{layer}.{part}." + ("qkv" if which in "qkv" else "up" if which == "gate" else which)
        a, b = self.p[joint + ".adapter_a"], self.p[joint + ".adapter_b"]
        first, end = rows.get(which, (0, len(b)))
        return F.linear(F.linear(x, a), b[first:end])

    def rotate(self, x, layer, sign=1):  # [H,T,D]; sign: 1 for queries, -1 for keys
        if self.pe == "xpos":  # Sun et al. 2022, and XPOS of torchscale: a rotation of 2i, 2i + 1, then a factor
            T, D = x.shape[1:]
            t, even = torch.arange(T, dtype=torch.float64), torch.arange(0, D, 2, dtype=torch.float64)
            angle = torch.outer(t, 10000.0 ** (-even / D))
            zeta = ((even + 0.4 * D) / (1.4 * D)) ** (sign * (t - CONTEXT // 2)[:, None] / int(
                self.pe_options["scale_base"]))
            z = torch.view_as_complex(x.reshape(*x.shape[:-1], D // 2, 2).contiguous())
            return torch.view_as_real(z * torch.polar(zeta, angle)).flatten(-2)
        if self.pe == "pope":  # apply_polar_pos_emb of x-transformers; layer: whose phases keys have
            T, D = x.shape[1:]
            base = float(self.pe_options.get("base", 10000))
            angle = torch.outer(torch.arange(T, dtype=torch.float64),
                                1.0 / base ** (torch.arange(D, dtype=torch.float64) / D))
            if sign < 0:
                angle = angle + self.p["pe.learned_bias"][layer].clamp(-2 * math.pi, 0)[:, None]
            return torch.cat((F.softplus(x) * angle.cos(), F.softplus(x) * angle.sin()), -1)
        if self.pe == "grape_turn":  # Zhang et al. 2026, exp(n L) of a sum of planes; layer: as above
            log_factor = self.p["pe.log_factor"][layer]
            H, planes = log_factor.shape
            base = float(self.pe_options.get("base", 10000))
            w = base ** (-torch.arange(planes, dtype=torch.float64) / planes) * log_factor.exp()
            pairs = torch.stack([self.p["pe." + name][layer].view(H, planes, -1) for name in "ab"], 2)
            basis, signs = torch.linalg.qr(pairs.flatten(1, 2).transpose(1, 2))  # columns a_1, b_1, a_2, ...
            basis = basis * signs.diagonal(dim1=1, dim2=2).sign()[:, None]
            u, v = basis[..., 0::2], basis[..., 1::2]
            generator = (u * w[:, None]) @ v.transpose(1, 2) - (v * w[:, None]) @ u.transpose(1, 2)
            t = torch.arange(x.shape[1], dtype=torch.float64)
            return (torch.matrix_exp(t[:, None, None] * generator[:, None]) @ x[..., None])[..., 0]
        if self.pe != "rotary":
            return x
        dims = int(self.pe_options.get("dims", self.D))
        t = torch.arange(x.shape[1], dtype=torch.float64)
        angle = torch.outer(t, 10000.0 ** (-torch.arange(0, dims, 2, dtype=torch.float64) / dims))
        part, rest = x[..., :dims], x[..., dims:]
        if self.pe_options.get("pairing") == "interleaved":
            z = torch.view_as_complex(part.reshape(*part.shape[:-1], dims // 2, 2).contiguous())
            part = torch.view_as_real(z * torch.polar(torch.ones_like(angle), angle)).flatten(-2)
        else:
            cos, sin = angle.cos().repeat(1, 2), angle.sin().repeat(1, 2)
            a, b = part.chunk(2, -1)
            part = part * cos + torch.cat((-b, a), -1) * sin
        return torch.cat((part, rest), -1)

    def walked(self, q, k, n, i, T):  # [H,T,T] products of q and k
        if self.pe == "wall":  # WallAttention of flash-linear-attention: exp(P_i - P_j) for each channel
            weight, b = (self.p[f"pe.g_proj.{part}"][i] for part in ("weight", "bias"))
            kept = F.logsigmoid(F.linear(n, weight, b)).cumsum(0).view(T, -1, self.D).transpose(0, 1)
            return torch.einsum("hid,hjd,hijd->hij", q, k, (kept[:, :, None] - kept[:, None]).clamp(max=0).exp())
        # PaTHAttention of flash-linear-attention, as it decodes: each token reflects all keys before it
        p = {name: x[i] for name, x in self.p.items() if name.startswith("pe.")}
        w = F.linear(F.linear(n, p["pe.w_proj.0.weight"]), p["pe.w_proj.1.weight"])
        if "pe.w_conv1d.weight" in p:
            taps = p["pe.w_conv1d.weight"][:, None]
            w = F.silu(F.conv1d(w.T[None], taps, padding=taps.shape[-1] - 1, groups=len(taps))[0, :, :T].T)
        w = w.view(T, -1, self.D)
        w = w * torch.rsqrt(w.pow(2).sum(-1, keepdim=True) + 1e-6)
        beta = 2 * F.linear(n, p["pe.bt_proj.weight"], p["pe.bt_proj.bias"]).sigmoid()
        past, rows = k[:, :0], []
        for t in range(T):
            along = beta[t][:, None, None] * (past * w[t][:, None]).sum(-1, keepdim=True)
            past = torch.cat((past - along * w[t][:, None], k[:, t:t + 1]), 1)
            rows.append(F.pad((past @ q[:, t][..., None])[..., 0], (0, T - t - 1)))
        return torch.stack(rows, 1)

    def mixed(self, scores, n, i, T):  # transformers 5, InklingRelativeLogits and InklingAttention
        weight, bank = self.p["pe.r_proj.weight"][i], self.p["pe.rel_logits_proj.proj"][i]
        mixes, reach = bank.shape
        by_distance = (F.linear(n, weight).view(T, -1, mixes) @ bank).transpose(0, 1)
        distance = torch.arange(T)[:, None] - torch.arange(T)[None, :]
        bias = by_distance.gather(-1, distance.clamp(0, reach - 1).expand(by_distance.shape[0], -1, -1))
        scores = scores + bias.masked_fill((distance < 0) | (distance >= reach), 0)
        keys = (torch.arange(T, dtype=torch.float64) + 1) / float(self.pe_options.get("floor", 1))
        return scores * (1 + float(self.pe_options["alpha"]) * keys.clamp(min=1).log())[None, :, None]

    def bias(self, T):  # [H,T,T]
        distance = torch.arange(T)[:, None] - torch.arange(T)[None, :]
        if self.pe == "alibi":
            slopes = torch.tensor(alibi_slopes(self.o["heads"]), dtype=torch.float64)
            return -slopes[:, None, None] * distance.abs()
        if self.pe == "t5":
            table = self.p["pe.bias"]
            reach = int(self.pe_options.get("distance", 16))
            return table[t5_bucket(distance, table.shape[0], reach)].permute(2, 0, 1)
        if self.pe == "clipped":
            reach = int(self.pe_options["distance"])
            past, future = distance.clamp(0, reach), reach + (-distance).clamp(0, reach)
            rows = torch.where(distance >= 0, past, future)
            return self.p["pe.bias"][rows % self.p["pe.bias"].shape[0]].permute(2, 0, 1)
        if self.pe == "fire":  # Li et al. 2023, section 3; 1e-6 as in their code
            c, threshold = self.p["pe.c"].abs(), (self.p["pe.L_multiplier"] * int(self.pe_options["threshold"])).abs()
            query = torch.arange(T, dtype=torch.float64)[:, None]
            near = torch.log(c * distance.abs() + 1) / (torch.log(c * torch.max(query, threshold) + 1) + 1e-6)
            h = F.relu(F.linear(near[..., None], self.p["pe.mlp.0.weight"], self.p["pe.mlp.0.bias"]))
            return F.linear(h, self.p["pe.mlp.2.weight"], self.p["pe.mlp.2.bias"]).permute(2, 0, 1)
        return torch.zeros(1, T, T, dtype=torch.float64)

    def slopes(self, layer, name, x):  # x [H,T,D] to [H,T]: softplus(u.x / sqrt(D)), as KeyGatedAdditiveBias
        if "pe." + name not in self.p:
            return torch.zeros(x.shape[:2], dtype=torch.float64)
        unit = F.normalize(self.p["pe." + name][layer], dim=-1, eps=1e-6)
        return F.softplus((x * unit[:, None]).sum(-1) / math.sqrt(self.D))

    def keys(self, layer, T):  # [T,T,D]: of query and key, Shaw et al. 2018, Eq. 3
        reach, table = int(self.pe_options["distance"]), self.p["pe.keys"][layer]
        distance = torch.arange(T)[:, None] - torch.arange(T)[None, :]
        return table[distance.clamp(0, reach) if self.o["causal"] == "on" else distance.clamp(-reach, reach) + reach]

    def added(self, T):
        C, pos = self.o["width"], torch.arange(T)
        back, table = T - 1 - pos, self.p.get("pe.table")
        if self.pe == "learned":
            return table[pos]
        if self.pe == "learned_reversed":
            return table[back]
        if self.pe == "ldpe":
            return torch.cat((table[pos], table[CONTEXT + back]), 1)
        if self.pe == "sinusoidal":
            return waves(pos, C)
        if self.pe == "rspe":
            return waves(back, C)
        if self.pe == "aspe":
            return waves(pos, C) + waves(back, C).view(T, C // 2, 2).flip(2).flatten(1)
        if self.pe == "2dspe":
            return torch.cat((waves(pos, C // 2), waves(torch.full((T,), T), C // 2)), 1)
        if self.pe == "dpe":
            return torch.cat((waves(pos, C // 2), waves(back, C // 2)), 1)
        return torch.zeros(T, C, dtype=torch.float64)

    def logits(self, tokens):
        o, T, H, D = self.o, len(tokens), self.o["heads"], self.D
        x = o["embed_scale"] * self.p["embed.weight"][tokens]
        x = self.norm("embed_norm", (F.linear(x, self.p["embed_in.weight"]) if o["embed_width"] else x) + self.added(T))
        after = o["norm_at"] == "after"
        for i in range(o["layers"]):
            n = x if after else self.norm(f"layers.{i}.norm1", x)
            q, k, v = (self.linear(f"layers.{i}.attn.{c}", n).view(T, -1, D).transpose(0, 1) for c in "qkv")
            if o["qk_norm"] == "head":
                q, k = (self.rms(y, self.p[f"layers.{i}.attn.{c}_norm.weight"]) for c, y in (("q", q), ("k", k)))
            k, v = (y.repeat_interleave(H // self.K, 0) for y in (k, v))
            if self.pe in ("path", "wall"):
                scores = self.walked(q, k, n, i, T)
            else:
                scores = self.rotate(q, i) @ self.rotate(k, i, -1).transpose(1, 2)
            if self.pe == "shaw":
                scores = scores + torch.einsum("htd,tjd->htj", q, self.keys(i, T))
            scores = scores * (o["score_scale"] or (D ** -0.5 if o["scale"] == "on" else 1)) + self.bias(T)
            if self.pe == "fox":  # Lin et al. 2025, and decay_bias of their code
                weight, b = (self.p[f"pe.fgate_proj.{part}"][i] for part in ("weight", "bias"))
                kept = F.logsigmoid(F.linear(n, weight, b)).cumsum(0).transpose(0, 1)
                scores = scores + kept[:, :, None] - kept[:, None, :]
            if self.pe == "inkling":
                scores = self.mixed(scores, n, i, T)
            if self.pe == "grape":
                distance = torch.arange(T)[:, None] - torch.arange(T)[None, :]
                omega = F.softplus(self.p["pe.omega"][i]) * torch.tensor(alibi_slopes(H), dtype=torch.float64)
                slope = self.slopes(i, "v", q)[:, :, None] + self.slopes(i, "u", k)[:, None, :]
                scores = scores - distance * omega[:, None, None] * slope
            if self.pe == "learned_cap":  # logit soft-capping of Gemma 2, with a cap for each head and layer
                cap = float(self.pe_options["start"]) * self.p["pe.grow"][i].exp()[:, None, None]
                scores = cap * torch.tanh(scores / cap)
            if o["causal"] == "on":
                scores = scores.masked_fill(torch.ones(T, T).triu(1).bool(), -math.inf)
            if self.pe == "cope":
                scores = scores + contextual(q, scores, self.p["pe.pos_emb"][i])
            if self.pe == "selective":
                scores = selected(scores)
            weights = stick(scores) if self.pe == "stickbreaking" else scores.softmax(-1)
            z = (weights @ v).transpose(0, 1).reshape(T, H * D)
            mid = x + self.norm(f"layers.{i}.norm1_post", self.linear(f"layers.{i}.attn.o", z))
            if after:
                n = mid = self.norm(f"layers.{i}.norm1", mid)
            elif o["parallel"] != "shared":
                n = self.norm(f"layers.{i}.norm2", mid if o["parallel"] == "off" else x)
            act = {"relu": F.relu, "gelu": F.gelu, "gelu_tanh": lambda y: F.gelu(y, approximate="tanh"),
                   "silu": F.silu}[o["act"]]
            h = self.linear(f"layers.{i}.mlp.up", n)
            h = act(self.linear(f"layers.{i}.mlp.gate", n)) * h if o["gated"] == "on" else act(h)
            x = mid + self.norm(f"layers.{i}.norm2_post", self.linear(f"layers.{i}.mlp.down", h))
            if after:
                x = self.norm(f"layers.{i}.norm2", x)
        head = self.p["embed.weight" if o["tied"] == "on" else "head.weight"]
        x = self.norm("norm", x) * o["logit_scale"]
        x = F.linear(x, self.p["head_in.weight"]) if o["embed_width"] else x
        logits = F.linear(x, head, self.p.get("head.bias"))
        return o["logit_cap"] * torch.tanh(logits / o["logit_cap"]) if o["logit_cap"] else logits


def train(model, sequences):
    """Three steps; returns first logits, losses and gradient norms."""
    frozen = "adapter" in model.o
    for name, x in model.p.items():
        x.requires_grad_(not frozen or "adapter" in name or name.startswith("pe."))
    trained = {name: x for name, x in model.p.items() if x.requires_grad}
    def is_decayed(name, x):
        return x.dim() >= 2 and name not in ("pe.bias", "pe.fgate_proj.bias", "pe.omega", "pe.rel_logits_proj.proj",
                                            "pe.bt_proj.bias", "pe.g_proj.bias", "pe.log_factor", "pe.a", "pe.b",
                                            "pe.grow")

    decayed = [x for name, x in trained.items() if is_decayed(name, x)]
    plain = [x for name, x in trained.items() if not is_decayed(name, x)]
    adam = torch.optim.AdamW([dict(params=decayed, weight_decay=OPTIM["decay"]), dict(params=plain, weight_decay=0)],
                             lr=OPTIM["lr"], betas=(OPTIM["beta1"], OPTIM["beta2"]), eps=OPTIM["eps"])
    first, losses, norms = None, [], []
    for step in range(1, STEPS + 1):
        for group in adam.param_groups:
            group["lr"] = OPTIM["lr"] * step / OPTIM["warmup"]
        adam.zero_grad()
        logits = torch.cat([model.logits(tokens) for tokens, _ in sequences])
        targets = torch.cat([t for _, t in sequences])
        loss = F.cross_entropy(logits, targets, ignore_index=-1)
        loss.backward()
        norms.append(float(torch.nn.utils.clip_grad_norm_(list(trained.values()), OPTIM["clip"])))
        losses.append(float(loss))
        first = logits.detach() if first is None else first
        adam.step()
    return first, losses, norms


def write(path, tensors, meta):
    header, data = {"__metadata__": meta}, b""
    for name, x in tensors.items():
        integers = x.dtype == torch.int64
        body = struct.pack(f"<{x.numel()}{'q' if integers else 'f'}", *x.flatten().tolist())
        header[name] = {"dtype": "I64" if integers else "F32", "shape": list(x.shape),
                        "data_offsets": [len(data), len(data) + len(body)]}
        data += body
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + data)


def main():
    torch.manual_seed(1)
    sequences = []
    for n in LENGTHS:
        tokens, targets = torch.randint(V, (n,)), torch.randint(V, (n,))
        targets[torch.rand(n) < 0.3] = -1  # not scored
        targets[-1] = 2
        sequences.append((tokens, targets))
    tensors = {"lengths": torch.tensor(LENGTHS), "tokens": torch.cat([t for t, _ in sequences]),
               "targets": torch.cat([t for _, t in sequences])}
    adapters = "adapter" in sys.argv[1]
    families = "options" in sys.argv[1] or adapters
    cases = ADAPTERS if adapters else FAMILIES if families else CASES
    meta = {"cases": " ".join(cases), "vocab": str(V),
            "optim": " ".join(f"{k}={v}" for k, v in OPTIM.items()) + " schedule=constant" +
                     (" trains=adapter" if adapters else "")}
    for seed, (case, (pe, options)) in enumerate(cases.items()):
        model = Model(pe, options, seed)
        meta[case + ".pe"] = pe
        meta[case + ".model"] = " ".join(f"{k}={v}" for k, v in {**model.o, "context": CONTEXT}.items()
                                         if families or k not in FAMILY)
        for name, x in model.p.items():
            tensors[f"{case}.before.{name}"] = x.detach().clone()
        logits, losses, norms = train(model, sequences)
        tensors[f"{case}.logits"] = logits
        tensors[f"{case}.loss"], tensors[f"{case}.norm"] = torch.tensor(losses), torch.tensor(norms)
        for name, x in model.p.items():
            tensors[f"{case}.after.{name}"] = x.detach()
    write(sys.argv[1], tensors, meta)


if __name__ == "__main__":
    main()
