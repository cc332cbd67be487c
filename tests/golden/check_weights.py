#!/usr/bin/env python3
"""Checks that transformers loads what `export weights FOLDER/` writes, with the logits that pewter has.

    python3 check_weights.py PEWTER [CASE]...

Cases are those of transformers.safetensors, the GGUF files beside it, and models with another encoding. All parameters must be
named as transformers names them, and logits must agree to 1e-4 of the largest. Exit status 77 without transformers."""
import json
import os
import subprocess
import sys
import tempfile
import warnings

try:
    import numpy as np
    import torch
    import transformers
    from safetensors import safe_open
    from safetensors.torch import load_file, save_file
    from transformers import AutoModelForCausalLM
except ImportError:
    print("skipped: no transformers")
    sys.exit(77)
try:
    import gguf
except ImportError:
    gguf = None

HERE = os.path.dirname(os.path.abspath(__file__))
TOKENS = [(7 * i * i + 3 * i + 1) % 24 for i in range(40)]
ADAPTER = "optim trains=adapter rank=2 lr=0.1 warmup=1; train 3"
# case: commands after `model from=`
OTHERS = {
    "llama": ["pe rope_yarn base=500 factor=4 trained=16", "pe rope_pi base=10000 factor=3", "tune base=77",
              "pe rope_llama3 base=500 factor=8 trained=16 low=1 high=4",
              "pe rope_dynamic base=10000 factor=2 trained=32", "pe proportional_rope base=10000 fraction=0.5",
              "optim lr=0.1 warmup=1; train 3", ADAPTER],
    "llama_old": ["tune base=99", "pe rope_yarn base=500 factor=4 trained=16"],
    "llama_biased": ["optim lr=0.1 warmup=1; train 3"],
    "gpt_neox": ["tune base=77", ADAPTER],
    "gpt_neox_old": ["tune base=77"],
    "gpt2": ["optim lr=0.1 warmup=1; train 3", ADAPTER],
    "gemma": ["optim lr=0.1 warmup=1; train 3", ADAPTER],
    "qwen3": [ADAPTER],
}

# GGUF's names of tensors by those of Hugging Face, in layers and outside of them
GGUF_LAYER = {
    "input_layernorm": "attn_norm", "norm_1": "attn_norm", "post_attention_layernorm": "ffn_norm", "norm_2": "ffn_norm",
    "attention.query_key_value": "attn_qkv", "self_attention.query_key_value": "attn_qkv", "attn.Wqkv": "attn_qkv",
    "attention.dense": "attn_output", "self_attention.dense": "attn_output", "attn.out_proj": "attn_output",
    "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output",
    "self_attn.q_norm": "attn_q_norm", "self_attn.k_norm": "attn_k_norm", "mlp.dense_h_to_4h": "ffn_up",
    "mlp.dense_4h_to_h": "ffn_down", "ffn.up_proj": "ffn_up", "ffn.down_proj": "ffn_down", "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down", "pre_feedforward_layernorm": "ffn_norm",
    "post_feedforward_layernorm": "post_ffw_norm",
}
GGUF_OUTSIDE = {
    "embed_in": "token_embd", "word_embeddings": "token_embd", "wte": "token_embd", "embed_tokens": "token_embd",
    "word_embeddings_layernorm": "token_embd_norm", "final_layer_norm": "output_norm", "ln_f": "output_norm",
    "norm_f": "output_norm", "norm": "output_norm", "embed_out": "output", "lm_head": "output",
}
ARCHITECTURES = {"gpt_neox": "gptneox", "bloom": "bloom", "mpt": "mpt", "qwen2": "qwen2", "smollm3": "smollm3", "gemma": "gemma",
                 "gemma2": "gemma2", "gemma3_text": "gemma3", "llama": "llama"}
GGUF_CASES = set(ARCHITECTURES) | {"llama_llama3", "llama_longrope", "mpt_clipped"}


def write_gguf(path, config, tensors):
    """Writes a case as llama.cpp's converter does: q, k and v one below the other, Gemma's gains with their 1."""
    arch = ARCHITECTURES[config["model_type"]]
    first = lambda *keys: next(config[k] for k in keys if k in config)
    heads, width = first("num_attention_heads", "n_head", "n_heads"), first("hidden_size", "d_model")
    head = config.get("head_dim") or width // heads
    writer = gguf.GGUFWriter(path, arch)
    writer.add_block_count(first("num_hidden_layers", "n_layer", "n_layers"))
    writer.add_context_length(config.get("max_position_embeddings") or config.get("max_seq_len") or 64)
    writer.add_embedding_length(width)
    writer.add_feed_forward_length(config.get("intermediate_size") or 4 * width)
    writer.add_head_count(heads)
    writer.add_head_count_kv(config.get("num_key_value_heads") or heads)
    rope = config.get("rope_parameters") or {}
    if arch not in ("bloom", "mpt"):
        writer.add_key_length(head)
        writer.add_rope_dimension_count(int(head * rope.get("partial_rotary_factor", 1)))
        writer.add_rope_freq_base(float(rope.get("rope_theta", 10000)))
    if "rms_norm_eps" in config:
        writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    else:
        writer.add_layer_norm_eps(config.get("layer_norm_eps") or config.get("layer_norm_epsilon"))
    if arch in ("gemma2", "gemma3"):
        writer.add_sliding_window(config["sliding_window"])
    if arch == "gemma2":
        writer.add_attn_logit_softcapping(config["attn_logit_softcapping"])
        writer.add_final_logit_softcapping(config["final_logit_softcapping"])
    if (config.get("attn_config") or {}).get("clip_qkv"):
        writer.add_clamp_kqv(config["attn_config"]["clip_qkv"])
    if arch == "gptneox":
        writer.add_parallel_residual(config["use_parallel_residual"])
    for name, t in tensors.items():
        for prefix in ("gpt_neox.", "transformer.", "model."):
            name = name.removeprefix(prefix)
        parts, t = name.split("."), t.float().numpy()
        ending = parts.pop()
        layer = parts[1] if parts[0] in ("layers", "h", "blocks") else None
        inner = ".".join(parts[2:] if layer else parts)
        post = arch in ("gemma2", "gemma3") and inner == "post_attention_layernorm"
        to = "post_attention_norm" if post else GGUF_LAYER[inner] if layer else GGUF_OUTSIDE[inner]
        if arch.startswith("gemma") and to.endswith("norm"):
            t = t + 1
        if arch == "llama" and to in ("attn_q", "attn_k"):  # interleaved pairs
            t = t.reshape(-1, 2, head // 2, t.shape[1]).swapaxes(1, 2).reshape(t.shape)
        if to == "attn_qkv" and arch in ("bloom", "gptneox"):
            t = t.reshape(heads, 3, head, -1).swapaxes(0, 1).reshape(t.shape)
        writer.add_tensor(f"blk.{layer}.{to}.{ending}" if layer else f"{to}.{ending}", np.ascontiguousarray(t))
    if config.get("rope_scaling"):  # llama3's factors are a tensor
        writer.add_tensor("rope_freqs.weight", np.array([1.5, 4.0], dtype=np.float32))
    if rope.get("rope_type") == "longrope":
        trained = rope["original_max_position_embeddings"]
        writer.add_rope_scaling_orig_ctx_len(trained)
        writer.add_rope_scaling_attn_factors((1 + np.log(config["max_position_embeddings"] / trained) / np.log(trained)) ** 0.5)
        for which in ("long", "short"):
            writer.add_tensor(f"rope_factors_{which}.weight", np.array(rope[which + "_factor"], dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def check(pewter, name, source, commands, folder, context):
    out, npz = os.path.join(folder, "out"), os.path.join(folder, "l.npz")
    prompt = " ".join(map(str, TOKENS[: context - 2]))
    line = f"model from={source} context={context}; {commands}; prompt {prompt}; export logits {npz}; export weights {out}/"
    ran = subprocess.run([pewter, "-c", line], capture_output=True, text=True)
    assert ran.returncode == 0, (name, commands, ran.stderr, ran.stdout)
    model, info = AutoModelForCausalLM.from_pretrained(out, output_loading_info=True, attn_implementation="eager")
    for key in ("missing_keys", "unexpected_keys", "mismatched_keys"):
        assert not info[key], (name, key, info[key])
    assert model.dtype == torch.float32, (name, model.dtype)
    ours = np.load(npz)
    tokens = torch.tensor(ours["tokens"])
    with torch.no_grad():
        theirs = model.eval()(tokens[None].long()).logits[0].numpy()
    largest = np.abs(theirs).max()
    far = np.abs(theirs - ours["logits"]).max() / largest
    print(f"{name:20} context {context} {commands:64} logits differ by {far:.1e} of {largest:.3g}")
    assert far < 1e-4, (name, commands)


# no character that the small vocabularies lack
TEXTS = ["Hello, world! It's 12345 tokens.", "  two  blanks\n\nand lines\t", "na\u00efve \u65e5\u672c\u8a9e \u732b \U0001f600", "aaaa aaaaa   aaaaaaa"]


def check_tokens(pewter, name, folder):
    """Makes a random LLaMA with the tokenizer of a golden file, and compares what AutoTokenizer reads of the written one."""
    source = gguf.GGUFReader(os.path.join(HERE, "tokenizers", name + ".gguf"))
    path, out = os.path.join(folder, "m.gguf"), os.path.join(folder, "out")
    vocab = len(source.fields["tokenizer.ggml.tokens"].data)
    writer = gguf.GGUFWriter(path, "llama")
    for number, key in (("block_count", 1), ("context_length", 256), ("embedding_length", 32), ("head_count", 2)):
        getattr(writer, "add_" + number)(key)
    writer.add_feed_forward_length(32)
    writer.add_layer_norm_rms_eps(1e-5)
    for field in source.fields.values():
        if field.name.startswith("tokenizer."):
            kind = field.types[0]
            writer.add_key_value(field.name, field.contents(), kind, field.types[-1] if kind == gguf.GGUFValueType.ARRAY else None)
    rng = np.random.default_rng(7)
    shapes = {"token_embd": (vocab, 32), "output_norm": (32,), "blk.0.attn_norm": (32,), "blk.0.ffn_norm": (32,)}
    shapes.update({f"blk.0.{k}": (32, 32) for k in ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down")})
    for key, shape in shapes.items():
        writer.add_tensor(key + ".weight", rng.standard_normal(shape, dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    lines = [f"model from={path}"]
    for i, text in enumerate(TEXTS):
        with open(os.path.join(folder, f"{i}.txt"), "w", encoding="utf-8", newline="") as f:
            f.write(text + "\n")  # the last newline is left out
        lines.append(f"prompt path={folder}/{i}.txt; export logits {folder}/{i}.npz")
    ran = subprocess.run([pewter, "-c", "; ".join(lines + [f"export weights {out}/"])], capture_output=True, text=True)
    assert ran.returncode == 0, (name, ran.stderr, ran.stdout)
    theirs = transformers.AutoTokenizer.from_pretrained(out)
    for i, text in enumerate(TEXTS):
        ids, ours = theirs(text, add_special_tokens=False).input_ids, list(np.load(os.path.join(folder, f"{i}.npz"))["tokens"])
        assert ids == ours[: len(ids)] and len(ids) > 0, (name, text, ids, ours)
    print(f"{name:20} {len(TEXTS)} texts have the same tokens by AutoTokenizer, {vocab} pieces")


def main(pewter, only):
    warnings.filterwarnings("ignore")
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    cases = safe_open(os.path.join(HERE, "transformers.safetensors"), "pt")
    tensors = load_file(os.path.join(HERE, "transformers.safetensors"))
    for name, text in sorted(cases.metadata().items()):
        if only and name not in only:
            continue
        case = json.loads(text)
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(folder, "source")
            os.mkdir(source)
            with open(os.path.join(source, "config.json"), "w") as f:
                json.dump(case["config"], f)
            save_file({k.split(":")[1]: v for k, v in tensors.items() if k.startswith(case["weights"] + ":")},
                      os.path.join(source, "model.safetensors"))
            check(pewter, name, source, "", folder, 64)
            if case["config"]["model_type"] != "bloom":
                check(pewter, name, source, "", folder, 33)
            for commands in OTHERS.get(name, []):
                check(pewter, name, source, commands, folder, 64)
            if gguf is not None and name in GGUF_CASES:
                path = os.path.join(folder, name + ".gguf")
                write_gguf(path, case["config"], load_file(os.path.join(source, "model.safetensors")))
                check(pewter, name + " as GGUF", path, "", folder, 64)
    for name in ["scores", "gpt2", "smollm", "llama3", "qwen2"] if gguf is not None else []:
        if not only or "tokens" in only:
            with tempfile.TemporaryDirectory() as folder:
                check_tokens(pewter, name, folder)
    for name in ["gpt2.gguf", "llama.gguf", "qwen3.gguf"]:
        if not only or name in only:
            with tempfile.TemporaryDirectory() as folder:
                check(pewter, name, os.path.join(HERE, "gguf", name), "", folder, 64)


main(sys.argv[1], sys.argv[2:])
