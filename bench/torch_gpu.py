#!/usr/bin/env python3
"""PyTorch's side of gpu.py: the model of torch_train.py on an NVIDIA device, with PyTorch's usual optimisations.

usage: torch_gpu.py limits [side=N] [bytes=N] [ROWSxINxOUT...]
       torch_gpu.py train how=eager|compiled|graph key=value...   the keys of torch_train.py, and sizes=FILE, device=D

limits prints one JSON line with the rates of products in bf16, memory and launches. train prints one line when it is
ready. Then for each line `run SECONDS` on standard input it prints one with the mean milliseconds of a step.

eager      autocast (precision=bf16) or TF32 (tf32), fused AdamW, scaled_dot_product_attention
compiled   the same by torch.compile(mode="reduce-overhead"), whose forward and backward passes are CUDA graphs
graph      compiled, and the whole step captured as one CUDA graph, optimiser included

No step waits for the one before: the loss is not read, and no data is copied to the device. sizes has the batches of
bench_train's `batches 0`. Sequences are padded to the longest of their batch, rounded up to a multiple of 64, and
positions without a loss are ignored.
"""
import json
import sys
import time

import torch
import torch.nn.functional as F

import torch_train

PAD, IGNORED = 64, -100


def synchronize(device):
    if device == "cuda":
        torch.cuda.synchronize()


# ---- limits


def seconds(work, times, device):
    """Seconds of one call, the best of five rounds after two warm-up rounds."""
    best = float("inf")
    for i in range(-2, 5):
        synchronize(device)
        begin = time.perf_counter()
        for _ in range(times):
            work()
        synchronize(device)
        if i >= 0:
            best = min(best, (time.perf_counter() - begin) / times)
    return best


def product(rows, n_in, n_out, device):
    x, w = (torch.randn(shape, device=device, dtype=torch.bfloat16) for shape in ((rows, n_in), (n_out, n_in)))
    y = torch.empty((rows, n_out), device=device, dtype=torch.bfloat16)
    times = 5 if rows * n_in * n_out > 5e10 else 20
    return 2e-12 * rows * n_in * n_out / seconds(lambda: torch.mm(x, w.t(), out=y), times, device)


def launches(device, n=1000):
    """Microseconds of a small operation, eagerly and in a graph."""
    one = torch.zeros(1, device=device)
    alone = seconds(lambda: one.add_(1), n, device)
    if device != "cuda":
        return alone, None
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(n):
            one.add_(1)
    return alone, seconds(graph.replay, 1, device) / n


def limits(words):
    o = dict(side=8192, bytes=4 << 30, device="cuda")
    o.update((key, type(o[key])(value)) for key, value in (word.split("=") for word in words if "=" in word))
    device, side = o["device"], o["side"]
    name = torch.cuda.get_device_name() if device == "cuda" else device
    shapes = [[side] * 3] + [[int(n) for n in word.split("x")] for word in words if "=" not in word]
    products = [dict(shape=shape, fwd=product(*shape, device)) for shape in shapes]
    x = torch.randn(o["bytes"] // 4, device=device)
    y = torch.empty_like(x)
    copy = 2e-9 * o["bytes"] / seconds(lambda: y.copy_(x), 3, device)
    alone, replayed = launches(device)
    print(json.dumps(dict(device=name, torch=torch.__version__, cuda=torch.version.cuda, products=products,
                          copy_gbs=copy, launch_us=1e6 * alone, replay_us=replayed and 1e6 * replayed)))


# ---- training


def batches(o, sizes, device):
    """Returns [(inputs, targets)], each [batch, positions], of random tokens."""
    if not sizes:
        lengths = [[[o["positions"]] * 2] * o["batch"]]
    else:
        with open(sizes, encoding="ascii") as f:
            lengths = json.load(f)
    made = []
    for batch in lengths:
        longest = max(n for n, _ in batch)
        width = -(-longest // PAD) * PAD if sizes else longest
        inputs = torch.randint(0, o["vocab"], (len(batch), width), device=device)
        targets = torch.full((len(batch), width), IGNORED, device=device)
        for i, (n, scored) in enumerate(batch):
            targets[i, n - scored:n] = torch.randint(0, o["vocab"], (scored,), device=device)
        made.append((inputs, targets))
    return made


class Trainer:
    def __init__(self, o, how, device):
        torch.set_float32_matmul_precision("highest" if o["precision"] == "fp32" else "high")
        self.device, self.bf16, self.how, self.vocab = device, o["precision"] == "bf16", how, o["vocab"]
        self.model = torch_train.Model(o).to(device)
        fused = {"fused": True} if device == "cuda" else {"foreach": True}
        self.adamw = torch_train.optimiser(self.model, **fused, **({"capturable": True} if how == "graph" else {}))
        self.parameters = sum(p.numel() for p in self.model.parameters())
        self.forward, self.graphs = self.loss, {}
        if how != "eager":
            mode = "reduce-overhead" if how == "compiled" else "default"
            self.forward = torch.compile(self.loss, mode=mode, dynamic=False)

    def loss(self, inputs, targets):
        with torch.autocast(self.device, dtype=torch.bfloat16, enabled=self.bf16):
            logits = self.model(inputs)
        return F.cross_entropy(logits.view(-1, self.vocab).float(), targets.view(-1), ignore_index=IGNORED)

    def whole(self, inputs, targets):
        loss = self.forward(inputs, targets)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.adamw.step()
        self.adamw.zero_grad(set_to_none=self.how != "graph")

    def capture(self, inputs, targets):
        """Captures the step of this shape. Returns the graph and the tensors that hold its batch."""
        static = inputs.clone(), targets.clone()
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                self.whole(*static)
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self.whole(*static)
        return graph, static

    def step(self, inputs, targets):
        if self.how != "graph":
            if self.how == "compiled" and hasattr(torch.compiler, "cudagraph_mark_step_begin"):
                torch.compiler.cudagraph_mark_step_begin()
            return self.whole(inputs, targets)
        if inputs.shape not in self.graphs:
            self.graphs[inputs.shape] = self.capture(inputs, targets)
        graph, static = self.graphs[inputs.shape]
        for to, of in zip(static, (inputs, targets)):
            to.copy_(of)
        return graph.replay()

    def run(self, data, n):
        """Seconds of n steps."""
        synchronize(self.device)
        begin = time.perf_counter()
        for i in range(n):
            self.step(*data[i % len(data)])
        synchronize(self.device)
        return time.perf_counter() - begin


def train(words):
    own = dict(how="eager", sizes="", device="cuda")
    own.update(word.split("=", 1) for word in words if word.split("=")[0] in own)
    o = torch_train.options([word for word in words if word.split("=")[0] not in own])
    torch.manual_seed(1)
    data = batches(o, own["sizes"], own["device"])
    o["positions"] = max(inputs.shape[1] for inputs, _ in data)
    trainer = Trainer(o, own["how"], own["device"])
    trainer.run(data, max(8, 2 * len(data)))  # compiles, captures, warms up
    positions = sum(inputs.numel() for inputs, _ in data) / len(data)
    print(json.dumps(dict(device=f"torch {torch.__version__}, {own['how']}", parameters=trainer.parameters,
                          rows=positions)), flush=True)
    for line in sys.stdin:
        duration, each = float(line.split()[1]), trainer.run(data, len(data)) / len(data)
        n = max(1, round(duration / each / len(data))) * len(data)
        took = trainer.run(data, n)
        print(json.dumps(dict(ms=[1e3 * took / n], steps=n)), flush=True)


if __name__ == "__main__":
    {"limits": limits, "train": train}[sys.argv[1]](sys.argv[2:])
