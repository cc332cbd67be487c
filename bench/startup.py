#!/usr/bin/env python3
"""What a start costs: time of `pewter -c ''`, resident memory of an idle workbench, size of the packages.

`./dev bench --startup` builds what is needed and calls this. The workbench runs on a pseudo-terminal of 120 x 40 cells for
some seconds without a key; its memory is that of /proc/PID/status, with and without the pages of files (shared libraries),
which other processes share. Goals are printed beside the figures (docs/performance.md). The least time is the one without
disturbance by other processes, whose load is printed at the end.
"""
import argparse
import fcntl
import os
import pty
import resource
import select
import statistics
import struct
import subprocess
import tempfile
import termios
import time

GOALS = {"start": 10.0, "idle": 20.0, "download": 3.0}  # ms, MB, MB


def children_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure_start(program, runs):
    wall, cpu = [], []
    for _ in range(runs):
        before, begin = children_seconds(), time.perf_counter()
        subprocess.run([program, "-c", ""], check=True, stdout=subprocess.DEVNULL)
        wall.append(1e3 * (time.perf_counter() - begin))
        cpu.append(1e3 * (children_seconds() - before))
    return wall, cpu


def measure_idle(program, seconds, home):
    """Returns resident megabytes: all, and those that belong to no file."""
    pid, fd = pty.fork()
    if pid == 0:
        os.execve(program, [program, "--no-session"],
                  {"TERM": "xterm-256color", "LANG": "C.UTF-8", "HOME": home, "PATH": os.environ["PATH"]})
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        if select.select([fd], [], [], left)[0]:
            os.read(fd, 1 << 16)
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        kb = {line.split(":")[0]: int(line.split()[1]) for line in f if line.endswith(" kB\n")}
    os.write(fd, b"Q")
    while True:
        try:
            if not os.read(fd, 1 << 16):
                break
        except OSError:  # the terminal was closed
            break
    os.waitpid(pid, 0)
    os.close(fd)
    return kb["VmRSS"] * 1.024e-3, kb["RssAnon"] * 1.024e-3


def main():
    parser = argparse.ArgumentParser(description="Times a start, and measures idle memory and packages.")
    parser.add_argument("--program", required=True)
    parser.add_argument("--runs", type=int, default=100, help="starts that are timed")
    parser.add_argument("--seconds", type=float, default=3, help="time that the workbench is left idle")
    parser.add_argument("--dist", default="", help="folder of the packages")
    options = parser.parse_args()

    wall, cpu = measure_start(options.program, options.runs)
    print(f"start: {min(wall):.1f} ms least, {statistics.median(wall):.1f} median; processor {min(cpu):.1f} ms least, "
          f"{statistics.median(cpu):.1f} median (goal {GOALS['start']:.0f})")
    with tempfile.TemporaryDirectory() as home:
        everything, own = measure_idle(options.program, options.seconds, home)
    print(f"idle workbench: {everything:.1f} MB resident (goal {GOALS['idle']:.0f}), {own:.1f} of them not pages of files")
    for name in sorted(os.listdir(options.dist)) if options.dist and os.path.isdir(options.dist) else []:
        if name.endswith((".deb", ".tar.xz")):
            print(f"{name}: {1e-6 * os.path.getsize(os.path.join(options.dist, name)):.2f} MB (goal {GOALS['download']:.0f} "
                  "without CUDA)")
    print(f"load of this machine: {os.getloadavg()[0]:.2f}")


if __name__ == "__main__":
    main()
