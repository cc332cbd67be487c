#!/usr/bin/env python3
"""A language model in pewter, in transformers and in llama.cpp: opening, decoding, a forward pass; and the same text.

    ./dev bench --models [--rounds N] [--samples N] [--threads N] [--memory]

The model is SmolLM2-135M (`./dev models`), written once as a folder of F32 safetensors that both programs open. PyTorch
and transformers come from a virtual environment: python3 -m venv build/torch, then its pip installs torch, transformers,
gguf and accelerate. Turns alternate, so that a noisy machine is noisy for both. A ratio above 1 means that pewter is
faster.

"start to opened" and "start to first token" count everything from the start of the process in both. "opening" leaves out
Python's start and imports. "opening again" is that in a process which has opened the model before, and keeps the tokenizer;
transformers maps the weights and reads none yet, and "again, every page read" counts until it has read a number of each
page. pewter reads and hashes all of them whenever it opens a model.

"a pass" reads 512 tokens and computes their loss; with --samples 128 it is the mean over 65,536 tokens. "a pass with a map"
is that of a prompt, up to the token behind it and the attention of one head. There transformers computes attention with
its "eager" implementation, because the others keep no maps.

Then it prints the memory of pewter with the model in F32, BF16 and F16, opened and in training (--memory: nothing else).

If the environment has llama-cpp-python, built on this machine, the same model as a GGUF file in F32 and in bf16 is
compared with llama.cpp."""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

import llama
import measured
import resident

PROMPT = "The capital of France is"
TOKENS = 48  # that pewter decodes behind a prompt
LENGTH = 512
FIRST_TOKEN = """
import sys, time, torch
from transformers import AutoModelForCausalLM, AutoTokenizer
torch.set_num_threads(int(sys.argv[2]))
print(time.time())
model = AutoModelForCausalLM.from_pretrained(sys.argv[1], dtype=torch.float32).eval()
tokenizer = AutoTokenizer.from_pretrained(sys.argv[1])
print(time.time())
ids = tokenizer(sys.argv[3], return_tensors="pt").input_ids
with torch.no_grad():
    model(ids).logits[0, -1].argmax().item()
print(time.time())
"""


def write_folder(gguf, folder):
    """Writes the model of a GGUF file as transformers would have saved it."""
    from safetensors.torch import save_file
    from transformers import AutoModelForCausalLM, AutoTokenizer
    import torch

    where = {"gguf_file": os.path.basename(gguf)}
    model = AutoModelForCausalLM.from_pretrained(os.path.dirname(gguf), dtype=torch.float32, **where)
    AutoTokenizer.from_pretrained(os.path.dirname(gguf), **where).save_pretrained(folder)
    model.config.save_pretrained(folder)
    weights = {k: v.contiguous() for k, v in model.state_dict().items() if k != "lm_head.weight"}
    save_file(weights, os.path.join(folder, "model.safetensors"), metadata={"format": "pt"})


def most_memory(pid, before):
    """GiB that a process had at its peak until now. The kernel's usage of a child would count this process's, too."""
    try:
        with open(f"/proc/{pid}/status", encoding="utf-8") as f:
            return max([before] + [int(line.split()[1]) / 2**20 for line in f if line.startswith("VmHWM")])
    except FileNotFoundError:
        return before


def events(args, lines):
    """Runs commands in pewter; returns its events, the seconds from its start to each of them, and GiB at its peak."""
    begin = time.time()
    run = [args.program, "--no-session", "--json", "--threads", str(args.threads), "-c", "\n".join(lines)]
    with subprocess.Popen(run, stdout=subprocess.PIPE, text=True) as process:
        rows, peak = [], 0
        for line in process.stdout:
            rows.append(json.loads(line))
            peak = most_memory(process.pid, peak)
    if process.returncode != 0:
        sys.exit(f"pewter ends with {process.returncode}: {lines}")
    return rows, [row["time"] - begin for row in rows], peak


def of_kind(rows, kind):
    return [row for row in rows if row["kind"] == kind]


def prompt_file(folder):
    """A text of LENGTH tokens."""
    path = os.path.join(folder, "prompt.txt")
    with open(path, "w", encoding="utf-8") as f:
        f.write(" ".join(["the"] * LENGTH))
    return path


def pewter(args, path, folder):
    """path: the model, a folder or a file. folder: it has the tokenizer."""
    start = f"model from={path} context=1024"
    rows, seconds, _ = events(args, [start, "prompt " + PROMPT])
    token = of_kind(rows, "token")
    first = seconds[rows.index(token[0])]
    decoding = (len(token) - 1) / (token[-1]["time"] - token[0]["time"])
    rows, seconds, _ = events(args, [start, start])
    second = rows.index(of_kind(rows, "command")[1])
    opening, again = seconds[second - 1], seconds[-1] - seconds[second]
    looked, _, _ = events(args, [f"model from={path} context={LENGTH + 1}", f"prompt path={prompt_file(folder)}"])
    map_of = of_kind(looked, "attention")[0]
    if map_of["T"] != LENGTH + 1:
        sys.exit(f"the map has {map_of['T']} tokens, not {LENGTH + 1}")
    mapped = map_of["time"] - of_kind(looked, "command")[-1]["time"]
    text = f"task text tokens={folder}/tokenizer.json vocab=49152 lengths=64 test={LENGTH}..{LENGTH}"
    rows, _, peak = events(args, [start, text, f"eval samples={args.samples}"])
    command, result = of_kind(rows, "command")[-1], of_kind(rows, "eval")[-1]
    forward = (result["time"] - command["time"]) / args.samples
    text = "".join(row["token"] for row in token).replace("·", " ").replace("↵", "\n")
    return {"start to opened, s": opening, "opening, s": opening, "opening again, s": again,
            "again, every page read, s": again, "start to first token, s": first,
            "decoding, tokens a second": decoding, "a pass, s": forward, "a pass with a map, s": mapped,
            "text": text, "peak": peak}


def transformers(args, folder):
    from transformers import AutoModelForCausalLM, AutoTokenizer
    import torch

    torch.set_num_threads(args.threads)
    AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    begin = time.time()
    run = [sys.executable, "-c", FIRST_TOKEN, folder, str(args.threads), PROMPT]
    done = subprocess.run(run, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    imported, opened, first = (float(line) - begin for line in done.stdout.split())
    begin = time.monotonic()
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    again = time.monotonic() - begin
    sum(p.detach().view(-1)[::1024].sum().item() for p in model.parameters())
    read = time.monotonic() - begin
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model.generation_config.eos_token_id = None
    ids = tokenizer(PROMPT, return_tensors="pt").input_ids
    with torch.no_grad():
        model.generate(ids, max_new_tokens=2, do_sample=False)
        begin = time.monotonic()
        out = model.generate(ids, max_new_tokens=TOKENS, do_sample=False)
        decoding = TOKENS / (time.monotonic() - begin)
        many = torch.randint(0, 49152, (1, LENGTH))
        model(many, labels=many)
        begin = time.monotonic()
        for _ in range(args.samples):
            model(many, labels=many).loss.item()
        forward = (time.monotonic() - begin) / args.samples
        model.set_attn_implementation("eager")
        begin = time.monotonic()
        looked = model(many, output_attentions=True)
        looked.logits[0, -1].argmax().item(), looked.attentions[0][0, 0].numpy()
        mapped = time.monotonic() - begin
    text = tokenizer.decode(out[0][ids.shape[1]:])
    return {"start to opened, s": opened, "opening, s": opened - imported, "opening again, s": again,
            "again, every page read, s": read, "start to first token, s": first,
            "decoding, tokens a second": decoding, "a pass, s": forward, "a pass with a map, s": mapped,
            "text": text}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--gguf", required=True)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--samples", type=int, default=4, help="passes of 512 tokens in a round")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--memory", action="store_true", help="measure the memory alone")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        write_folder(args.gguf, folder)
        if args.memory:
            resident.report(args, folder, PROMPT)
            return
        ours, theirs = [], []
        for _ in range(args.rounds):
            ours.append(pewter(args, folder, folder))
            theirs.append(transformers(args, folder))
        report(args, ours, theirs)
        resident.report(args, folder, PROMPT)
        try:
            import llama_cpp  # noqa: F401
        except ImportError:
            print("llama.cpp: no package llama-cpp-python in this environment")
        else:
            llama.compare(args, folder, pewter, PROMPT, TOKENS, LENGTH)


def report(args, ours, theirs):
    title = f"SmolLM2-135M, F32, {args.threads} threads, medians of {args.rounds} rounds"
    names = [name for name in theirs[0] if name != "text"]
    measured.print_table(title, "transformers", ours, theirs, names)
    print(f"{'memory of pewter at its peak, GiB':60}{max(row['peak'] for row in ours):12.2f}")


if __name__ == "__main__":
    main()
