#!/usr/bin/env python3
"""pewter on an NVIDIA device, beside PyTorch on the same one: every figure of docs/gpu.md, as the tables that it has.

    ./dev bench --gpu [quick] [--minutes N]
    python3 bench/gpu.py --build FOLDER ...     where nothing can be built (bench/gpu_device.sh)

Correctness first (bits of mode ref, losses of mode fast), then what the device can do at best, then training, from the
most important figure down, until the minutes are used up: each line is printed as it is measured, and what could not be
measured is named with the reason. Times of a step are means over a turn of seconds, the median of three turns. `quick`
has tiny shapes and short turns: whether all of this runs, also on the emulated device of the tests. `--whole` is one
real run of the paper's 40,000 steps through the program, instead.
"""
import argparse
import datetime
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import gpu_report
from gpu_report import CASES, PAPER_STEPS, SMALL

HERE = os.path.dirname(os.path.abspath(__file__))
PRECISIONS = ("bf16", "tf32", "fp32")
ENCODINGS = "none,t5,alibi,rotary,sinusoidal"


class Failure(Exception):
    """One line that says why a measurement failed."""


class Side:
    """A process that follows train.c's protocol. It is killed when the time is up."""

    def __init__(self, command, env, deadline):
        self.said = tempfile.TemporaryFile(mode="w+")
        self.process = subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        stderr=self.said)
        self.timer = threading.Timer(max(1.0, deadline - time.monotonic()), self.process.kill)
        self.timer.daemon = True
        self.timer.start()

    def read(self):
        line = self.process.stdout.readline()
        if line.endswith("\n"):
            return json.loads(line)
        status = self.process.wait()
        self.said.seek(0)
        words = [text for text in self.said.read().splitlines() if text.strip()]
        self.close()
        raise Failure("no time left" if status == -9 else words[-1].strip() if words else f"it ended with {status}")

    def ask(self, line):
        try:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        return self.read()

    def close(self):
        self.timer.cancel()
        if self.process.poll() is None:
            try:
                self.process.stdin.close()
                self.process.wait(20)
            except (BrokenPipeError, subprocess.TimeoutExpired):
                self.process.kill()
                self.process.wait()


class Bench:
    def __init__(self, args):
        self.args, self.results = args, {}
        self.deadline = time.monotonic() + 60 * args.minutes
        self.env = dict(os.environ)
        if "PEWTER_BACKEND_DIR" not in self.env:
            self.env["PEWTER_BACKEND_DIR"] = os.path.abspath(args.build)
        self.env["LD_LIBRARY_PATH"] = self.libraries()
        self.work = tempfile.mkdtemp(prefix="pewter-gpu-")
        self.batches = 2 if args.quick else 32

    def libraries(self):
        """The library path of pewter's programs: the libraries of gpu_device.sh, and cuBLASLt. PyTorch brings its
        own."""
        try:
            blas = self.output([self.args.python, os.path.join(HERE, "gpu_blas.py")], os.environ).strip()
        except Failure:
            blas = ""
        carried = os.path.abspath(self.program("lib"))
        folders = [carried if os.path.isdir(carried) else "", self.env.get("LD_LIBRARY_PATH", ""), blas]
        return ":".join(folder for folder in folders if folder)

    # ---- configuration and output

    def left(self):
        return self.deadline - time.monotonic()

    def say(self, text):
        print(f"[{60 * self.args.minutes - self.left():4.0f} s] {text}", flush=True)

    def keep(self, key, value, text):
        self.results[key] = value
        self.say(text)
        with open(self.args.out, "w", encoding="utf-8") as f:
            f.write(gpu_report.render(self.results))

    def program(self, name):
        return os.path.join(self.args.build, *name.split("/"))

    def output(self, command, env=None):
        try:
            done = subprocess.run(command, env=env or self.env, check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  text=True, timeout=max(1.0, self.left()))
        except FileNotFoundError:
            raise Failure(f"there is no {command[0]}") from None
        except subprocess.TimeoutExpired:
            raise Failure("no time left") from None
        if done.returncode != 0:
            said = (done.stderr.strip() or done.stdout.strip()).splitlines()
            raise Failure(said[-1] if said else f"it ended with {done.returncode}")
        return done.stdout

    def pewter(self, words, backend=None, **env):
        backend = backend or [f"backend={self.args.backend}"]
        return Side([self.program("bench/bench_train"), *words, *backend], {**self.env, **env}, self.deadline)

    def torch(self, words):
        return Side([self.args.python, os.path.join(HERE, "torch_gpu.py"), *words], os.environ, self.deadline)

    def words(self, case):
        """The arguments of bench_train for a case."""
        model, data = CASES[case]
        if self.args.quick:
            model = [*model, "layers=1", "width=32", "heads=4", "head_width=0", "ffn=0", "batch=4"]
            data = [word.replace("64", "6").replace("..60", "..4").replace("..46", "..3") for word in data]
        return [*model, *data, f"batches={self.batches if any('task' in word for word in data) else 1}"]

    def torch_words(self, case, precision):
        """The same arguments for torch_gpu.py, with bench_train's batches (about.* is its first line)."""
        about = self.results["about", case]
        torch = gpu_report.torch_model(case)
        if self.args.quick:
            torch.update(layers=1, width=32, heads=4, batch=4)
        torch.update(vocab=about["vocab"], precision=precision, positions=6 if self.args.quick else 64)
        if about["batches"]:
            torch["sizes"] = about["batches"]
        return ["train", f"device={self.args.torch_device}", *(f"{key}={value}" for key, value in torch.items())]

    # ---- the parts; each may fail on its own

    def measure(self, side):
        """Milliseconds of a step, the median of three turns."""
        turns = []
        for _ in range(1 if self.args.quick else 3):
            ms = side.ask(f"run {self.args.seconds}")["ms"]
            turns.append(sum(ms) / len(ms))
        return sorted(turns)[len(turns) // 2]

    def device(self):
        try:
            query = "name,driver_version,memory.total,clocks.max.sm,power.limit"
            smi = self.output(["nvidia-smi", f"--query-gpu={query}", "--format=csv,noheader"]).strip()
        except Failure as failure:
            smi = str(failure)
        side = self.pewter(["layers=1", "width=8", "heads=1", "positions=4", "batch=1"])
        about = side.read()
        side.close()
        text = f"{datetime.date.today()}, {about['device']}; nvidia-smi: {smi}"
        self.keep(("device",), text, text)
        said = {"quick": self.args.quick, "--whole": self.args.whole, f"--only '{self.args.only}'": self.args.only,
                f"--minutes {self.args.minutes:g}": True, f"--seconds {self.args.seconds:g}": True}
        self.results["command",] = " ".join(["./dev bench --gpu", *(word for word, given in said.items() if given)])

    def same(self):
        """Trains twenty steps: compares the digests of ref and the losses of fast with the cpu's."""
        steps = 3 if self.args.quick else 20
        model = ["layers=2", "width=64", "heads=4", "positions=24", "batch=8", "pe=t5"]
        if self.args.quick:
            model[:5] = ["layers=1", "width=32", "heads=4", "positions=6", "batch=2"]
        runs = {"cpu": ["backend=cpu"], "ref": [f"backend={self.args.backend}", "mode=ref"]}
        runs.update((p, [f"backend={self.args.backend}", "mode=fast", f"precision={p}"]) for p in PRECISIONS)
        for name, backend in runs.items():
            side = self.pewter(model, backend)
            side.read()
            answers = [side.ask(f"steps {steps}")]
            side.close()
            again = self.pewter(model, backend)
            again.read()
            answers.append(again.ask(f"steps {steps}"))
            again.close()
            same = answers[0]["digest"] == answers[1]["digest"]
            self.keep(("same", name), (answers[0]["loss"], answers[0]["digest"], same),
                      f"after {steps} steps, {name}: loss {answers[0]['loss']:.6f}, digest {answers[0]['digest']}, "
                      f"{'the same' if same else 'ANOTHER'} in a second run")

    def limits(self):
        side, shapes = (64, ["32x64x96"]) if self.args.quick else (8192, gpu_report.PRODUCTS)
        small = ["floats=10000", "launches=20", "rounds=1"] if self.args.quick else []
        for precision in PRECISIONS:
            command = [self.program("bench/bench_limits"), f"backend={self.args.backend}", f"precision={precision}"]
            got = json.loads(self.output([*command, *small, f"{side}x{side}x{side}", *shapes]))
            self.keep(("limits", precision), got, f"limits by pewter, {precision}: {gpu_report.limits_line(got)}")

    def limits_torch(self):
        side, shapes, size = (64, ["32x64x96"], 1 << 20) if self.args.quick else (8192, gpu_report.PRODUCTS, 4 << 30)
        got = json.loads(self.output([self.args.python, os.path.join(HERE, "torch_gpu.py"), "limits", f"side={side}",
                                      f"bytes={size}", f"device={self.args.torch_device}", *shapes],
                                     os.environ).splitlines()[-1])
        self.keep(("limits", "torch"), got, f"limits by torch, bf16: {gpu_report.limits_line(got)}")

    def train(self, case):
        """Measures pewter in all precisions. In bf16 also: one step at a time, without the second branch of the
        backward pass (kernels/cuda/side.c), and with too few steps in flight for groups (src/model/flight.c)."""
        hows = [(p, [f"precision={p}"], {}) for p in PRECISIONS]
        hows += [("alone", ["precision=bf16", "flights=1"], {}), ("straight", ["precision=bf16"], {"PEWTER_CUDA_SIDE": "0"})]
        if case in gpu_report.SMALL:
            hows.append(("ungrouped", ["precision=bf16", "flights=3"], {}))
        for how, words, env in hows:
            side = self.pewter([*self.words(case), *words], **env)
            about = side.read()
            if how == "bf16":
                self.results["about", case] = dict(about, batches=self.sizes(case, side))
            ms = self.measure(side)
            self.plans(f"{case}, {how}", side)
            side.close()
            self.keep(("step", case, how), ms, f"{case}, pewter {how}: {ms:.3f} ms a step, {1e3 / ms:.0f} steps/s, "
                                               f"{about['flops'] / ms * 1e-9:.1f} TFLOP/s")

    def plans(self, what, side):
        """Appends the algorithms that cuBLASLt chose to a file beside the tables."""
        with open(os.path.splitext(self.args.out)[0] + ".plans", "a", encoding="ascii") as f:
            f.writelines(f"{what}: {plan}\n" for plan in side.ask("plans 0")["plans"])

    def sizes(self, case, side):
        """Writes a file with the lengths of the sequences in the batches. Returns its path, or None if all batches are
        alike."""
        if not any("task" in word for word in self.words(case)):
            return None
        path = os.path.join(self.work, case.replace(" ", "-") + ".json")
        with open(path, "w", encoding="ascii") as f:
            json.dump(side.ask("batches 0")["batches"], f)
        return path

    def beside(self, cases, how):
        """Measures PyTorch on the same batches. All processes prepare at once, since compiling uses the processors;
        then they are measured one after the other."""
        cases = [case for case in cases if ("about", case) in self.results]
        sides = {case: self.torch([*self.torch_words(case, "bf16"), f"how={how}"]) for case in cases}
        ready = []
        for case, side in sides.items():
            try:
                about, mine = side.read(), self.results["about", case]
                if about["parameters"] != mine["parameters"]:
                    raise Failure(f"not the same model: {about['parameters']} and {mine['parameters']} parameters")
                ready.append(case)
            except Failure as failure:
                self.fail(f"{case}, torch {how}", failure)
        for case in ready:
            try:
                ms = self.measure(sides[case])
                self.keep(("step", case, how), ms, f"{case}, torch {how} bf16: {ms:.3f} ms a step, {1e3 / ms:.0f} steps/s")
            except Failure as failure:
                self.fail(f"{case}, torch {how}", failure)
        for side in sides.values():
            side.close()

    def looking(self):
        """Measures operations other than training: inspection, decoding and encoding swaps."""
        verbs = (("inspect", "a pass of one sequence, everything kept"), ("decode", "a token, decoded with the cache"),
                 ("swap", "from a swap of the encoding to the end of the next step"))
        for case in ("2 x 64", "paper, 64 tokens"):
            for precision in ("bf16", "fp32")[:1 if self.args.quick else 2]:
                side = self.pewter([*self.words(case), f"precision={precision}", "pe=rotary", "other=t5"])
                side.read()
                for verb, what in verbs:
                    ms = sorted(side.ask(f"{verb} {self.args.seconds / 2}")["ms"])
                    self.keep(("look", case, precision, verb), (ms[len(ms) // 2], ms[0], ms[-1]),
                              f"{case}, {precision}, {what}: {ms[len(ms) // 2]:.3f} ms, {ms[0]:.3f} to {ms[-1]:.3f}")
                side.close()

    def program_seconds(self, arms, steps):
        model, lengths, batch = ("layers=2 width=64 heads=4", "2..60", 64) if not self.args.quick else (
            "layers=1 width=32 heads=4", "2..4", 4)
        lines = (f"backend {self.args.backend} precision=bf16; model {model}; task copy lengths={lengths}; "
                 f"optim batch={batch} steps=100000000; {arms}; train {steps}")
        begin = time.monotonic()
        self.output([self.program("pewter"), "-c", lines])
        return time.monotonic() - begin

    def arms(self):
        """Measures the program in batch mode: one arm, and five at once. The fixed cost of a run is subtracted."""
        few, many = (3, 13) if self.args.quick else (400, 12000)
        for name, arms, n in (("one", "pe none", 1), ("five", f"race {ENCODINGS}", 5)):
            steps = (few, few + (many - few) // n)
            took = [self.program_seconds(arms, count) for count in steps]
            rate = n * (steps[1] - steps[0]) / max(1e-9, took[1] - took[0])
            self.keep(("arms", name), rate, f"2 x 64, {name} at once through the program: {rate:.0f} steps/s summed")

    def whole(self):
        steps = 4 if self.args.quick else PAPER_STEPS
        model = "paper layers=1 width=32 heads=4" if self.args.quick else "paper"
        lines = (f"backend {self.args.backend} precision=bf16; task copy lengths=2..{4 if self.args.quick else 60}; "
                 f"model {model}; train {steps}; eval")
        begin = time.monotonic()
        said = self.output([self.program("pewter"), "-c", lines])
        took = time.monotonic() - begin
        self.keep(("whole",), (took, lines, said.splitlines()[-20:]),
                  f"a whole run of {steps} steps and its evaluation: {took:.1f} s = {took / 60:.2f} min\n{said}")

    def kernels(self):
        import gpu_kernels
        for case in ("paper, copy", "2 x 64"):
            command = [self.program("bench/bench_train"), *self.words(case), f"backend={self.args.backend}",
                       "precision=bf16", "batches=1", "flights=1"]
            try:
                rows = gpu_kernels.measure(command, self.env, self.work, max(1.0, self.left()))
            except gpu_kernels.Missing as missing:
                raise Failure(str(missing)) from None
            self.keep(("kernels", case), rows, f"{case}: {len(rows)} kernels, the longest "
                                               f"{rows[0][0] if rows else '-'}")

    def fail(self, what, failure):
        key = ("missing", what)
        self.keep(key, str(failure), f"{what}: NOT MEASURED: {failure}")

    def run(self):
        training = [case for case in CASES if case not in SMALL]
        parts = [("the device", self.device), ("the same results", self.same), ("limits by pewter", self.limits)]
        if self.args.torch:
            parts.append(("limits by torch", self.limits_torch))
        if self.args.whole:
            parts.append(("a whole run", self.whole))
        else:
            parts += [(case, lambda case=case: self.train(case)) for case in [*training, *SMALL]]
            parts += [("arms", self.arms), ("looking", self.looking)]
            if self.args.torch:
                parts += [(f"torch {how}", lambda how=how: self.beside([*training, *SMALL], how))
                          for how in ("eager", "compiled", "graph")]
            parts.append(("kernels", self.kernels))
        for name, part in parts:
            if self.args.only and not any(word in name for word in self.args.only.split(",")) and name != "the device":
                continue
            try:
                if self.left() < 2:
                    raise Failure("no time left")
                part()
            except Failure as failure:
                self.fail(name, failure)
                if name == "the device":
                    break
        shutil.rmtree(self.work, ignore_errors=True)
        print("\n" + gpu_report.render(self.results))
        print(f"(also in {self.args.out})")
        return ("missing", "the device") not in self.results


def arguments():
    p = argparse.ArgumentParser(prog="./dev bench --gpu", description=__doc__.split("\n\n", maxsplit=1)[0])
    p.add_argument("quick", nargs="?", choices=("quick",), help="tiny shapes: does all of it run?")
    p.add_argument("--minutes", type=float, default=9.0, help="to begin new measurements in, and end them (%(default)s)")
    p.add_argument("--whole", action="store_true", help="one real run of 40,000 steps of the paper's model, instead")
    p.add_argument("--seconds", type=float, help="of a turn (1.5, quick: 0.05)")
    p.add_argument("--only", help="parts whose names contain one of these words, e.g. 'paper,arms,torch'")
    p.add_argument("--no-torch", dest="torch", action="store_false", help="pewter alone")
    p.add_argument("--python", default=shutil.which("python3") or sys.executable, help="that has torch (%(default)s)")
    p.add_argument("--torch-device", default="cuda", help=argparse.SUPPRESS)
    p.add_argument("--backend", default="cuda", help="cuda:N is device N (%(default)s)")
    p.add_argument("--out", help="file for the tables, for docs/gpu.md (gpu.md in the folder of the programs)")
    p.add_argument("--build", default=os.path.join(HERE, "..", "build", "release"), help="folder of the programs")
    args = p.parse_args()
    args.out = args.out or os.path.join(args.build, "gpu.md")
    args.seconds = args.seconds or (0.05 if args.quick else 1.5)
    return args


if __name__ == "__main__":
    sys.exit(0 if Bench(arguments()).run() else 1)
