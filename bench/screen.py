#!/usr/bin/env python3
"""What the screen costs, measured through a pseudo-terminal as a terminal sees it.

`./dev bench --screen` builds what is needed and calls this. The workbench trains the demo's race at full speed; a
frame is the output between the marks of DECSET 2026, so its end is known to the byte. Goals are printed beside the figures
(docs/performance.md); they assume an idle machine, and the load of the machine is printed at the end.
"""
import argparse
import fcntl
import os
import pty
import re
import select
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time

END = b"\x1b[?2026l"  # end of a frame
RACE = "task sort; model tiny; seed 0; race none,t5,alibi,rotary,sinusoidal; prompt sort 9 2 6 5 3"


class Workbench:
    """The program on a pseudo-terminal of its own."""

    def __init__(self, program, cols, rows, home):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            env = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8", "HOME": home,
                   "PATH": os.environ["PATH"]}
            os.execve(program, [program], env)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))
        self.bytes = 0
        self.frames = 0
        self.tail = b""
        self.settle()

    def read(self, timeout):
        """Reads once. Returns the number of frames that ended, or None if there was no output."""
        ready, _, _ = select.select([self.fd], [], [], max(0.0, timeout))
        if not ready:
            return None
        data = os.read(self.fd, 1 << 16)
        self.bytes += len(data)
        ends = (self.tail + data).count(END) - self.tail.count(END)
        self.tail = data[-(len(END) - 1):]
        self.frames += ends
        return ends

    def drain(self, seconds):
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self.read(left)

    def settle(self, quiet=0.3):
        """Waits until there has been no output for `quiet` seconds."""
        while self.read(quiet) is not None:
            pass

    def key(self, key):
        """Seconds from a key to the end of the next frame."""
        start = time.monotonic()
        os.write(self.fd, key)
        while not (ends := self.read(5.0)):
            if ends is None:
                sys.exit("bench/screen.py: a key brought no frame within 5 s")
        return time.monotonic() - start

    def line(self, text):
        os.write(self.fd, b":" + text.encode() + b"\r")
        self.drain(0.3)

    def shot(self, folder, first=""):
        """Runs the commands `first`, such as "train 20; ", and takes a screenshot when they have ended. Returns its
        first line, and the time at which the commands were sent."""
        path = os.path.join(folder, "now.txt")
        if os.path.exists(path):
            os.unlink(path)
        os.write(self.fd, b":" + f"{first}screenshot {path}".encode())
        self.drain(0.1)
        at = time.monotonic()
        os.write(self.fd, b"\r")
        while not os.path.exists(path):
            self.read(0.01)
        with open(path) as f:
            return f.readline(), at

    def step(self, folder):
        """Returns the current arm's step, read from a screenshot, and the time of the screenshot."""
        line, at = self.shot(folder)
        return int(re.search(r"(?:TRAIN|PAUSED|idle) (\d+)", line).group(1)), at

    def tasks(self):
        return sorted(int(t) for t in os.listdir(f"/proc/{self.pid}/task"))

    def switches(self, task):
        with open(f"/proc/{self.pid}/task/{task}/status") as f:
            return int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", f.read(), re.M).group(1))

    def cpu(self):
        """Processor seconds of the thread that draws the screen."""
        with open(f"/proc/{self.pid}/task/{self.pid}/schedstat") as f:
            return int(f.read().split()[0]) * 1e-9

    def close(self):
        os.kill(self.pid, signal.SIGTERM)
        while True:
            try:
                if not os.read(self.fd, 1 << 16):
                    break
            except OSError:
                break
        os.waitpid(self.pid, 0)
        os.close(self.fd)


def quantile(x, q):
    x = sorted(x)
    return x[min(len(x) - 1, int(q * len(x)))]


def row(what, value, goal):
    print(f"| {what} | {value} | {goal} |", flush=True)


def latency(program, keys, home):
    """Measures keys that move cursors in several panes, at any point of a training step."""
    w = Workbench(program, 200, 60, home)
    w.line(RACE)
    w.line("train 1000000000")
    w.line("set fps 1")  # otherwise a periodic frame could be taken for the answer to the key
    w.drain(2.0)
    for pane, name, moves in ((b"2", "lengths", b"jk"), (b"3", "attention", b"hjkl"), (b"1", "curves", b"sy")):
        w.key(pane)
        times = []
        before, frames = w.cpu(), w.frames
        for i in range(keys):
            w.drain(0.005 + 0.037 * (i % 7) / 7)
            times.append(w.key(moves[i % len(moves):i % len(moves) + 1]))
        cost = (w.cpu() - before) / max(1, w.frames - frames)
        row(f"key to frame, 200x60, {name}: median, 95th percentile",
            f"{1e3 * quantile(times, 0.5):.1f} ms, {1e3 * quantile(times, 0.95):.1f} ms", "16 ms")
        row(f"processor time a frame, {name}", f"{1e3 * cost:.2f} ms", "5 ms")
    w.close()


def traffic(program, seconds, home):
    w = Workbench(program, 80, 24, home)
    w.line(RACE)
    w.line("train 1000000000")
    w.line("set fps 10")
    for pane, name in ((b"1", "curves"), (b"2", "lengths"), (b"3", "attention")):
        w.key(pane)
        w.drain(0.5)
        before, frames = w.bytes, w.frames
        w.drain(seconds)
        row(f"training, 80x24, 10 frames a second, {name}",
            f"{(w.bytes - before) / seconds / 1e3:.1f} kB/s, {(w.frames - frames) / seconds:.1f} frames/s", "100 kB/s")
    w.close()


def idle(program, seconds, home):
    w = Workbench(program, 200, 60, home)
    w.line(RACE)
    # Silence alone does not show that the lab is idle: on a busy machine the live evaluation of one arm can take
    # longer than any pause. A requested evaluation replaces the live one, and its end is known.
    w.shot(home, "train 20; eval samples=8; ")
    w.settle(1.0)
    before, counts = w.bytes, {t: w.switches(t) for t in w.tasks()}
    w.drain(seconds)
    used = {t: w.switches(t) - n for t, n in counts.items()}
    row(f"idle for {seconds:g} s: sent", f"{w.bytes - before} bytes", "0 bytes")
    row("idle: wake-ups a second, screen's thread; all threads",
        f"{used[w.pid] / seconds:.2f}; {sum(used.values()) / seconds:.2f}", "1")
    w.close()


def headless_rate(program, steps, home):
    """Steps a second of the same race without a screen."""
    script = f"{RACE}; train 20; say begin; train {steps}; say end"
    p = subprocess.Popen([program, "-c", script], stdout=subprocess.PIPE, env=dict(os.environ, HOME=home))
    at = {}
    for line in p.stdout:
        at[line.strip()] = time.monotonic()
    if p.wait() != 0:
        sys.exit("bench/screen.py: the headless run failed")
    return steps / (at[b"end"] - at[b"begin"])


def slowdown(program, rounds, seconds, home):
    """Compares 30 frames a second, 1, and none, in alternating turns."""
    w = Workbench(program, 200, 60, home)
    w.line(RACE)
    w.line("train 1000000000")
    rates = {30: [], 1: [], 0: []}
    for _ in range(rounds):
        for fps in (30, 1):
            w.line("resume")
            w.line(f"set fps {fps}")
            w.drain(0.5)
            first, start = w.step(home)
            w.drain(seconds)
            last, end = w.step(home)
            rates[fps].append((last - first) / (end - start))
        w.line("pause")
        w.drain(0.5)
        rates[0].append(headless_rate(program, max(10, int(seconds * rates[1][-1])), home))
    w.close()
    mid = {fps: statistics.median(r) for fps, r in rates.items()}
    row("steps a second of each arm: 30 frames a second, 1, headless",
        f"{mid[30]:.1f}, {mid[1]:.1f}, {mid[0]:.1f}", "")
    drawing = statistics.median(a / b for a, b in zip(rates[30], rates[1]))
    watching = statistics.median(a / b for a, b in zip(rates[30], rates[0]))
    row("drawing slows training by", f"{100 * (1 - drawing):.1f} %", "3 %")
    row("a workbench with live evaluations, beside headless", f"{100 * (1 - watching):.1f} % slower", "")


def others_load(seconds):
    """The number of processors that other processes use."""
    def busy():
        with open("/proc/stat") as f:
            x = [int(n) for n in f.readline().split()[1:9]]
        return sum(x) - x[3] - x[4]
    before = busy()
    time.sleep(seconds)
    return (busy() - before) / os.sysconf("SC_CLK_TCK") / seconds


def main():
    p = argparse.ArgumentParser(prog="dev bench --screen", description=__doc__.split("\n")[0])
    p.add_argument("--program", required=True, help="the built pewter (dev bench fills it in)")
    p.add_argument("--keys", type=int, default=100, help="keys a pane (100)")
    p.add_argument("--seconds", type=float, default=5.0, help="of a measurement of rates (5)")
    p.add_argument("--rounds", type=int, default=3, help="turns of drawing, hardly drawing, headless (3)")
    p.add_argument("--only", choices=("latency", "traffic", "idle", "slowdown"), help="one of the measurements")
    o = p.parse_args()
    if o.keys < 1 or o.seconds <= 0 or o.rounds < 1:
        p.error("--keys, --seconds and --rounds are positive")
    program = os.path.realpath(o.program)
    print(f"others keep {others_load(1.0):.2f} processors busy", file=sys.stderr)
    print("| what | measured | goal |\n|---|--:|--:|", flush=True)
    with tempfile.TemporaryDirectory() as home:
        if o.only in (None, "latency"):
            latency(program, o.keys, home)
        if o.only in (None, "traffic"):
            traffic(program, o.seconds, home)
        if o.only in (None, "idle"):
            idle(program, o.seconds, home)
        if o.only in (None, "slowdown"):
            slowdown(program, o.rounds, o.seconds, home)
    print(f"others keep {others_load(1.0):.2f} processors busy", file=sys.stderr)


if __name__ == "__main__":
    main()
