#!/usr/bin/env python3
"""Writes transformers.safetensors: tiny random models of every family that src/foreign reads, as Hugging Face's transformers
saves them, with the outputs of transformers.

    python3 make_transformers.py transformers.safetensors

Needs torch, transformers and safetensors. Written in November 2026 with torch 2.15 and transformers 5.24.
tests/foreign/test_families.c holds pewter to the numbers. The file is committed; the test needs no Python.

A set of weights serves several cases, which differ in config.json. The metadata have a JSON object for each case:
weights, config, and the names of the tensors. Numbers of a case NAME:
    NAME/tokens     [T] the prompt
    NAME/logits     [rows,V] at the rows of ROWS
    NAME/probs      [L,H,rows,T] attention at these rows
    NAME/more       [32] tokens of greedy decoding
"""
import json
import os
import sys
import tempfile

import torch
import transformers
from safetensors.torch import load_file, save_file
from transformers import AutoConfig, AutoModelForCausalLM

V, T, MORE = 40, 24, 32
ROWS = [11, 23]
torch.manual_seed(1)
torch.set_num_threads(1)

SMALL = dict(vocab_size=V, bos_token_id=None, eos_token_id=None, pad_token_id=None, initializer_range=0.25)
LLAMA = dict(hidden_size=16, intermediate_size=20, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
             max_position_embeddings=64)
GEMMA = dict(LLAMA, head_dim=8, num_attention_heads=2, num_key_value_heads=1, query_pre_attn_scalar=12)
YARN = dict(rope_type="yarn", factor=4.0, original_max_position_embeddings=16)
LONG = dict(rope_type="longrope", long_factor=[1.5, 4.0], short_factor=[1.0, 1.25], original_max_position_embeddings=16)
LLAMA3 = dict(rope_type="llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
              original_max_position_embeddings=16)

# name: (weights, settings of the config, keys to change in the saved config.json; None removes)
CASES = {
    "gpt2": ("gpt2", dict(model_type="gpt2", n_embd=16, n_layer=2, n_head=2, n_positions=64), {}),
    "gpt2_scaled": ("gpt2", dict(model_type="gpt2", n_embd=16, n_layer=2, n_head=2, n_positions=64,
                                 scale_attn_by_inverse_layer_idx=True, activation_function="relu"), {}),
    "gpt_neox": ("gpt_neox", dict(model_type="gpt_neox", hidden_size=16, intermediate_size=24, num_hidden_layers=2,
                                  num_attention_heads=2, max_position_embeddings=64, rotary_pct=0.5), {}),
    "gpt_neox_old": ("gpt_neox", dict(model_type="gpt_neox", hidden_size=16, intermediate_size=24, num_hidden_layers=2,
                                      num_attention_heads=2, max_position_embeddings=64, rotary_pct=0.5,
                                      use_parallel_residual=False),
                     dict(rope_parameters=None, rotary_pct=0.5, rotary_emb_base=10000)),
    "gpt_neox_yarn": ("gpt_neox", dict(model_type="gpt_neox", hidden_size=16, intermediate_size=24, num_hidden_layers=2,
                                       num_attention_heads=2, max_position_embeddings=64,
                                       rope_parameters=dict(YARN, rope_theta=500.0, partial_rotary_factor=0.5)), {}),
    "gptj": ("gptj", dict(model_type="gptj", n_embd=16, n_layer=2, n_head=2, n_positions=64, rotary_dim=4), {}),
    "llama": ("llama", dict(LLAMA, model_type="llama"), {}),
    "llama_old": ("llama", dict(LLAMA, model_type="llama", rope_theta=50.0), dict(rope_parameters=None, rope_theta=50.0)),
    "llama_linear": ("llama", dict(LLAMA, model_type="llama", rope_parameters=dict(rope_type="linear", factor=4.0)), {}),
    "llama_dynamic": ("llama", dict(LLAMA, model_type="llama", rope_parameters=dict(rope_type="dynamic", factor=4.0)), {}),
    "llama_yarn": ("llama", dict(LLAMA, model_type="llama", rope_parameters=YARN), {}),
    "llama_yarn_set": ("llama", dict(LLAMA, model_type="llama",
                                     rope_parameters=dict(YARN, attention_factor=1.5, beta_fast=4.0, truncate=False)), {}),
    "llama_yarn_mscale": ("llama", dict(LLAMA, model_type="llama",
                                        rope_parameters=dict(YARN, mscale=0.7, mscale_all_dim=0.3)), {}),
    "llama_longrope": ("llama", dict(LLAMA, model_type="llama", rope_parameters=LONG), {}),
    "llama_llama3": ("llama", dict(LLAMA, model_type="llama", rope_parameters=LLAMA3),
                     dict(rope_parameters=None, rope_theta=10000.0, rope_scaling=LLAMA3)),
    "llama_proportional": ("llama", dict(LLAMA, model_type="llama", rope_parameters=dict(
        rope_type="proportional", partial_rotary_factor=0.5)), {}),
    "llama_biased": ("llama_biased", dict(LLAMA, model_type="llama", attention_bias=True, tie_word_embeddings=True), {}),
    "smollm3": ("smollm3", dict(LLAMA, model_type="smollm3", no_rope_layers=[1, 0]), {}),
    "mistral": ("llama", dict(LLAMA, model_type="mistral", sliding_window=6), {}),
    "qwen2": ("qwen2", dict(LLAMA, model_type="qwen2", use_sliding_window=True, sliding_window=6, max_window_layers=1), {}),
    "qwen3": ("qwen3", dict(LLAMA, model_type="qwen3", head_dim=8), {}),
    "bloom": ("bloom", dict(model_type="bloom", hidden_size=12, n_layer=2, n_head=3), {}),
    "mpt": ("mpt", dict(model_type="mpt", d_model=12, n_layers=2, n_heads=3, max_seq_len=64, expansion_ratio=2,
                        attn_config=dict(softmax_scale=0.7)), {}),
    "mpt_clipped": ("mpt", dict(model_type="mpt", d_model=12, n_layers=2, n_heads=3, max_seq_len=64, expansion_ratio=2,
                                attn_config=dict(clip_qkv=0.5)), {}),
    "opt": ("opt", dict(model_type="opt", hidden_size=16, ffn_dim=24, num_hidden_layers=2, num_attention_heads=2,
                        max_position_embeddings=64, word_embed_proj_dim=16), {}),
    "gemma": ("gemma", dict(GEMMA, model_type="gemma"), {}),
    "gemma2": ("gemma2", dict(GEMMA, model_type="gemma2", sliding_window=6, attn_logit_softcapping=2.0,
                              final_logit_softcapping=3.0), {}),
    "gemma3_text": ("gemma3_text", dict(GEMMA, model_type="gemma3_text", sliding_window=6, layer_types=[
        "sliding_attention", "full_attention"], rope_parameters=dict(
            full_attention=dict(rope_type="linear", factor=8.0, rope_theta=1000000.0),
            sliding_attention=dict(rope_type="default", rope_theta=100.0))), {}),
    "gemma3_old": ("gemma3_text", dict(GEMMA, model_type="gemma3_text", sliding_window=6, sliding_window_pattern=2,
                                       rope_theta=5000.0, rope_local_base_freq=20.0),
                   dict(rope_parameters=None, layer_types=None, rope_theta=5000.0, rope_local_base_freq=20.0,
                        sliding_window_pattern=2)),
    "opt_350m": ("opt_350m", dict(model_type="opt", hidden_size=16, ffn_dim=24, num_hidden_layers=2, num_attention_heads=2,
                                  max_position_embeddings=64, word_embed_proj_dim=6, do_layer_norm_before=False), {}),
}
# Half of the sets are in bfloat16, so that both types are read.
BF16 = {"gpt_neox", "llama", "gemma2", "opt"}


def make_weights(name, config):
    """Random values, also for biases and norms, in half precision."""
    model = AutoModelForCausalLM.from_config(config)
    generator = torch.Generator().manual_seed(sum(map(ord, name)))
    with torch.no_grad():
        for key, p in model.named_parameters():
            noise = torch.randn(p.shape, generator=generator)
            gain = p.dim() == 1 and key.endswith("weight") and not config.model_type.startswith("gemma")
            p.copy_(1 + 0.2 * noise if gain else noise * (0.2 if p.dim() == 1 else 0.45 if "embed" in key or "wte" in key
                                                           else 1.2 / p.shape[-1] ** 0.5))
    kind = torch.bfloat16 if name in BF16 else torch.float16
    return model.to(kind)


def check_margin(logits, name):
    top = logits.topk(2).values
    assert (top[:, 0] - top[:, 1]).min() > 1e-4, (name, "two tokens are too close")


def run(name, settings, edits, weights):
    """Loads the weights with this config, as it is saved and edited, and runs it in single precision."""
    with tempfile.TemporaryDirectory() as folder:
        settings = dict(settings)
        config = AutoConfig.for_model(settings.pop("model_type"), **SMALL, **settings)
        config.save_pretrained(folder)
        path = os.path.join(folder, "config.json")
        saved = json.load(open(path))
        saved.update({k: v for k, v in edits.items() if v is not None})
        for key, value in edits.items():
            if value is None:
                saved.pop(key, None)
        json.dump(saved, open(path, "w"))
        save_file(weights, os.path.join(folder, "model.safetensors"), metadata={"format": "pt"})
        model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
    tokens = torch.tensor([(7 * i * i + 3 * i + 1) % V for i in range(T)])
    with torch.no_grad():
        out = model(tokens[None], output_attentions=True)
        all_tokens, logits_of_more = tokens.clone(), []
        while len(all_tokens) < T + MORE:
            logits = model(all_tokens[None], use_cache=False).logits[0, -1]
            logits_of_more.append(logits)
            all_tokens = torch.cat([all_tokens, logits.argmax()[None]])
    check_margin(torch.stack(logits_of_more), name)
    probs = torch.stack([a[0] for a in out.attentions])
    return saved, {f"{name}/tokens": tokens, f"{name}/logits": out.logits[0, ROWS].contiguous(),
                   f"{name}/probs": probs[:, :, ROWS].contiguous(), f"{name}/more": all_tokens[T:].contiguous()}


def main(path):
    tensors, meta, sets = {}, {}, {}
    for name, (weights, settings, edits) in CASES.items():
        if weights not in sets:
            config = AutoConfig.for_model(settings["model_type"], **SMALL, **{k: v for k, v in settings.items() if k != "model_type"})
            model = make_weights(weights, config)
            with tempfile.TemporaryDirectory() as folder:
                model.save_pretrained(folder)
                sets[weights] = load_file(os.path.join(folder, "model.safetensors"))
            tensors.update({f"{weights}:{k}": v for k, v in sets[weights].items()})
        saved, numbers = run(name, settings, edits, sets[weights])
        tensors.update(numbers)
        keep = {k: v for k, v in saved.items() if k not in ("architectures", "transformers_version", "dtype", "id2label", "label2id")}
        meta[name] = json.dumps(dict(weights=weights, config=keep))
        print(name, "ok", numbers[f"{name}/more"][:12].tolist(), float(numbers[f"{name}/logits"].abs().max()))
    save_file(tensors, path, metadata=meta)
    print(os.path.getsize(path), "bytes, transformers", transformers.__version__, "torch", torch.__version__)


main(sys.argv[1])
