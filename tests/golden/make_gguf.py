#!/usr/bin/env python3
"""Writes gguf/: tiny random models as GGUF files, blocks of every type, and what other programs read from them.

    python3 make_gguf.py gguf

Needs torch, transformers, gguf and safetensors. Written in November 2026 with torch 2.15, transformers 5.24 and gguf 0.19.
The package gguf writes the files and dequantises the blocks; transformers reads the models. tests/foreign/test_gguf.c
compares. expect.safetensors holds for each model tokens [T], logits [T,V] and the greedy continuation; for each type
of blocks its numbers.
"""
import os
import sys

import gguf
import numpy as np
import torch
from gguf import GGMLQuantizationType as Q
from safetensors.torch import save_file
from transformers import AutoModelForCausalLM

V, T, MORE = 24, 12, 16
torch.set_num_threads(1)
rng = np.random.default_rng(5)


def matrix(rows, cols):
    return (rng.standard_normal((rows, cols)) / cols ** 0.5 * 1.3).astype(np.float32)


def gain(n, about=1.0):
    return (about + 0.2 * rng.standard_normal(n)).astype(np.float32)


def add(writer, name, values, kind=Q.F32):
    if kind == Q.F32:
        writer.add_tensor(name, values)
    elif kind == Q.F16:
        writer.add_tensor(name, values.astype(np.float16))
    else:
        writer.add_tensor(name, gguf.quants.quantize(values, kind), raw_dtype=kind)


def close(writer):
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def shape(w, layers, width, heads, ffn, context=64):
    w.add_block_count(layers)
    w.add_context_length(context)
    w.add_embedding_length(width)
    w.add_feed_forward_length(ffn)
    w.add_head_count(heads)
    w.add_file_type(0)
    w.add_vocab_size(V)


def write_llama(path):
    """Rows of q and k are random, so their order in the file is one of interleaved pairs as well as any."""
    C, H, K, F = 32, 4, 2, 32
    w = gguf.GGUFWriter(path, "llama")
    shape(w, 2, C, H, F)
    w.add_head_count_kv(K)
    w.add_layer_norm_rms_eps(1e-5)
    w.add_rope_freq_base(500.0)
    w.add_rope_dimension_count(C // H)
    add(w, "token_embd.weight", matrix(V, C) * 2, Q.Q8_0)
    for l in range(2):
        b = f"blk.{l}."
        add(w, b + "attn_norm.weight", gain(C))
        add(w, b + "attn_q.weight", matrix(C, C) * 2, Q.Q4_0)
        add(w, b + "attn_k.weight", matrix(C // 2, C) * 2, Q.BF16)
        add(w, b + "attn_v.weight", matrix(C // 2, C), Q.F16)
        add(w, b + "attn_output.weight", matrix(C, C), Q.Q8_0)
        add(w, b + "ffn_norm.weight", gain(C))
        add(w, b + "ffn_gate.weight", matrix(F, C), Q.Q4_1)
        add(w, b + "ffn_up.weight", matrix(F, C), Q.Q4_1)
        add(w, b + "ffn_down.weight", matrix(C, F), Q.Q4_0)
    add(w, "output_norm.weight", gain(C))
    close(w)


def write_gpt2(path):
    C = 16
    w = gguf.GGUFWriter(path, "gpt2")
    shape(w, 1, C, 2, 4 * C)
    w.add_layer_norm_eps(1e-5)
    add(w, "token_embd.weight", matrix(V, C) * 2)
    add(w, "position_embd.weight", matrix(64, C), Q.F16)
    for part, rows, cols in (("attn_qkv", 3 * C, C), ("attn_output", C, C), ("ffn_up", 4 * C, C), ("ffn_down", C, 4 * C)):
        add(w, f"blk.0.{part}.weight", matrix(rows, cols), Q.F16)
        add(w, f"blk.0.{part}.bias", gain(rows, 0.0))
    for part in ("blk.0.attn_norm", "blk.0.ffn_norm", "output_norm"):
        add(w, part + ".weight", gain(C))
        add(w, part + ".bias", gain(C, 0.0))
    close(w)


def write_qwen3(path):
    C, H, K, D, F = 16, 2, 1, 8, 16
    w = gguf.GGUFWriter(path, "qwen3")
    shape(w, 1, C, H, F)
    w.add_head_count_kv(K)
    w.add_key_length(D)
    w.add_value_length(D)
    w.add_layer_norm_rms_eps(1e-6)
    w.add_rope_freq_base(10000.0)
    add(w, "token_embd.weight", matrix(V, C) * 2, Q.F16)
    add(w, "output.weight", matrix(V, C) * 2, Q.F16)
    for part, rows, cols in (("attn_q", H * D, C), ("attn_k", K * D, C), ("attn_v", K * D, C), ("attn_output", C, H * D),
                             ("ffn_gate", F, C), ("ffn_up", F, C), ("ffn_down", C, F)):
        add(w, f"blk.0.{part}.weight", matrix(rows, cols) * 1.5, Q.F16)
    for part, n in (("attn_norm", C), ("ffn_norm", C), ("attn_q_norm", D), ("attn_k_norm", D)):
        add(w, f"blk.0.{part}.weight", gain(n))
    add(w, "output_norm.weight", gain(C))
    close(w)


def write_blocks(path):
    """Random bytes as blocks; the scales, in half precision, are made moderate."""
    w = gguf.GGUFWriter(path, "blocks")
    expect = {}
    places = {Q.Q4_0: [0], Q.Q4_1: [0, 2], Q.Q8_0: [0], Q.Q4_K: [0, 2], Q.Q5_K: [0, 2], Q.Q6_K: [208]}
    for kind, at in places.items():
        values, size = gguf.GGML_QUANT_SIZES[kind]
        rows = 2
        raw = rng.integers(0, 256, (rows, 256 // values, size), dtype=np.uint8)
        for i in at:
            raw[:, :, i:i + 2] = (rng.standard_normal((rows, 256 // values, 1)) * 0.1).astype(np.float16).view(np.uint8)
        raw = raw.reshape(rows, -1)
        w.add_tensor(kind.name, raw, raw_dtype=kind)
        expect["blocks/" + kind.name] = torch.from_numpy(gguf.quants.dequantize(raw, kind).astype(np.float32).copy())
    close(w)
    return expect


def run(folder, name):
    more = dict(vocab_size=V)  # transformers does not take them from a file without a tokenizer
    if name == "gpt2":
        more["n_positions"] = 64
    elif name == "qwen3":
        more["head_dim"] = 8
    model = AutoModelForCausalLM.from_pretrained(folder, gguf_file=name + ".gguf", dtype=torch.float32,
                                                 attn_implementation="eager", **more).eval()
    tokens = torch.tensor([(5 * i * i + i + 2) % V for i in range(T)])
    with torch.no_grad():
        logits = model(tokens[None]).logits[0]
        every = tokens.clone()
        for _ in range(MORE):
            last = model(every[None], use_cache=False).logits[0, -1]
            best = last.topk(2).values
            assert best[0] - best[1] > 1e-4, (name, "two tokens are too close")
            every = torch.cat([every, last.argmax()[None]])
    print(name, every[T:].tolist())
    return {f"{name}/tokens": tokens, f"{name}/logits": logits.contiguous(), f"{name}/more": every[T:].contiguous()}


def main(folder):
    os.makedirs(folder, exist_ok=True)
    expect = write_blocks(os.path.join(folder, "blocks.gguf"))
    for name, write in (("llama", write_llama), ("gpt2", write_gpt2), ("qwen3", write_qwen3)):
        write(os.path.join(folder, name + ".gguf"))
        expect.update(run(folder, name))
    save_file(expect, os.path.join(folder, "expect.safetensors"))


main(sys.argv[1])
