"""The memory of pewter with a language model, for models.py: opened, and training it or a part of it."""
import json
import os
import re
import shutil
import subprocess

CONTEXT = 512
TRAINED = ("all", "norms", "adapter rank=8")


def write_forms(folder, forms):
    """Writes the model of a folder again for each form: {name: the type's name in torch}. Returns their folders."""
    import torch
    from safetensors.torch import load_file, save_file

    out = {}
    for name, kind in forms.items():
        out[name] = os.path.join(folder, name)
        os.mkdir(out[name])
        for file in ("config.json", "tokenizer.json"):
            shutil.copy(os.path.join(folder, file), out[name])
        weights = load_file(os.path.join(folder, "model.safetensors"))
        weights = {key: value.to(getattr(torch, kind)) for key, value in weights.items()}
        save_file(weights, os.path.join(out[name], "model.safetensors"), metadata={"format": "pt"})
    return out


def status(pid):
    """MiB that a process holds, and held at its peak."""
    with open(f"/proc/{pid}/status", encoding="utf-8") as f:
        text = f.read()
    return [int(re.search(rf"{key}:\s+(\d+)", text)[1]) / 1024 for key in ("VmRSS", "VmHWM")]


def measure(args, path, prompt):
    """MiB of the state and at the peak, when a model was opened, and when a prompt was answered."""
    run = [args.program, "--no-session", "--json", "--threads", str(args.threads)]
    with subprocess.Popen(run, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:

        def run_until(command, key, value):
            process.stdin.write(command + "\n")
            process.stdin.flush()
            for line in process.stdout:
                if json.loads(line).get(key) == value:
                    return
            raise SystemExit(f"pewter ends at {command!r}")

        run_until(f"model from={path} context={CONTEXT}\nsay opened", "text", "opened")
        opened = status(process.pid)
        run_until(f"prompt {prompt}", "kind", "look")
        run_until("say answered", "text", "answered")
        answered = status(process.pid)
        process.stdin.close()
        process.wait()
    return opened + answered


def peak_of_training(args, path, trained):
    """GiB at the peak of three steps."""
    lines = f"model from={path} context=256; optim trains={trained} lr=1e-3 batch=2; train 3"
    run = [args.program, "--no-session", "--threads", str(args.threads), "-c", lines]
    process = subprocess.Popen(run, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        raise SystemExit(f"pewter fails: {lines}")
    return usage.ru_maxrss / 2**20


def report(args, folder, prompt):
    forms = write_forms(folder, {"F32": "float32", "BF16": "bfloat16", "F16": "float16"})
    print(f"resident memory in MiB, context={CONTEXT}: opened, at most; answered, at most")
    for name, path in forms.items():
        rows = [measure(args, path, prompt) for _ in range(args.rounds)]
        print(f"{name:6}" + "".join(f"{max(row[i] for row in rows):8.0f}" for i in range(4)))
    print("peak of training in GiB, context=256, batch=2: " + ", ".join(f"trains={trained}" for trained in TRAINED))
    for name in ("F32", "BF16"):
        peaks = [peak_of_training(args, forms[name], trained) for trained in TRAINED]
        print(f"{name:6}" + "".join(f"{peak:8.2f}" for peak in peaks), flush=True)
