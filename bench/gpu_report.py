"""The cases that gpu.py measures, and the tables of its results."""

PAPER_STEPS = 40000  # of Kazemnejad et al. 2023

# Arguments of bench_train: the model and the data. Lengths are chosen for a mean of 64 positions.
PAPER = ["preset=paper"]
CASES = {
    "paper, copy": (PAPER, ["task=copy lengths=2..60"]),
    "paper, addition": (PAPER, ["task=addition lengths=2..46"]),
    "paper, 64 tokens": (PAPER, ["positions=64"]),
    "2 x 64": (["layers=2", "width=64", "heads=4"], ["positions=64"]),
    "4 x 128": (["layers=4", "width=128", "heads=4"], ["positions=64"]),
    "4 x 256": (["layers=4", "width=256", "heads=8"], ["positions=64"]),
}
SMALL = {"2 x 64": 6000, "4 x 128": 3000, "4 x 256": 1500}  # goals in steps per second
PRODUCTS = ["4096x768x2304", "4096x768x768", "4096x768x3072", "4096x3072x768"]  # rows, in, out: of the layers of preset=paper
PEWTER, TORCH = ("fp32", "tf32", "bf16", "straight", "alone", "ungrouped"), ("eager", "compiled", "graph")


def torch_model(case):
    """The same model, as options of torch_train.py."""
    words = dict(word.split("=") for word in CASES[case][0])
    if words.pop("preset", None):
        return dict(layers=12, width=768, heads=12, batch=64, tied=1, dropout=0.1, scale=0, logit_scale=0)
    return words


def limits_line(got):
    best = ", ".join(f"{'x'.join(str(n) for n in p['shape'])} {p['fwd']:.4g}" for p in got["products"])
    memory = f"add {got['add_gbs']:.0f}" if "add_gbs" in got else f"copy {got['copy_gbs']:.0f}"
    replay = f"{got['replay_us']:.2f}" if got.get("replay_us") else "-"
    return f"TFLOP/s {best}; {memory} GB/s; launch {got['launch_us']:.2f} us, replayed {replay} us"


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|---|" + "--:|" * (len(header) - 1)]
    return lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows] + [""]


def number(value, form="{:.3f}"):
    return "" if value is None else form.format(value)


def peak(results):
    """TFLOP/s of the fastest measured product in bf16."""
    rates = [rate for key in ("bf16", "torch") for p in results.get(("limits", key), {}).get("products", [])
             for name, rate in p.items() if name != "shape"]
    return max(rates, default=None)


def render_same(results):
    runs = {key[1]: value for key, value in results.items() if key[0] == "same"}
    if "cpu" not in runs:
        return []
    loss, digest, _ = runs["cpu"]
    rows = [[name, f"{got[0]:.6f}", f"{abs(got[0] - loss):.1e}", "yes" if got[1] == digest else "no",
             "yes" if got[2] else "NO"] for name, got in runs.items()]
    return ["### The same results", "", "A few steps each; class portable must have the cpu's bits, every mode its own again.", "",
            *table(["", "loss", "from the cpu's", "the cpu's bits", "the same bits twice"], rows)]


def render_limits(results):
    found = {key[1]: value for key, value in results.items() if key[0] == "limits"}
    if not found:
        return []
    shapes = [p["shape"] for p in next(iter(found.values()))["products"]]
    rows = []
    for i, shape in enumerate(shapes):
        for kind in ("fwd", "dx", "dw"):
            cells = [number(got["products"][i].get(kind), "{:.4g}") for got in found.values()]
            if any(cells):
                rows.append([f"{' x '.join(str(n) for n in shape)}, {kind}", *cells])
    rows += [[f"memory, GB/s ({', '.join(sorted({'pewter adds', 'torch copies'}))})",
              *(number(got.get("add_gbs") or got.get("copy_gbs"), "{:.0f}") for got in found.values())],
             ["one launch of many, us", *(number(got["launch_us"], "{:.2f}") for got in found.values())],
             ["one of many replayed, us", *(number(got.get("replay_us"), "{:.2f}") for got in found.values())],
             ["asked for and waited for, us", *(number(got.get("round_us"), "{:.2f}") for got in found.values())]]
    names = ["torch, bf16" if key == "torch" else f"pewter, {key}" for key in found]
    return ["### The device at best", "", "Products (rows x in x out) in TFLOP/s.", "", *table(["", *names], rows)]


def render_steps(results):
    cases = [case for case in CASES if any(key[:2] == ("step", case) for key in results)]
    if not cases:
        return []
    get = lambda case, how: results.get(("step", case, how))
    names = {"straight": "bf16, one branch", "alone": "bf16, one at a time", "ungrouped": "bf16, a graph a step"}
    header = ["ms a step", *(f"pewter {names.get(how, how)}" for how in PEWTER), *(f"torch {how}" for how in TORCH)]
    lines = ["### Training", "", *table(header, [[case, *(number(get(case, how)) for how in (*PEWTER, *TORCH))]
                                                 for case in cases])]
    rows, top = [], peak(results)
    for case in cases:
        ms, about = get(case, "bf16"), results.get(("about", case))
        if ms is None or about is None:
            continue
        rate, others = about["flops"] / ms * 1e-9, [get(case, how) for how in TORCH]
        rows.append([case, f"{about['rows']:.0f}", f"{1e-12 * about['flops']:.4g}", number(1e3 / ms, "{:.0f}"),
                     number(SMALL.get(case), "{}"), f"{rate:.1f}", number(top and 100 * rate / top, "{:.1f} %"),
                     *(number(other and other / ms, "{:.2f}") for other in others),
                     number(ms * PAPER_STEPS / 6e4, "{:.1f}") if case.startswith("paper") else ""])
    return lines + ["In bf16:", "", *table(
        ["", "rows", "TFLOP a step", "steps/s", "goal", "TFLOP/s", "of the best product", "x torch eager", "x compiled",
         "x graph", "min. for 40,000 steps"], rows)]


def render_others(results):
    lines = []
    if ("arms", "one") in results and ("arms", "five") in results:
        one, five = results["arms", "one"], results["arms", "five"]
        lines += ["### Five arms at once", "", f"Through the program, 2 x 64, copy, bf16: one arm {one:.0f} steps/s, five "
                  f"{five:.0f} steps/s in all: {five / one:.2f} of it (goal: 0.5).", ""]
    looks = {key[1:]: value for key, value in results.items() if key[0] == "look"}
    if looks:
        rows = [[*key, *(f"{ms:.3f}" for ms in value)] for key, value in looks.items()]
        lines += ["### Looking and swapping", "", "Milliseconds: inspect, a pass of one sequence of which everything is kept; "
                  "decode, a token; swap, to another encoding and the end of the next step (goal: 100).", "",
                  *table(["", "precision", "what", "median", "least", "most"], rows)]
    for key, rows in results.items():
        if key[0] == "kernels":
            total = sum(us for _, us, _ in rows)
            shown = [[name[:80], f"{us:.1f}", n, f"{100 * us / total:.1f} %"] for name, us, n in rows[:20]]
            lines += [f"### Where a step's time goes: {key[1]}", "", *table(["kernel", "us a step", "launches", ""], shown)]
    if ("whole",) in results:
        took, script, said = results["whole",]
        lines += ["### A whole run", "", f"{took:.1f} s = {took / 60:.2f} min for", "", "```", script, "```", "",
                  "which ends with", "", "```", *said, "```", ""]
    return lines


def render(results):
    """Markdown of all results so far."""
    lines = [results.get(("device",), "no device"), "", f"`{results.get(('command',), '')}`", ""]
    lines += render_same(results) + render_limits(results) + render_steps(results) + render_others(results)
    missing = [f"- {key[1]}: {value}" for key, value in results.items() if key[0] == "missing"]
    return "\n".join(lines + (["Not measured:", "", *missing, ""] if missing else []))
