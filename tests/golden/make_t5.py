#!/usr/bin/env python3
"""Writes t5/: tiny random models with T5's relative biases, and the biases that transformers computes from them.

    python3 make_t5.py t5

Needs torch, transformers and safetensors. Written in November 2026 with torch 2.15 and transformers 5.24.
tests/lab/test_import_table.c compares. one/ is a T5, and each/ a umT5 in two shards, which has a table for each layer.
expect.safetensors holds for each NAME/decoder and NAME/encoder the bias [heads,2P-1] of key j and query i at j - i from
-(P-1) on, of layer 0; the decoder's are NaN for later keys.
"""
import json
import os
import sys

import torch
from safetensors.torch import save_file
from transformers import T5Config, T5ForConditionalGeneration, UMT5Config, UMT5ForConditionalGeneration

P = 160
SMALL = dict(vocab_size=8, d_model=8, d_kv=2, d_ff=8, num_layers=2, num_heads=4, decoder_start_token_id=0)
CASES = {
    "one": (T5ForConditionalGeneration, T5Config(**SMALL)),
    "each": (UMT5ForConditionalGeneration, UMT5Config(**SMALL, relative_attention_num_buckets=12,
                                                      relative_attention_max_distance=50)),
}
torch.manual_seed(3)


def write(model, folder):
    """Keeps the keys of the config that say something about positions, and no dates or versions."""
    model.half().save_pretrained(folder, max_shard_size="3KB" if folder.endswith("each") else "1MB")
    os.remove(os.path.join(folder, "generation_config.json"))
    path = os.path.join(folder, "config.json")
    config = json.load(open(path))
    keep = ("model_type", "num_heads", "num_layers", "relative_attention_num_buckets", "relative_attention_max_distance")
    json.dump({k: config[k] for k in keep}, open(path, "w"), indent=1)


def biases(stack, later):
    """[heads,2P-1], by T5's own function."""
    attention = stack.block[0].layer[0].SelfAttention
    all_pairs = attention.compute_bias(P, P)[0]
    out = torch.full((all_pairs.shape[0], 2 * P - 1), float("nan"))
    out[:, :P] = all_pairs[:, P - 1, :]
    if later:
        out[:, P - 1:] = all_pairs[:, 0, :]
    return out.contiguous()


def main(folder):
    expect = {}
    for name, (kind, config) in CASES.items():
        model = kind(config).eval()
        with torch.no_grad():
            for key, p in model.named_parameters():
                if "relative_attention_bias" in key:
                    p.copy_(torch.randn(p.shape))
        write(model, os.path.join(folder, name))
        model = model.float()
        with torch.no_grad():
            expect[name + "/decoder"] = biases(model.decoder, False)
            expect[name + "/encoder"] = biases(model.encoder, True)
    save_file(expect, os.path.join(folder, "expect.safetensors"))


main(sys.argv[1])
