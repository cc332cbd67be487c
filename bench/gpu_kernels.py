"""Measures the time of each kernel of a training step, by Nsight Systems or Nsight Compute, whichever is installed."""
import csv
import os
import shutil
import subprocess

STEPS = 6  # including the warm-up, after which all graphs are captured


class Missing(Exception):
    """One line that says why there is no measurement."""


def call(command, env, seconds, feed=""):
    try:
        done = subprocess.run(command, env=env, input=feed, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        raise Missing(f"{os.path.basename(command[0])}: no time left") from None
    if done.returncode != 0:
        words = [line for line in done.stdout.splitlines() if line.strip()]
        raise Missing(f"{os.path.basename(command[0])}: {words[-1] if words else done.returncode}")
    return done.stdout


def rows_of(text, first):
    """The rows of the CSV table in a tool's output whose header begins with this column."""
    lines = text.splitlines()
    head = next((i for i, line in enumerate(lines) if line.replace('"', "").startswith(first)), None)
    if head is None:
        raise Missing(f"no table of {first} in what the tool said: {lines[-1] if lines else 'nothing'}")
    return list(csv.DictReader(lines[head:]))


def by_nsys(command, env, work, seconds):
    path = os.path.join(work, "steps")
    call(["nsys", "profile", "--trace=cuda", "--cuda-graph-trace=node", "--force-overwrite=true", "-o", path, *command], env,
         seconds, f"steps {STEPS - 3}\n")
    table = call(["nsys", "stats", "--report", "cuda_gpu_kern_sum", "--format", "csv", path + ".nsys-rep"], env, seconds)
    return [(row["Name"], float(row["Total Time (ns)"]) / 1e3 / STEPS, round(int(row["Instances"]) / STEPS))
            for row in rows_of(table, "Time (%)")]


def by_ncu(command, env, _, seconds):
    """Measures with Nsight Compute. It must leave the clocks alone, which it would fix by default."""
    table = call(["ncu", "--csv", "--clock-control", "none", "--graph-profiling", "node", "--metrics",
                  "gpu__time_duration.sum", *command], env, seconds, f"steps {STEPS - 3}\n")
    spent = {}
    for row in rows_of(table, "ID"):
        if row["Metric Name"] != "gpu__time_duration.sum":
            continue
        scale = {"ns": 1e-3, "nsecond": 1e-3, "us": 1.0, "usecond": 1.0, "ms": 1e3, "msecond": 1e3}[row["Metric Unit"]]
        us, n = spent.get(row["Kernel Name"], (0.0, 0))
        spent[row["Kernel Name"]] = us + scale * float(row["Metric Value"].replace(",", "")), n + 1
    return [(name, us / STEPS, round(n / STEPS)) for name, (us, n) in spent.items()]


def measure(command, env, work, seconds):
    """Returns [(kernel, microseconds a step, launches a step)], the longest first: means over all steps, of which the
    first ones are not replayed."""
    for tool, by in (("nsys", by_nsys), ("ncu", by_ncu)):
        if shutil.which(tool):
            return sorted(by(command, env, work, seconds), key=lambda row: -row[1])
    raise Missing("neither nsys nor ncu is there")
