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

HERE = os.path.dirname(os.path.abspath(__file__))
TOKENS = [(7 * i * i + 3 * i + 1) % 24 for i in range(40)]
# case: commands after `model from=`
OTHERS = {
    "llama": ["pe rope_yarn base=500 factor=4 trained=16", "pe rope_pi base=10000 factor=3", "tune base=77",
              "pe rope_llama3 base=500 factor=8 trained=16 low=1 high=4",
              "pe rope_dynamic base=10000 factor=2 trained=32", "pe proportional_rope base=10000 fraction=0.5",
              "optim lr=0.1 warmup=1; train 3"],
    "llama_old": ["tune base=99", "pe rope_yarn base=500 factor=4 trained=16"],
    "llama_biased": ["optim lr=0.1 warmup=1; train 3"],
    "gpt_neox": ["tune base=77"],
    "gpt_neox_old": ["tune base=77"],
    "gpt2": ["optim lr=0.1 warmup=1; train 3"],
    "gemma": ["optim lr=0.1 warmup=1; train 3"],
}


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
    for name in ["gpt2.gguf", "llama.gguf", "qwen3.gguf"]:
        if not only or name in only:
            with tempfile.TemporaryDirectory() as folder:
                check(pewter, name, os.path.join(HERE, "gguf", name), "", folder, 64)


main(sys.argv[1], sys.argv[2:])
