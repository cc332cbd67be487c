#!/usr/bin/env python3
"""Training steps a second of pewter and of PyTorch, side by side in one run, where pewter's time goes, what
decoding and looking into a model cost, and what a busy neighbour does to both sides.

Both sides are resident, train the same shape on the same amount of random tokens, and take turns of a second or two,
so that a machine that slows down or a neighbour that wakes up meets both. Median and best step are over all turns, and
a ratio is the median over rounds of the ratio of two neighbouring turns: virtual processors run at one speed for some
seconds and at half of it for the next.
What other processes used of the machine meanwhile is printed too: above some 0.15 of a processor the figures say
more about them than about pewter.

PyTorch is the distribution's. With its default BLAS two thread pools (torch's OpenMP and OpenBLAS's own) spin against
each other, and two threads are slower than one; so where the OpenMP flavour of OpenBLAS is installed, torch gets that.
And OpenBLAS takes processors that are younger than itself for very old ones and is five times slower then; so it is
measured with each kind of core that it supports, and torch gets the fastest.
"""
import argparse
import datetime
import functools
import glob
import json
import os
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
# layers, width, heads, positions, batch, vocab. demo: the shape that `./dev run` trains. text_: with the 258 tokens of
# `task text`; all shapes have the loss of all tokens.
SHAPES = {
    "demo": (2, 64, 8, 20, 32, 16),
    "tiny": (2, 64, 4, 64, 64, 128),
    "small": (4, 128, 4, 64, 64, 128),
    "text_tiny": (2, 64, 4, 64, 64, 258),
    "text_small": (4, 128, 4, 64, 64, 258),
    "medium": (6, 256, 8, 128, 32, 128),
    "paper": (12, 768, 12, 96, 8, 128),
}
CORES = (None, "Haswell", "Zen", "SkylakeX", "Cooperlake")  # values of OPENBLAS_CORETYPE
KEYS = ("layers", "width", "heads", "positions", "batch", "vocab")
GROUPS = {
    "linear layers, forward": ("linear_fwd",),
    "linear layers, to inputs": ("linear_dx",),
    "linear layers, to weights": ("linear_dw",),
    "attention, forward": ("attention_fwd",),
    "attention, backward": ("attention_bwd",),
    "encoding": ("gather_bias_fwd", "gather_bias_bwd", "fire_fwd", "fire_bwd"),
    "norms": ("norm_fwd", "norm_bwd"),
    "embedding, loss, rows": ("embed_fwd", "embed_bwd", "cross_entropy", "gather_rows", "scatter_rows"),
    "dropout": ("dropout",),
    "zeroing, adding": ("zero", "add"),
    "packing weights": ("prepare",),
    "reducing gradients": ("reduce",),
    "AdamW": ("adamw",),
    "copies to and from": ("upload", "download"),
}


def flop(shape):
    """Floating-point operations of one step, two for a multiply-add: 6 for each weight and token, and attention counted
    without a causal mask."""
    layers, width, _, positions, batch, vocab = SHAPES[shape]
    weights = 12 * layers * width * width + vocab * width
    return (6 * weights + 12 * layers * positions * width) * batch * positions


class Child:
    """One side of the comparison: a process that trains on request (train.c describes the protocol)."""

    def __init__(self, command, env=None):
        self.process = subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.about, self.times, self.turns = self.read(), [], []

    def read(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"bench: {self.process.args[0]} ended with status {self.process.wait()}")
        return json.loads(line)

    def ask(self, verb, seconds):
        self.process.stdin.write(f"{verb} {seconds}\n")
        self.process.stdin.flush()
        return self.read()

    def turn(self, seconds):
        """Trains for `seconds`. Returns the number of processors that other processes used meanwhile."""
        before, begin = self.others(), time.perf_counter()
        ms = self.ask("run", seconds)["ms"]
        self.times += ms
        self.turns.append(median(ms))
        return max(0.0, (self.others() - before) / (time.perf_counter() - begin))

    def others(self):
        """Processor seconds of all processes except this child, from an arbitrary start."""
        with open("/proc/stat", encoding="ascii") as f:
            ticks = [int(word) for word in f.readline().split()[1:]]
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as f:
            mine = [int(word) for word in f.read().rsplit(")", 1)[1].split()[11:13]]
        busy = sum(ticks[:3]) + sum(ticks[5:7])  # user, nice, system, irq, softirq
        return (busy - sum(mine)) / os.sysconf("SC_CLK_TCK")

    def close(self):
        self.process.stdin.close()
        self.process.wait()

    def median(self):
        return median(self.times)

    def best(self):
        return min(self.times)


def median(values):
    values = sorted(values)
    return values[len(values) // 2]


def ratio(ours, other):
    """Step time of the other side divided by ours: the median over neighbouring turns."""
    return median(theirs / mine for mine, theirs in zip(ours.turns, other.turns))


def torch_env(threads, core=None):
    env = dict(os.environ, OMP_NUM_THREADS=str(threads), OPENBLAS_NUM_THREADS=str(threads))
    openmp = glob.glob("/usr/lib/*/openblas-openmp")
    if openmp:
        env["LD_LIBRARY_PATH"] = ":".join(openmp + [env.get("LD_LIBRARY_PATH", "")]).rstrip(":")
    if core:
        env["OPENBLAS_CORETYPE"] = core
    return env


@functools.lru_cache(maxsize=None)
def fastest_core():
    """The value of OPENBLAS_CORETYPE with which torch multiplies matrices fastest here, or None: OpenBLAS chooses."""
    product = ("import time, torch; torch.set_num_threads(1); x, w = torch.randn(4096, 128), torch.randn(512, 128)\n"
               "def seconds():\n  begin = time.perf_counter(); y = x @ w.t(); y.t() @ x; y @ w\n"
               "  return time.perf_counter() - begin\n"
               "print(min(seconds() for _ in range(20)))")
    cores = [os.environ["OPENBLAS_CORETYPE"]] if "OPENBLAS_CORETYPE" in os.environ else CORES
    times = {core: float(subprocess.run([sys.executable, "-c", product], env=torch_env(1, core), check=True,
                                        stdout=subprocess.PIPE).stdout) for core in cores}
    return min(times, key=times.get)


def start_torch(words, threads):
    return Child([sys.executable, os.path.join(HERE, "torch_train.py"), *words], torch_env(threads, fastest_core()))


def cpu_model():
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        names = [line.split(":", 1)[1].strip() for line in f if line.startswith("model name")]
    return names[0] if names else "unknown processor"


def table(header, rows):
    """Prints a Markdown table that is also readable as text: the first column is aligned left, the others right."""
    widths = [max(len(str(row[i])) for row in [header, *rows]) for i in range(len(header))]
    line = "| " + " | ".join("{:%s%d}" % ("<>"[i > 0], width) for i, width in enumerate(widths)) + " |"
    print(line.format(*header))
    print("|" + "|".join("-" * (width + 1) + "-:"[i > 0] for i, width in enumerate(widths)) + "|")
    for row in rows:
        print(line.format(*row))
    print()


def steps(ms):
    return f"{1e3 / ms:.3g}"


def profile(child, threads, seconds):
    """Shares of a step's wall time by group. An operation that runs on one worker of t counts 1/t."""
    answer = child.ask("profile", seconds)
    total, ops = sum(answer["ms"]), answer["ops"]
    share = {op: cost["ms"] / total / (threads if cost["chunk"] else 1) for op, cost in ops.items()}
    shares = {group: sum(share.get(op, 0) for op in members) for group, members in GROUPS.items()}
    shares["between operations, waiting"] = share["for_chunks"] - sum(share[op] for op in ops if ops[op]["chunk"])
    shares["the rest of a step"] = 1 - sum(shares.values())
    known = {"for_chunks"}.union(*GROUPS.values())
    assert known.issuperset(ops), f"no group for {set(ops) - known}"
    return shares


def measure(shape, pe, threads, args):
    words = [f"{key}={value}" for key, value in zip(KEYS, SHAPES[shape])]
    words += [f"pe={pe}", f"threads={threads}", f"precision={args.precision}", *args.set]
    ours = Child([os.path.join(args.build, "bench", "bench_train"), *words])
    sides, loads = [ours], []
    for compiled in range((args.compiled + 1) * args.torch):
        sides.append(start_torch([*words, f"compiled={compiled}"], threads))
        if ours.about["parameters"] != sides[-1].about["parameters"]:
            sys.exit(f"bench: not the same model: {ours.about} and {sides[-1].about}")
    for _ in range(args.turns):
        loads += [side.turn(args.seconds) for side in sides]
    shares = profile(ours, threads, args.seconds)
    for side in sides:
        side.close()
    return sides, max(loads), shares


def arguments():
    cpus = len(os.sched_getaffinity(0))
    p = argparse.ArgumentParser(prog="./dev bench", description=__doc__.split("\n\n", maxsplit=1)[0])
    p.add_argument("--shapes", default="demo,tiny,small,medium", help=f"of {','.join(SHAPES)} (%(default)s)")
    p.add_argument("--pe", default="none", help="encodings, separated by blanks: 'none rotary' (%(default)s)")
    p.add_argument("--precision", choices=("fp32", "bf16"), default="fp32", help="of both sides (%(default)s)")
    p.add_argument("--threads", default="1,2" if cpus > 1 else "1", help="(%(default)s)")
    p.add_argument("--turns", type=int, default=4, help="of each side (%(default)s)")
    p.add_argument("--seconds", type=float, default=1.5, help="of a turn (%(default)s)")
    p.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="for both, e.g. norm=layernorm")
    p.add_argument("--compiled", action="store_true", help="beside compiled PyTorch, too (torch.compile)")
    p.add_argument("--no-torch", dest="torch", action="store_false", help="pewter alone")
    p.add_argument("--build", default=os.path.join(HERE, "..", "build", "release"), help=argparse.SUPPRESS)
    args = p.parse_args()
    args.shapes, args.pe = args.shapes.split(","), args.pe.split()
    args.threads = [int(word) for word in args.threads.split(",")]
    for shape in args.shapes:
        if shape not in SHAPES:
            p.error(f"no shape {shape!r}; there are {', '.join(SHAPES)}")
    return args


def peak(threads, args):
    """GFLOP/s of multiply-adds in registers, or of the bf16 matrix unit (peak.c)."""
    out = subprocess.run([os.path.join(args.build, "bench", "bench_peak"), str(threads), args.precision], check=True,
                         stdout=subprocess.PIPE, text=True)
    return json.loads(out.stdout)["gflops"]


def curve(threads, args):
    """Seconds of an evaluation of 40 lengths with 256 samples each, preset tiny, from the events of the program."""
    lines = "task copy variant=cmc lengths=1..20 test=21..40; eval lengths=1..40 samples=256"
    out = subprocess.run([os.path.join(args.build, "pewter"), "--json", "--threads", str(threads), "-c", lines],
                         check=True, stdout=subprocess.PIPE, text=True)
    events = [json.loads(line) for line in out.stdout.splitlines()]
    jobs = [event for event in events if event["kind"] == "job"]
    return jobs[-1]["time"] - jobs[0]["time"]


def looking(args):
    """Prints the times of decoding, inspection and evaluation at tiny: median and best."""
    rows = []
    for threads in args.threads:
        words = [f"{key}={value}" for key, value in zip(KEYS, SHAPES["tiny"])] + [f"threads={threads}"]
        child = Child([os.path.join(args.build, "bench", "bench_train"), *words])
        for verb, what, goal in (("decode", "a token, decoded with the cache", 0.03),
                                 ("inspect", "64 tokens, every map kept", 0.15)):
            ms = child.ask(verb, args.seconds)["ms"]
            rows.append([what, threads, *(f"{1e3 * t:.1f} us" for t in (median(ms), min(ms), goal))])
        child.close()
        times = [curve(threads, args) for _ in range(max(args.turns, 3))]
        rows.append(["a curve of 40 lengths, 256 samples each", threads, f"{median(times):.2f} s",
                     f"{min(times):.2f} s", "1.5 s"])
    print("Looking, at tiny\n")
    table(["what", "threads", "median", "best", "goal"], rows)


def neighbour(args):
    """Prints steps a second at tiny, in alternating turns: alone, and beside a process that uses one processor."""
    threads, rows = max(args.threads), []
    words = [f"{key}={value}" for key, value in zip(KEYS, SHAPES["tiny"])] + [f"threads={threads}"]
    sides = {"pewter": Child([os.path.join(args.build, "bench", "bench_train"), *words])}
    if args.torch:
        sides["PyTorch"] = start_torch(words, threads)
    for side, child in sides.items():
        alone, beside = [], []
        for _ in range(args.turns):
            alone += child.ask("run", args.seconds)["ms"]
            busy = subprocess.Popen([sys.executable, "-c", "while True: pass"])
            beside += child.ask("run", args.seconds)["ms"]
            busy.kill()
            busy.wait()
        child.close()
        middle = [median(ms) for ms in (alone, beside)]
        rows.append([side, *(steps(ms) for ms in middle), f"{100 * middle[0] / middle[1]:.0f} %"])
    print(f"Steps a second at tiny, {threads} threads, with a neighbour that keeps one processor busy\n")
    table(["", "alone", "beside it", "what is left"], rows)


def name(child):
    libraries = ["/".join(path.split("/")[-2:]) for path in child.about.get("blas", [])]
    return child.about["device"] + (" with " + ", ".join(libraries) if libraries else "")


def main():
    args = arguments()
    cases = [(shape, pe, threads) for shape in args.shapes for pe in args.pe for threads in args.threads]
    results, names, peaks = [], [], dict.fromkeys(args.threads, 0)
    for i, (shape, pe, threads) in enumerate(cases):
        if sys.stderr.isatty():
            print(f"\r{i}/{len(cases)} {shape} {pe}, threads {threads}\033[K", end="", file=sys.stderr, flush=True)
        peaks[threads] = max(peaks[threads], peak(threads, args))  # between the cases, so that the peak is measured under the same conditions
        results.append(measure(shape, pe, threads, args))
        names += [name(side) for side in results[-1][0] if name(side) not in names]
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr)

    print(f"{datetime.date.today()}, {cpu_model()}, {len(os.sched_getaffinity(0))} processors\n")
    print(*sorted(names), sep="\n")
    if args.torch:
        print(f"OPENBLAS_CORETYPE={fastest_core() or ''}: the fastest of those tried")
    print()
    print(f"{args.precision} peak, measured: " + ", ".join(f"{rate:.0f} GFLOP/s (threads: {threads})"
                                                 for threads, rate in peaks.items()) + "\n")
    print("Training steps a second: median (best step); ratio by neighbouring turns (of the best steps)\n")
    rows = []
    for (shape, pe, threads), (sides, load, _) in zip(cases, results):
        ours, others = sides[0], sides[1:]
        rate = flop(shape) / ours.best() * 1e-6
        rows.append([shape, pe, threads, *(f"{steps(side.median())} ({steps(side.best())})" for side in sides),
                     *(f"{ratio(ours, other):.2f} ({other.best() / ours.best():.2f})" for other in others),
                     f"{rate:.0f}", f"{100 * rate / peaks[threads]:.0f} %", f"{load:.2f}"])
    others = ["PyTorch", "compiled PyTorch"][:(args.compiled + 1) * args.torch]
    against = others + [f"pewter / {other}" for other in others]
    table(["shape", "encoding", "threads", "pewter", *against, "GFLOP/s", "of peak", "others' load"], rows)
    if max(load for _, load, _ in results) > 0.15:
        print("Others used more than 0.15 of a processor in some turns: repeat this on a quiet machine.\n")

    print("Where pewter's step goes: share of wall time, by shape and threads\n")
    columns = [f"{shape}{'' if pe == 'none' else ' ' + pe}, {threads}" for shape, pe, threads in cases]
    table(["", *columns], [[group, *(f"{100 * shares[group]:.1f} %" for _, _, shares in results)]
                           for group in results[0][2]])
    if "tiny" in args.shapes:
        print()
        looking(args)
        print()
        neighbour(args)


if __name__ == "__main__":
    main()
