#!/usr/bin/env python3
"""Writes gguf/FAMILY.gguf: tiny random models of transformers as llama.cpp's converter would write them.

    python3 make_gguf_families.py gguf

Needs torch, transformers, gguf and safetensors. Written in November 2026 with torch 2.15, transformers 5.24 and gguf 0.19.
Names are those of the package gguf. Values change as in convert_hf_to_gguf.py: fused q, k, v become one below the other,
rows of SmolLM3's q and k become pairs side by side, and Gemma's gains are stored with the 1. transformers computes the
expected numbers from its own model, not from the file. families.safetensors holds for each model tokens [T], logits [T,V]
and the greedy continuation; tests/foreign/test_gguf.c compares.
"""
import os
import sys

import gguf
import numpy as np
import torch
from safetensors.torch import save_file
from transformers import AutoConfig, AutoModelForCausalLM

V, T, MORE = 24, 12, 16
torch.set_num_threads(1)

COMMON = dict(vocab_size=V, bos_token_id=None, eos_token_id=None, pad_token_id=None)
LLAMA = dict(hidden_size=16, intermediate_size=16, num_attention_heads=4, num_key_value_heads=2,
             max_position_embeddings=64)
GEMMA = dict(LLAMA, num_attention_heads=2, num_key_value_heads=1, head_dim=8, query_pre_attn_scalar=8)

# name: model_type, settings, key values of the file beside the shape's
CASES = {
    "smollm3": ("smollm3", dict(LLAMA, num_hidden_layers=4, rope_parameters=dict(rope_type="default", rope_theta=300.0)),
                dict(rope_freq_base=300.0, rope_dimension_count=4)),
    "gptneox": ("gpt_neox", dict(hidden_size=16, intermediate_size=24, num_hidden_layers=1, num_attention_heads=2,
                                 max_position_embeddings=64, rotary_pct=0.5),
                dict(rope_dimension_count=4, parallel_residual=True)),
    "bloom": ("bloom", dict(hidden_size=12, n_layer=1, n_head=3), {}),
    "mpt": ("mpt", dict(d_model=12, n_layers=1, n_heads=3, max_seq_len=64), dict(max_alibi_bias=8.0)),
    "gemma": ("gemma", dict(GEMMA, num_hidden_layers=1), dict(key_length=8, value_length=8)),
    "gemma3": ("gemma3_text", dict(GEMMA, num_hidden_layers=6, sliding_window=6, rope_parameters=dict(
        full_attention=dict(rope_type="linear", factor=8.0, rope_theta=1000000.0),
        sliding_attention=dict(rope_type="default", rope_theta=10000.0))),
               dict(key_length=8, value_length=8, sliding_window=6, rope_freq_base=1000000.0,
                    rope_scaling_type=gguf.RopeScalingType.LINEAR, rope_scaling_factor=8.0)),
}


def make_model(name, kind, settings):
    """Random values, also for biases and norms, that half precision can hold."""
    model = AutoModelForCausalLM.from_config(AutoConfig.for_model(kind, **COMMON, **settings), attn_implementation="eager")
    generator = torch.Generator().manual_seed(sum(map(ord, name)))
    with torch.no_grad():
        for key, p in model.named_parameters():
            noise = torch.randn(p.shape, generator=generator)
            gain = p.dim() == 1 and key.endswith("weight") and not name.startswith("gemma")
            p.copy_(1 + 0.2 * noise if gain else noise * (0.2 if p.dim() == 1 else 0.5 if "embed" in key or "wte" in key
                                                           else 1.4 / p.shape[-1] ** 0.5))
    return model.half().float().eval()


def side_by_side(x, heads):
    """Rows c and c + D/2 of a head become neighbours."""
    return x.reshape(heads, 2, x.shape[0] // heads // 2, *x.shape[1:]).swapaxes(1, 2).reshape(x.shape)


def one_below_another(x, heads):
    """q, k and v of each head become all q, all k and all v."""
    return x.reshape(heads, 3, x.shape[0] // heads // 3, *x.shape[1:]).swapaxes(0, 1).reshape(x.shape)


def convert(name, key, x, heads, kv_heads):
    if name == "smollm3" and (".q_proj." in key or ".k_proj." in key):
        return side_by_side(x, heads if ".q_proj." in key else kv_heads)
    if name in ("gptneox", "bloom") and "query_key_value" in key:
        return one_below_another(x, heads)
    return x + 1 if name.startswith("gemma") and key.endswith("norm.weight") else x


def first(config, *keys):
    return next(getattr(config, k) for k in keys if getattr(config, k, None) is not None)


def write(path, name, model, more):
    c = model.config
    layers = first(c, "num_hidden_layers", "n_layer", "n_layers")
    heads = first(c, "num_attention_heads", "n_head", "n_heads")
    width = first(c, "hidden_size", "n_embed", "d_model")
    kv_heads = getattr(c, "num_key_value_heads", None) or heads
    w = gguf.GGUFWriter(path, name)
    w.add_block_count(layers)
    w.add_context_length(64)
    w.add_embedding_length(width)
    w.add_feed_forward_length(getattr(c, "intermediate_size", None) or 4 * width)
    w.add_head_count(heads)
    w.add_head_count_kv(kv_heads)
    if hasattr(c, "rms_norm_eps"):
        w.add_layer_norm_rms_eps(c.rms_norm_eps)
    else:
        w.add_layer_norm_eps(first(c, "layer_norm_epsilon", "layer_norm_eps"))
    for key, value in more.items():
        getattr(w, "add_" + key)(value)
    arch = next(a for a, text in gguf.MODEL_ARCH_NAMES.items() if text == name)
    names = gguf.get_tensor_name_map(arch, layers)
    tied = getattr(c, "tie_word_embeddings", False)
    for key, x in model.state_dict().items():
        if (tied and key == "lm_head.weight") or key.endswith((".attention.bias", "masked_bias", "inv_freq")):
            continue
        short = key.removeprefix("transformer.") if name == "bloom" else key
        theirs = names.get_name(short, try_suffixes=(".weight", ".bias"))
        assert theirs is not None, key
        x = convert(name, key, x, heads, kv_heads).numpy()
        w.add_tensor(theirs, x.astype(np.float32 if x.ndim == 1 else np.float16))
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()


def run(name, model):
    tokens = torch.tensor([(5 * i * i + i + 2) % V for i in range(T)])
    with torch.no_grad():
        logits = model(tokens[None]).logits[0]
        every = tokens.clone()
        for _ in range(MORE):
            last = model(every[None], use_cache=False).logits[0, -1]
            best = last.topk(2).values
            assert best[0] - best[1] > 1e-4, (name, "two tokens are too close")
            every = torch.cat([every, last.argmax()[None]])
    print(name, every[T:].tolist(), float(logits.abs().max()))
    return {f"{name}/tokens": tokens, f"{name}/logits": logits.contiguous(), f"{name}/more": every[T:].contiguous()}


def main(folder):
    expect = {}
    for name, (kind, settings, more) in CASES.items():
        model = make_model(name, kind, settings)
        write(os.path.join(folder, name + ".gguf"), name, model, more)
        expect.update(run(name, model))
    save_file(expect, os.path.join(folder, "families.safetensors"))


main(sys.argv[1])
